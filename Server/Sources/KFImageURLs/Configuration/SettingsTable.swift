// All settings of a server. The configuration is read with it, the reference page lists them.

/// The one table of settings.
package enum SettingsTable {
    /// In the order of the reference page.
    package static let all = server + urls + sources + results + fleet

    static let urls: [Setting] = [
        Setting(
            "KEY",
            Value.hexBytes.list(),
            \.urls.signatures.keys,
            isSecret: true,
            help: "The keys of signatures; without keys and salts, paths need no signature."
        ),
        Setting(
            "SALT",
            Value.hexBytes.list(),
            \.urls.signatures.salts,
            isSecret: true,
            help: "The salts of signatures, one for each key."
        ),
        Setting(
            "SIGNATURE_SIZE",
            .integer(1...32),
            \.urls.signatures.byteCount,
            help: "Bytes of a signature before it is encoded."
        ),
        Setting(
            "TRUSTED_SIGNATURES",
            Value.text("text").list(),
            \.urls.signatures.trusted,
            isSecret: true,
            help: "Signatures that are accepted for every path."
        ),
        Setting("PATH_PREFIX", .pathPrefix, \.urls.prefix, help: "What all paths begin with."),
        Setting(
            "BASE_URL",
            .text("beginning of a URL"),
            \.urls.baseURL,
            help: "Put before sources that do not begin with it."
        ),
        Setting(
            "PRESETS",
            .presets,
            \.urls.presets,
            help: "Options by name; those of default are applied to every URL."
        ),
        Setting(
            "ONLY_PRESETS",
            .boolean,
            \.urls.allowsOnlyPresets,
            help: "The options of a URL are names of presets with colons between them, and nothing else."
        ),
        Setting(
            "ALLOW_SECURITY_OPTIONS",
            .boolean,
            \.urls.allowsSecurityOptions,
            help: "URLs may change the limits of the server."
        ),
    ]

    static let sources: [Setting] = [
        Setting(
            "ALLOWED_SOURCES",
            Value.source.list(),
            \.urls.allowedSources,
            help: "Beginnings of allowed sources, which should end with a slash; none allows all."
        ),
        Setting(
            "LOCAL_FILESYSTEM_ROOT",
            Value.text("folder").orNil(""),
            \.sources.localRoot,
            help: "The folder that local:/// begins at; without it, no files are read."
        ),
        Setting(
            "ALLOW_LOOPBACK_SOURCE_ADDRESSES",
            .boolean,
            \.sources.allowsLoopbackAddresses,
            help: "Sources may be on this machine."
        ),
        Setting(
            "ALLOW_PRIVATE_SOURCE_ADDRESSES",
            .boolean,
            \.sources.allowsPrivateAddresses,
            help: "Sources may have private addresses."
        ),
        Setting(
            "ALLOW_LINK_LOCAL_SOURCE_ADDRESSES",
            .boolean,
            \.sources.allowsLinkLocalAddresses,
            help: "Sources may have link-local addresses."
        ),
        Setting(
            "MAX_REDIRECTS",
            .integer(0...100),
            \.sources.maxRedirects,
            help: "How many redirects of a source are followed."
        ),
        Setting(
            ours: "CONNECT_TIMEOUT",
            .integer(1...86400),
            \.sources.connectTimeout,
            help: "Seconds to connect to the server of a source."
        ),
        Setting(
            ours: "SOURCE_CONNECTIONS",
            .integer(1...10_000),
            \.sources.maxConnections,
            help: "Connections to each server of sources; a source waits for one within its time."
        ),
        Setting(
            "MAX_SRC_RESOLUTION",
            .positive(upTo: 1e6),
            \.sources.maxMegapixels,
            help: "The most megapixels of a source."
        ),
        Setting(
            "MAX_SRC_FILE_SIZE",
            .integer(0...(.max)),
            \.sources.maxBytes,
            help: "The most bytes of a source; 0 is no limit."
        ),
        Setting(
            "MAX_ANIMATION_FRAMES",
            .integer(1...100_000),
            \.sources.maxFrames,
            help: "The most frames of an animation; the others are left out."
        ),
    ]

    static let results: [Setting] = [
        Setting("QUALITY", .integer(1...100), \.output.quality, help: "The quality of results."),
        Setting(
            "FORMAT_QUALITY",
            .formatQualities,
            \.output.formatQuality,
            help: "The quality of results of some formats."
        ),
        Setting(
            "PREFERRED_FORMATS",
            Value.format.list(),
            \.output.preferredFormats,
            help: "The formats of results where neither the URL nor the client decides."
        ),
        Setting(
            "AUTO_WEBP",
            .boolean,
            \.output.webP.isAutomatic,
            aliases: ["ENABLE_WEBP_DETECTION"],
            help: "Results are WebP for clients that accept it, where the URL names no format."
        ),
        Setting(
            "ENFORCE_WEBP",
            .boolean,
            \.output.webP.isEnforced,
            help: "The same, whatever the URL names."
        ),
        Setting(
            "AUTO_AVIF",
            .boolean,
            \.output.avif.isAutomatic,
            aliases: ["ENABLE_AVIF_DETECTION"],
            help: "Results are AVIF for clients that accept it, where the URL names no format."
        ),
        Setting(
            "ENFORCE_AVIF",
            .boolean,
            \.output.avif.isEnforced,
            help: "The same, whatever the URL names."
        ),
        Setting(
            "MAX_RESULT_DIMENSION",
            .integer(0...(.max)),
            \.output.maxDimension,
            help: "The longest side of a result in pixels, larger ones are made smaller; 0 is no limit."
        ),
        Setting("TTL", .integer(0...(.max)), \.delivery.maxAge, help: "Seconds that caches may keep results."),
        Setting(
            "CACHE_CONTROL_PASSTHROUGH",
            .boolean,
            \.delivery.passesCacheControl,
            help: "Hands the Cache-Control of the source on."
        ),
        Setting("USE_ETAG", .boolean, \.delivery.sendsETag, help: "Answers have an ETag."),
        Setting(
            "ALLOW_ORIGIN",
            Value.text("origin, or *").orNil(""),
            \.delivery.allowedOrigin,
            help: "The site whose scripts may read results."
        ),
        Setting(
            "FALLBACK_IMAGE_URL",
            Value.text("source").orNil(""),
            \.delivery.fallback.source,
            help: "Sent in place of images that cannot be loaded or made, with the options of their URL."
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
