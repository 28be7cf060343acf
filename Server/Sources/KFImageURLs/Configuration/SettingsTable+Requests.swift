// The settings of requests for sources, and of what the server says about itself. A part of the table of settings.

extension SettingsTable {
    /// How servers of sources are asked.
    static let requests: [Setting] = [
        Setting(
            "DOWNLOAD_TIMEOUT",
            Value.integer(1...86400).orNil(""),
            \.sources.downloadTimeout,
            help: "Seconds for a source to arrive, and no more than 0.8 × KF_TIMEOUT, which it is unless set."
        ),
        Setting(
            "USER_AGENT",
            Value.fieldText.orNil(""),
            \.sources.userAgent,
            help: "The User-Agent of requests for sources; %current_version stands for the version of this server."
        ),
        Setting(
            "IGNORE_SSL_VERIFICATION",
            .boolean,
            \.sources.trustsEverybody,
            help: "Certificates of sources' servers are not verified: anybody between may send other images."
        ),
        Setting(
            "COOKIE_PASSTHROUGH",
            .boolean,
            \.sources.handsCookiesOn,
            help:
                "Cookies of requests are handed on to sources on the host that they belong to. What is rendered with them is"
                + " kept nowhere, and is private to the client."
        ),
        Setting(
            "COOKIE_PASSTHROUGH_ALL",
            .boolean,
            \.sources.handsCookiesToAll,
            help: "With KF_COOKIE_PASSTHROUGH: cookies are handed on to all sources of http, wherever they are."
        ),
        Setting(
            "COOKIE_BASE_URL",
            Value.text("URL").orNil(""),
            \.sources.cookieBase,
            help:
                "The page that cookies belong to: they are handed on to sources on its host and below its folder. Unless"
                + " set, to all on the host that the request was sent to."
        ),
    ]

    /// How a server is watched.
    static let watching: [Setting] = [
        Setting(
            "SECRET",
            Value.text("text").orNil(""),
            \.secret,
            isSecret: true,
            help: "What requests for images have to send as `Authorization: Bearer …`; others get 403."
        ),
        Setting(
            "LOG_FORMAT",
            .logFormat,
            \.logFormat,
            help:
                "Whether the log is lines of JSON or of text; pretty, structured and gcp of imgproxy are read as one of them."
        ),
        Setting(
            "HEALTH_CHECK_PATH",
            .pathPrefix,
            \.healthPath,
            help: "Another path of /health."
        ),
        Setting(
            "PROMETHEUS_BIND",
            Value.address.orNil(""),
            \.metricsAddress,
            help: "Where /metrics is, and nowhere else; unless set, it is where images are."
        ),
        Setting(
            "PROMETHEUS_NAMESPACE",
            .metricsName,
            \.metricsNamespace,
            help: "What the names of metrics begin with."
        ),
        Setting(
            "ENV_LOCAL_FILE_PATH",
            Value.text("file").orNil(""),
            \.environmentFile,
            help:
                "A file of variables, NAME=value in each line, which come before those of the environment. In a value $NAME"
                + " and ${NAME} are other variables, but for single quotes."
        ),
    ]
}
