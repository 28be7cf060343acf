// The settings of answers: caches, validators, what is sent in place of an image. A part of the table of settings.

extension SettingsTable {
    static let delivery: [Setting] = [
        Setting("TTL", .integer(0...(.max)), \.delivery.maxAge, help: "Seconds that caches may keep results."),
        Setting(
            "CACHE_CONTROL_PASSTHROUGH",
            .boolean,
            \.delivery.passesCacheControl,
            help: "Hands the Cache-Control of the source on."
        ),
        Setting(
            ours: "NOT_FOUND_TTL",
            .integer(0...(.max)),
            \.delivery.notFoundMaxAge,
            help: "Seconds that caches may keep a response of 404 or 410; 0 is none, as for other errors."
        ),
        Setting("USE_ETAG", .boolean, \.delivery.sendsETag, help: "Responses have an ETag."),
        Setting(
            "ETAG_BUSTER",
            .fieldText,
            \.delivery.entityTagPrefix,
            help: "A part of each ETag; with another one, clients download again what they have."
        ),
        Setting(
            "USE_LAST_MODIFIED",
            .boolean,
            \.delivery.sendsLastModified,
            help: "Responses have the Last-Modified of their source."
        ),
        Setting(
            "LAST_MODIFIED_BUSTER",
            Value.date.orNil(""),
            \.delivery.earliestModification,
            help: "The earliest Last-Modified; clients download again what they have from before."
        ),
        Setting(
            "SET_CANONICAL_HEADER",
            .boolean,
            \.delivery.namesSource,
            help: "Responses name the URL of their source, if it is one of http, as Link with rel=canonical."
        ),
        Setting(
            "ENABLE_DEBUG_HEADERS",
            .boolean,
            \.delivery.describesImages,
            help:
                "Responses have X-Result-Width and -Height, and if they were rendered for the request X-Origin-Width, -Height"
                + " and -Content-Length."
        ),
        Setting(
            "ALLOW_ORIGIN",
            Value.text("origin, or *").orNil(""),
            \.delivery.allowedOrigin,
            help: "The site whose scripts may read results."
        ),
        Setting(
            "FALLBACK_IMAGE_DATA",
            .base64,
            \.delivery.fallback.data,
            help:
                "An image that is sent in place of others that cannot be loaded or rendered, with the options of their URL."
        ),
        Setting(
            "FALLBACK_IMAGE_PATH",
            Value.text("file").orNil(""),
            \.delivery.fallback.path,
            help: "The file of such an image, read once; KF_FALLBACK_IMAGE_DATA comes before it."
        ),
        Setting(
            "FALLBACK_IMAGE_URL",
            Value.text("source").orNil(""),
            \.delivery.fallback.source,
            help: "The source of such an image, where neither its bytes nor its file are set."
        ),
        Setting(
            "FALLBACK_IMAGE_HTTP_CODE",
            .integer(0...599),
            \.delivery.fallback.status,
            help: "The status code it is sent with; 0 is the error's."
        ),
        Setting(
            "FALLBACK_IMAGE_TTL",
            .integer(0...(.max)),
            \.delivery.fallback.maxAge,
            help: "Seconds that caches may keep it; 0 is KF_TTL."
        ),
    ]
}
