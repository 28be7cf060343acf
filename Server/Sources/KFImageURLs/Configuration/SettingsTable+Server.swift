// The settings of the server itself, and of the store that it shares with others. A part of the table of settings.

extension SettingsTable {
    static let server: [Setting] = [
        Setting("BIND", .address, \.address, help: "Where the server listens."),
        Setting(
            "WORKERS",
            .integer(0...1024),
            \.workerCount,
            help: "How many images are decoded and encoded at one time; 0 is the number of processors."
        ),
        Setting(
            ours: "ISOLATION",
            Value<ServerConfiguration.Isolation>.name(),
            \.isolation,
            help: "Whether sources are decoded in locked processes. required: without these the server does not start. "
                + "sandboxed: without these it decodes in its own process. none: it always does."
        ),
        Setting(
            "REQUESTS_QUEUE_SIZE",
            Value.integer(0...1_000_000).orNil("").withZero,
            \.maxMakings,
            help:
                "How many results are rendered, or wait for that, at one time; more get 429. 0 is ten for each worker and"
                + " each second of KF_TIMEOUT, at least 64.",
            note: { text in
                Int(text) == 0 ? "No queue is without an end here: 0 is ten for each worker and each second." : nil
            }
        ),
        Setting(
            ours: "REQUESTS_QUEUE_BYTES",
            .integer(0...(.max)),
            \.maxSourceBytesInQueue,
            help:
                "How many bytes of downloaded sources may wait for being decoded; while there are more, further results get"
                + " 429. 0 is an eighth of the memory, at least 64 MiB."
        ),
        Setting(
            ours: "UPLOADS",
            .boolean,
            \.takesUploads,
            help:
                "The response to POST /SIGNATURE/OPTIONS is the image that the options make of its body, to POST /SIGNATURE/info"
                + " what is known of it; nothing is kept. The limits of sources hold."
        ),
        Setting("TIMEOUT", .integer(1...86400), \.timeout, help: "Seconds until the response is 503."),
        Setting(
            "MAX_CLIENTS",
            .integer(0...1_000_000),
            \.maxClients,
            help:
                "How many connections there are at one time; more wait until one ends. Fewer where the program may open fewer"
                + " files, 0 as many as that allows."
        ),
        Setting(
            "READ_REQUEST_TIMEOUT",
            .integer(1...86400),
            \.readTimeout,
            help: "Seconds until the connection of a client that has not sent the whole body of its request is closed."
        ),
        Setting(
            "KEEP_ALIVE_TIMEOUT",
            .integer(0...86400),
            \.keepAliveTimeout,
            help: "Seconds until a connection without a request is closed; 0 closes each after its first response."
        ),
        Setting(
            "WRITE_RESPONSE_TIMEOUT",
            .integer(1...86400),
            \.writeTimeout,
            help: "Seconds until the connection of a client that takes nothing more of its response is closed."
        ),
        Setting(
            "GRACEFUL_STOP_TIMEOUT",
            Value.integer(1...86400).orNil(""),
            \.gracefulStopTimeout,
            help: "Seconds that responses under way have to arrive after SIGTERM. Unless set, twice KF_TIMEOUT."
        ),
        Setting(
            "LOG_LEVEL",
            .logLevel,
            \.logLevel,
            help: "Which lines are written to the log; responses from the caches are there with debug only."
        ),
        Setting(
            "DEVELOPMENT_ERRORS_MODE",
            .boolean,
            \.showsReasons,
            help: "Responses say why they are errors; not for servers that others reach."
        ),
        Setting(
            ours: "CACHE",
            Value<DeliverySettings.Caching>.name(),
            \.delivery.caching,
            help:
                "Whether sources and results are kept, in memory, on disk and in the tier; without is for comparisons."
        ),
        Setting(
            ours: "MEMORY_CACHE_BYTES",
            .integer(0...(.max)),
            \.delivery.memoryCacheBytes,
            help: "How many bytes of results are kept in memory."
        ),
        Setting(
            ours: "DISK_CACHE_BYTES",
            .integer(0...(.max)),
            \.delivery.diskCacheBytes,
            help: "How many bytes of results are kept on disk, which is looked at about once an hour; 0 is no limit."
        ),
    ]

    static let fleet: [Setting] = [
        Setting(
            ours: "TIER",
            Value.text(
                "redis://host:port, rediss:// with TLS, or s3://bucket/prefix?region=…&endpoint=…&addressing=path"
            ).orNil(""),
            \.fleet.tier,
            isSecret: true,
            help: "The store through which several servers share results; see docs/fleet.md."
        ),
        Setting(
            ours: "TIER_TIMEOUT",
            Value.integer(10...60_000).orNil(""),
            \.fleet.tierTimeout,
            help:
                "Milliseconds until the store has to begin a response; one that is silent for longer has failed. Unless set,"
                + " 250 for Redis and 1500 for S3."
        ),
        Setting(
            ours: "TIER_RATE",
            Value.integer(1_000...1_000_000_000_000).orNil(""),
            \.fleet.tierRate,
            help:
                "Bytes a second that a result has to come with from the store; one that comes more slowly counts as missing."
                + " Unless set, four million for Redis and one million for S3."
        ),
        Setting(
            ours: "LEASES",
            Value.text("redis://host:port, or rediss://").orNil(""),
            \.fleet.leases,
            isSecret: true,
            help: "Where servers agree who renders a result, if KF_TIER is s3://."
        ),
        Setting(
            ours: "PURGE_TOKEN",
            Value.text("text").orNil(""),
            \.fleet.purgeToken,
            isSecret: true,
            help: "What requests to purge have to send as `Authorization: Bearer …`; without it nothing can be purged."
        ),
    ]
}
