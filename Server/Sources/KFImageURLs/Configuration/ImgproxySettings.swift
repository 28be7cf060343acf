// The settings of imgproxy: which this server reads, which keep it from starting, which have no meaning here. The
// configuration is read with them, and the reference page lists them.

/// A setting of imgproxy that is none of this server.
package struct ImgproxySetting: Sendable {
    /// Behind `IMGPROXY_`.
    let name: String
    /// The values that mean what is done anyway; an empty one always does.
    let harmless: [String]
    /// What to do instead, for a setting without which somebody would be let in, or another image sent; nil where it
    /// has no meaning here.
    let instead: String?

    fileprivate static func refused(_ name: String, unless harmless: String..., instead: String) -> Self {
        Self(name: name, harmless: harmless, instead: instead)
    }

    /// Whether a value changes nothing: it is one of the harmless ones, however it is written.
    func isHarmless(_ value: String) -> Bool { value.isEmpty || harmless.contains { Self.areEqual($0, value) } }

    private static func areEqual(_ one: String, _ other: String) -> Bool {
        let boolean = Value<Bool>.boolean
        if let one = boolean.read(one), let other = boolean.read(other) { return one == other }
        if let one = Double(one), let other = Double(other) { return one == other }
        return one.lowercased() == other.lowercased()
    }
}

