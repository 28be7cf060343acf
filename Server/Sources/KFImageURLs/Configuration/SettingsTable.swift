// All settings of a server. The configuration is read with it, the reference page lists them.

/// The one table of settings.
package enum SettingsTable {
    /// In the order of the reference page.
    package static let all =
        server + watching + urls + sources + stores + copies + requests + results + encoders + watermark + delivery
        + fleet

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
            "PRESETS_SEPARATOR",
            .separator,
            \.urls.presetsSeparator,
            help: "What stands between the presets of KF_PRESETS."
        ),
        Setting(
            "PRESETS",
            words: "name=option/option; several with commas",
            help: "Options by name; those of default are applied to every URL.",
            show: { Presets.text(of: $0.urls.presets, separator: $0.urls.presetsSeparator) },
            set: { configuration, text in
                let pieces = text.split(separator: configuration.urls.presetsSeparator).map(String.init)
                guard let presets = Presets.read(pieces) else { return false }
                configuration.urls.presets.merge(presets) { $1 }
                return true
            }
        ),
        Setting(
            "PRESETS_PATH",
            Value.text("file").orNil(""),
            \.urls.presetsPath,
            help: "A file of further presets, name=option/option in each line; lines that begin with # do not count."
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
        Setting(
            "ALLOWED_PROCESSING_OPTIONS",
            Value.text("name of an option, as URLs write it").list(),
            \.urls.allowedOptions,
            help: "The only options that URLs may have, a URL with another one gets 404; presets may have all."
        ),
        Setting(
            "ARGUMENTS_SEPARATOR",
            .separator,
            \.urls.argumentsSeparator,
            help: "What stands between an option of a URL and its arguments."
        ),
        Setting(
            "BASE64_URL_INCLUDES_FILENAME",
            .boolean,
            \.urls.base64IncludesFilename,
            help: "The last part of a source in base64 is a name that does not count."
        ),
        Setting(
            "URL_REPLACEMENTS",
            .replacements,
            \.urls.replacements,
            help:
                "What sources begin with, where * is any text without a slash, and what stands there instead; $1 is the text"
                + " of the first star."
        ),
        Setting(
            "AUTO_ROTATE",
            .boolean,
            \.urls.initialPlan.turning.followsOrientation,
            help: "Whether images are turned as their metadata says, unless the URL says so (ar)."
        ),
        Setting(
            "STRIP_METADATA",
            .boolean,
            \.urls.initialPlan.metadata.isStripped,
            help: "Whether the source's EXIF is left out, unless the URL says so (sm)."
        ),
        Setting(
            "KEEP_COPYRIGHT",
            .boolean,
            \.urls.initialPlan.metadata.keepsCopyright,
            help:
                "Whether EXIF's copyright and artist are kept when the rest is left out, unless the URL says so (kcr)."
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
            "SOURCE_URL_QUERY_SEPARATOR",
            .text("text"),
            \.sources.querySeparator,
            mayBeEmpty: true,
            help:
                "What ends the name in sources of local, s3 and gs: behind it stands the version of an object. Set and empty,"
                + " nothing ends it."
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
        Setting(
            "MAX_ANIMATION_FRAME_RESOLUTION",
            .number(from: 0),
            \.sources.maxFrameMegapixels,
            help: "The most megapixels of each frame of an animation, beside KF_MAX_SRC_RESOLUTION; 0 is no limit."
        ),
    ]

    static let results: [Setting] = [
        Setting("QUALITY", .integer(1...100), \.output.quality, help: "The quality of results."),
        Setting(
            "FORMAT_QUALITY",
            .formatQualities,
            \.output.changedFormatQuality,
            help: "The quality of results of some formats; others keep theirs."
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
    ]
}
