// Stores of sources that speak the protocol of S3, and their settings. For the renderer.

/// A store of sources: that of `s3://`, or that of `gs://`.
package struct StoreSettings: Hashable, Sendable {
    package var isUsed = false
    /// The address of the store; nil is AWS.
    package var endpoint: String?
    /// Nil is that of the environment, or else us-east-1.
    package var region: String?
    /// Whether the bucket stands in the path of addresses at ``endpoint``, and not in the host.
    package var usesPathStyle = true
    /// The buckets that sources may be in; empty allows all.
    package var allowedBuckets: [String] = []
    package var deniedBuckets: [String] = []
    /// A key of the store; without one they are the credentials that AWS' own tools would use.
    package var accessKeyID: String?
    package var secretAccessKey: String?

    package init() {}

    /// Whether a bucket is denied; a host has the same name in capitals.
    package func denies(_ bucket: String) -> Bool {
        deniedBuckets.contains { $0.lowercased() == bucket.lowercased() }
    }

    /// Google Cloud Storage.
    static var googleCloud: StoreSettings {
        var settings = StoreSettings()
        (settings.endpoint, settings.region) = ("https://storage.googleapis.com", "auto")
        return settings
    }
}

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
}