package enum ImgproxySettings {

    /// What becomes of a setting.
    package enum Outcome: Sendable {
        /// It is read, as the setting of this server with that name.
        case read(as: String)
        /// The server does not start with it, except with some values; and what to do instead.
        case refused(unless: [String], instead: String)
        /// There is nothing here that it could set.
        case meaningless
    }

    /// All settings by their names, each with what becomes of it.
    package static let all: [(name: String, outcome: Outcome)] = {
        let read = SettingsTable.all.flatMap { setting in
            setting.names.dropFirst().map { (name: $0, outcome: Outcome.read(as: setting.names[0])) }
        }
        let others = unread.values.map { setting in
            let outcome = setting.instead.map { Outcome.refused(unless: setting.harmless, instead: $0) }
            return (name: Setting.imgproxyPrefix + setting.name, outcome: outcome ?? .meaningless)
        }
        return (read + others).sorted { $0.name < $1.name }
    }()

    /// The settings that are not read, by their names in the environment.
    static let unread: [String: ImgproxySetting] = Dictionary(
        (refused + storage + meaningless).map { (Setting.imgproxyPrefix + $0.name, $0) },
        uniquingKeysWith: { one, _ in one }
    )

    /// The values that settings have in imgproxy where none of their own name is set, and another one here.
    ///
    /// They count as soon as any setting of imgproxy is in the environment. Private addresses, the queue and the size
    /// of sources are not among them: what these keep out stays out.
    static let initial = [
        "MAX_ANIMATION_FRAMES": "1", "KEEP_ALIVE_TIMEOUT": "10", "DOWNLOAD_TIMEOUT": "5", "USE_LINEAR_COLORSPACE": "0",
        "JPEG_PROGRESSIVE": "0", "WEBP_EFFORT": "4", "AVIF_SPEED": "8",
    ]

    private static let secrets =
        "Nothing is fetched from secret stores: have what starts the server put the secrets into its environment, or into"
        + " a file that IMGPROXY_ENV_LOCAL_FILE_PATH names."

    private static let refused: [ImgproxySetting] =
        [
            "ENV_AWS_SECRET_ID", "ENV_AWS_SECRET_REGION", "ENV_AWS_SECRET_VERSION_ID", "ENV_AWS_SECRET_VERSION_STAGE",
            "ENV_AWS_SSM_PARAMETERS_PATH", "ENV_AWS_SSM_PARAMETERS_REGION", "ENV_GCP_KEY", "ENV_GCP_SECRET_ID",
            "ENV_GCP_SECRET_PROJECT_ID", "ENV_GCP_SECRET_VERSION_ID",
        ].map { .refused($0, instead: secrets) } + [
            .refused(
                "NETWORK",
                unless: "tcp",
                "tcp4",
                instead: "The server listens on TCP: set KF_BIND, to [::]:8080 for IPv6, and leave this out."
            ),
            .refused(
                "STRIP_COLOR_PROFILE",
                unless: "true",
                instead: "Results are converted to sRGB, and have no other profile: leave this out."
            ),
            .refused(
                "PRESERVE_HDR",
                unless: "false",
                instead: "Results have 8 bits a component, and the usual dynamic range: leave this out."
            ),
        ]

    /// Stores of sources that cannot be read, or not in that way.
    private static let storage: [ImgproxySetting] =
        [("ABS", "abs://"), ("SWIFT", "swift://")].map { store, scheme in
            .refused(
                "USE_" + store,
                unless: "false",
                instead:
                    "Sources of \(scheme) cannot be read: have the store serve them over HTTPS, and leave this out."
            )
        }
        + [
            .refused(
                "GCS_KEY",
                instead:
                    "gs:// takes an HMAC key: set KF_GCS_ACCESS_KEY_ID and KF_GCS_SECRET_ACCESS_KEY, and leave this out."
            ),
            // Their names would be taken for buckets, which may be somebody else's.
            .refused(
                "S3_ACCESS_POINTS",
                instead:
                    "Access points have no names here: give their aliases as buckets, with KF_URL_REPLACEMENTS where URLs"
                    + " have the names, and leave this out."
            ),
            .refused("S3_ASSUME_ROLE_ARN", instead: roles),
            .refused("S3_ASSUME_ROLE_EXTERNAL_ID", instead: roles),
            .refused(
                "S3_USE_DECRYPTION_CLIENT",
                unless: "false",
                instead: "Objects that clients have encrypted cannot be read: leave this out."
            ),
        ]
        + [
            "ABS_ALLOWED_BUCKETS", "ABS_DENIED_BUCKETS", "ABS_ENDPOINT", "ABS_KEY", "ABS_NAME", "SWIFT_ALLOWED_BUCKETS",
            "SWIFT_API_KEY", "SWIFT_AUTH_URL", "SWIFT_AUTH_VERSION", "SWIFT_DENIED_BUCKETS", "SWIFT_DOMAIN",
            "SWIFT_TENANT", "SWIFT_USERNAME",
        ].map { .init(name: $0, harmless: [], instead: nil) }
        + [("SWIFT_CONNECT_TIMEOUT_SECONDS", "10"), ("SWIFT_TIMEOUT_SECONDS", "60")].map {
            .init(name: $0, harmless: [$1], instead: nil)
        }

    private static let roles =
        "Roles are taken from the machine, the container or a token, as AWS' own tools do: set AWS_ROLE_ARN and"
        + " AWS_WEB_IDENTITY_TOKEN_FILE, and leave this out."

    /// Threads, memory, libvips, what other companies watch servers with, and JPEG XL, which is not written.
    private static let meaningless: [ImgproxySetting] = [
        ("AIRBRAKE_ENVIRONMENT", "production"), ("AIRBRAKE_PROJECT_ID", ""), ("AIRBRAKE_PROJECT_KEY", ""),
        ("AUTO_JXL", "false"), ("BUGSNAG_KEY", ""), ("BUGSNAG_STAGE", "production"),
        ("CLIENT_KEEP_ALIVE_TIMEOUT", "90"), ("CLOUD_WATCH_NAMESPACE", ""), ("CLOUD_WATCH_REGION", ""),
        ("CLOUD_WATCH_SERVICE_NAME", ""), ("DATADOG_ENABLE", "false"), ("DATADOG_ENABLE_ADDITIONAL_METRICS", "false"),
        ("DATADOG_PROPAGATE_EXTERNAL", "false"), ("DISABLE_SHRINK_ON_LOAD", "false"), ("ENABLE_CLIENT_HINTS", "false"),
        ("ENFORCE_JXL", "false"), ("ENFORCE_THUMBNAIL", "false"), ("FAIL_ON_DEPRECATION", "false"),
        ("FREE_MEMORY_INTERVAL", "10"), ("HONEYBADGER_ENV", ""), ("HONEYBADGER_KEY", ""), ("JXL_EFFORT", "4"),
        ("LOG_MEM_STATS", "false"), ("NEW_RELIC_APP_NAME", "imgproxy"), ("NEW_RELIC_KEY", ""), ("NEW_RELIC_LABELS", ""),
        ("NEW_RELIC_PROPAGATE_EXTERNAL", "false"), ("OPEN_TELEMETRY_CLIENT_CERT", ""),
        ("OPEN_TELEMETRY_CLIENT_KEY", ""),
        ("OPEN_TELEMETRY_ENABLE", "false"), ("OPEN_TELEMETRY_ENABLE_LOGS", "false"),
        ("OPEN_TELEMETRY_ENABLE_METRICS", "false"), ("OPEN_TELEMETRY_LOGGER_NAME", "imgproxy"),
        ("OPEN_TELEMETRY_PROPAGATE_EXTERNAL", "false"), ("OPEN_TELEMETRY_SERVER_CERT", ""),
        ("OPEN_TELEMETRY_TRACE_ID_GENERATOR", "xray"), ("PNG_UNLIMITED", "false"), ("PPROF_BIND", ""),
        ("REPORT_DOWNLOADING_ERRORS", "true"), ("REPORT_IO_ERRORS", "false"), ("SENTRY_DSN", ""),
        ("SENTRY_ENVIRONMENT", "production"), ("SENTRY_RELEASE", "imgproxy@{imgproxy version}"),
        ("SO_REUSEPORT", "false"), ("SVG_UNLIMITED", "false"), ("SYSLOG_ADDRESS", ""), ("SYSLOG_ENABLE", "false"),
        ("SYSLOG_LEVEL", "info"), ("SYSLOG_NETWORK", ""), ("SYSLOG_TAG", "imgproxy"), ("TIFF_UNLIMITED", "false"),
        ("VIPS_CACHE_TRACE", "false"), ("VIPS_LEAK_CHECK", "false"),
    ].map { .init(name: $0, harmless: [$1], instead: nil) }

    /// What only imgproxy's Pro edition has, with the values that its documentation has everybody set.
    static let pro: [String: ImgproxySetting] = Dictionary(
        [
            ("ALLOW_BYPASS_CACHE", "false"), ("AUTOQUALITY_FORMAT_MAX", "avif=65"),
            ("AUTOQUALITY_FORMAT_MIN", "avif=60"), ("AUTOQUALITY_METHOD", "none"),
            ("BEST_FORMAT_COMPLEXITY_THRESHOLD", "5.5"), ("BUFFER_POOL_CALIBRATION_THRESHOLD", "1024"),
            ("CACHE_REPORT_ERRORS", "false"), ("CACHE_S3_ENDPOINT_USE_PATH_STYLE", "true"),
            ("CACHE_S3_USE_DECRYPTION_CLIENT", "false"), ("COLOR_PROFILES_DIR", "/usr/share/color/icc"),
            ("CUSTOM_HEADERS_SEPARATOR", "\\;"), ("DOWNLOAD_BUFFER_SIZE", "0"), ("ENABLE_RAW_FORMATS", "false"),
            ("ENABLE_VIDEO_THUMBNAILS", "false"), ("HEALTH_CHECK_MESSAGE", "imgproxy is running"),
            ("INFO_ONLY_PRESETS", "IMGPROXY_ONLY_PRESETS"), ("JPEG_NO_SUBSAMPLE", "false"),
            ("JPEG_OPTIMIZE_SCANS", "false"), ("JPEG_OVERSHOOT_DERINGING", "false"), ("JPEG_TRELLIS_QUANT", "false"),
            ("LICENSE_DEVELOPMENT_MODE", "false"), ("MAX_CHAINED_PIPELINES", "0"), ("ML_CPU_PINNING", "false"),
            ("OBJECT_DETECTION_FALLBACK_TO_SMART_CROP", "true"), ("OBJECT_DETECTION_NET_TYPE", "yolox"),
            ("OBJECT_DETECTION_SWAP_RB", "false"), ("PDF_NO_BACKGROUND", "false"), ("RETURN_ATTACHMENT", "false"),
            ("SERVER_NAME", "imgproxy"), ("STRIP_METADATA_DPI", "72.0"), ("UNSHARP_MASKING_DIVIDER", "24"),
            ("UNSHARP_MASKING_WEIGHT", "1"), ("VIDEO_THUMBNAIL_KEYFRAMES", "false"),
            ("VIDEO_THUMBNAIL_MAX_ANALYZE_DURATION", "0"), ("VIDEO_THUMBNAIL_SECOND", "1"),
            ("VIDEO_THUMBNAIL_TILE_AUTO_KEYFRAMES", "false"), ("WEBP_COMPRESSION", "lossy"),
            ("WEBP_SMART_SUBSAMPLE", "false"),
        ].map { (Setting.imgproxyPrefix + $0, .init(name: $0, harmless: [$1], instead: nil)) },
        uniquingKeysWith: { one, _ in one }
    )
}
