// The settings of sources: their stores, when they are asked for again, and which are sent as they are. A part of the
// table of settings.

extension SettingsTable {
    static let stores: [Setting] = [
        Setting("USE_S3", .boolean, \.sources.s3.isUsed, help: "Sources may be s3://bucket/key."),
        Setting(
            "S3_REGION",
            Value.text("region").orNil(""),
            \.sources.s3.region,
            help: "The region of the buckets. Unless set, AWS_REGION or AWS_DEFAULT_REGION, or else us-east-1."
        ),
        Setting(
            "S3_ENDPOINT",
            Value.text("URL").orNil(""),
            \.sources.s3.endpoint,
            help: "The address of the store, which may be one of your own network. Unless set, AWS."
        ),
        Setting(
            "S3_ENDPOINT_USE_PATH_STYLE",
            .boolean,
            \.sources.s3.usesPathStyle,
            help: "The bucket stands in the path of addresses at KF_S3_ENDPOINT, and not in the host."
        ),
        Setting(
            "S3_ALLOWED_BUCKETS",
            Value.text("bucket").list(),
            \.sources.s3.allowedBuckets,
            help: "The buckets that s3:// may name; none allows all."
        ),
        Setting(
            "S3_DENIED_BUCKETS",
            Value.text("bucket").list(),
            \.sources.s3.deniedBuckets,
            help: "The buckets that s3:// must not name."
        ),
        Setting(
            "USE_GCS",
            .boolean,
            \.sources.googleCloud.isUsed,
            help: "Sources may be gs://bucket/key, which are read over the protocol of S3 with an HMAC key."
        ),
        Setting(
            "GCS_ENDPOINT",
            Value.text("URL").orNil(""),
            \.sources.googleCloud.endpoint,
            help: "The address of Google Cloud Storage."
        ),
        Setting(
            ours: "GCS_ACCESS_KEY_ID",
            Value.text("access ID of an HMAC key").orNil(""),
            \.sources.googleCloud.accessKeyID,
            isSecret: true,
            help: "The HMAC key of a service account that may read the buckets (`gcloud storage hmac create`)."
        ),
        Setting(
            ours: "GCS_SECRET_ACCESS_KEY",
            Value.text("secret of the HMAC key").orNil(""),
            \.sources.googleCloud.secretAccessKey,
            isSecret: true,
            help: "Its secret."
        ),
        Setting(
            "GCS_ALLOWED_BUCKETS",
            Value.text("bucket").list(),
            \.sources.googleCloud.allowedBuckets,
            help: "The buckets that gs:// may name; none allows all."
        ),
        Setting(
            "GCS_DENIED_BUCKETS",
            Value.text("bucket").list(),
            \.sources.googleCloud.deniedBuckets,
            help: "The buckets that gs:// must not name."
        ),
    ]

    static let copies: [Setting] = [
        Setting(
            ours: "SOURCE_TTL",
            .integer(0...(.max)),
            \.sources.freshness,
            help:
                "Seconds until the server of a source is asked whether it has changed, if neither Cache-Control nor Expires"
                + " says it. KF_TTL is what clients are told."
        ),
        Setting(
            ours: "ALLOW_RELOAD",
            .boolean,
            \.sources.allowsReload,
            help:
                "Requests with Cache-Control: no-cache, as of a browser that reloads, ask the server of the source at once."
        ),
        Setting(
            ours: "DAMAGED",
            Value<SourceSettings.Damaged>.name(),
            \.sources.damaged,
            help:
                "What a truncated or damaged source gives: the decoded part, which no cache keeps, or an error."
        ),
        Setting(
            "SKIP_PROCESSING_FORMATS",
            Value.format.list(),
            \.urls.keptFormats,
            help: "Sources of these formats are sent as they are, unless the URL names another format."
        ),
        Setting(
            "SANITIZE_SVG",
            .boolean,
            \.sources.cleansDrawings,
            help:
                "Drawings are sent without scripts and without references to anything outside them; raw ones as they are."
        ),
        Setting(
            "ALWAYS_RASTERIZE_SVG",
            .boolean,
            \.sources.rasterizesDrawings,
            help: "Drawings become pixels also where the URL names no format."
        ),
    ]
}
