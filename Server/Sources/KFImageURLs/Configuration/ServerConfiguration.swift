// How a server is set up, as a value, with its stores of sources. The settings are read into it; the parser, the
// handlers and the program read it.

package import struct Foundation.Date

/// All that an operator decides.
package struct ServerConfiguration: Hashable, Sendable {
    package var address = Address(host: "", port: 8080)
    /// How many images are made at one time; 0 is the number of processors.
    package var workerCount = 0
    package var isolation = Isolation.required
    /// How many results are made or wait for being made at one time; more are refused.
    ///
    /// Nil follows from the workers.
    package var maxMakings: Int?
    /// Bytes of sources that wait for being decoded; with more, results are refused, too.
    ///
    /// 0 is an eighth of the memory.
    package var maxSourceBytesInQueue = 0
    /// Seconds for a whole request.
    package var timeout = 10
    /// Seconds until a connection without a request is closed; 0 closes each after its first response.
    package var keepAliveTimeout = 60
    /// Seconds until a client has to have taken more of an answer.
    package var writeTimeout = 10
    /// Seconds until a client has to have sent all of its request.
    package var readTimeout = 10
    /// How many connections there are at one time; 0 is as many as the system allows.
    package var maxClients = 2048
    /// Seconds that responses under way have to arrive when the server is told to end; nil follows from ``timeout``.
    package var gracefulStopTimeout: Int?
    /// Whether answers say why they are errors.
    package var showsReasons = false
    package var logLevel = LogLevel.info
    package var logFormat = LogFormat.json
    /// What whoever asks for images has to know; nil asks for nothing.
    package var secret: String?
    /// Whether images may come as the bodies of requests.
    package var takesUploads = false
    /// A path that is answered like `/health`; empty for none.
    package var healthPath = ""
    /// Where metrics are answered; nil is where images are.
    package var metricsAddress: Address?
    /// What the names of metrics begin with.
    package var metricsNamespace = "kf"
    /// A file of variables that come before the environment's.
    package var environmentFile: String?
    package var urls = URLSettings()
    package var sources = SourceSettings()
    package var output = OutputSettings()
    package var delivery = DeliverySettings()
    package var fleet = FleetSettings()
    package var watermark = WatermarkSettings()

    package init() {}

    /// How many results may be made or wait for it: as a rule ten for each second that a worker has for a request.
    package func mostMakings(workers: Int) -> Int { maxMakings ?? max(64, min(workers * timeout * 10, 100_000)) }

    /// How long a source may take: less than a request, so that it is known to be the reason, and a fallback can be
    /// sent.
    package var secondsForSource: Double { min(Double(timeout) * 0.8, Double(sources.downloadTimeout ?? .max)) }

    /// How long the server takes to end, at most.
    package var secondsToEnd: Int { gracefulStopTimeout ?? timeout * 2 }

    /// Whether only those who know a key, or only programs of this machine, can have images made.
    package var isProtected: Bool { asksForKey || address.isLoopback }

    /// Whether only those who know a key, or the secret, can have images made.
    package var asksForKey: Bool { !urls.signatures.pairs.isEmpty || secret != nil }

    /// Where sources are decoded.
    package enum Isolation: String, CaseIterable, Hashable, Sendable {
        /// In locked processes, or not at all.
        case required
        /// In locked processes where that is possible.
        case sandboxed
        /// In the process that serves.
        case none
    }

    /// Where the server listens.
    package struct Address: Hashable, Sendable {
        /// Empty is every address of the machine.
        package var host: String
        package var port: Int

        package init(host: String, port: Int) {
            (self.host, self.port) = (host, port)
        }

        /// Whether only this machine can connect.
        package var isLoopback: Bool {
            let bytes = parts(of: host, by: ".").map { UInt8($0) }
            return host == "localhost" || host == "::1" || (bytes.count == 4 && bytes[0] == 127 && !bytes.contains(nil))
        }
    }
}

/// What several servers share.
package struct FleetSettings: Hashable, Sendable {
    /// The URL of the store that results are shared through; nil shares none.
    package var tier: String?
    /// The URL of the store by which servers agree who makes a result, if that is another one.
    package var leases: String?
    /// Milliseconds until the store has to begin a response; nil is that of its kind.
    package var tierTimeout: Int?
    /// Bytes a second that values have to come with; nil is that of the kind of store.
    package var tierRate: Int?
    /// What whoever purges has to know; nil allows no purging.
    package var purgeToken: String?

    package init() {}
}

/// Where sources may come from, and how large they may be.
package struct SourceSettings: Hashable, Sendable {
    /// The folder that `local:///` begins at; nil allows no files.
    package var localRoot: String?
    /// What ends the name of a file or an object, where its query begins; empty, there are no queries.
    package var querySeparator = "?"
    package var allowsLoopbackAddresses = false
    package var allowsPrivateAddresses = false
    package var allowsLinkLocalAddresses = false
    package var maxRedirects = 10
    /// Seconds to connect to the server of a source.
    package var connectTimeout = 3
    /// Connections to each origin at one time.
    package var maxConnections = 16
    package var maxMegapixels = 50.0
    /// 0 is no limit.
    package var maxBytes = 20 << 20
    /// Frames of an animation; the others are left out.
    package var maxFrames = 100
    /// Of each frame of an animation; 0 is no limit.
    package var maxFrameMegapixels = 0.0
    /// Seconds for a source to arrive; nil follows from the time for a request.
    package var downloadTimeout: Int?
    /// The `User-Agent` of requests; nil is the library's.
    package var userAgent: String?
    /// Whether certificates are not verified.
    package var trustsEverybody = false
    /// Whether cookies are handed on to the host that they belong to.
    package var handsCookiesOn = false
    /// Whether they are handed on to every host.
    package var handsCookiesToAll = false
    /// The URL on whose host, and in whose folder, cookies are; nil is all of the host that the request was sent to.
    package var cookieBase: String?
    /// For how many seconds the server uses its copy of what was made of a source whose server does not say it.
    package var freshness = 600
    /// Whether a client's `Cache-Control: no-cache` has the source's server asked.
    package var allowsReload = false
    package var damaged = Damaged.part
    /// Whether scripts are taken out of drawings that are sent as they are.
    package var cleansDrawings = true
    /// Whether drawings become pixels where the URL names no format.
    package var rasterizesDrawings = false
    /// The store of `s3://`.
    package var s3 = StoreSettings()
    /// The store of `gs://`.
    package var googleCloud = StoreSettings.googleCloud

    package init() {}

    /// What becomes of a source of which a part is missing.
    package enum Damaged: String, CaseIterable, Hashable, Sendable {
        /// A result of the part that is there is sent, and kept nowhere.
        case part
        case error
    }
}

/// What answers say to caches and browsers.
package struct DeliverySettings: Hashable, Sendable {
    /// Seconds that caches may keep results.
    package var maxAge = 31_536_000
    /// Whether the source's `Cache-Control` is handed on.
    package var passesCacheControl = false
    package var sendsETag = true
    /// A part of each `ETag`.
    package var entityTagPrefix = ""
    package var sendsLastModified = true
    /// What an earlier `Last-Modified` becomes.
    package var earliestModification: Date?
    /// Whether answers name the URL of their source.
    package var namesSource = false
    /// Whether answers tell the sizes of source and result.
    package var describesImages = false
    /// Seconds that caches may keep an answer that there is nothing; 0 is none.
    package var notFoundMaxAge = 0
    /// The site whose scripts may read results, or `*`; nil is none.
    package var allowedOrigin: String?
    package var fallback = Fallback()
    package var caching = Caching.all
    /// What results kept in memory may take, in bytes.
    package var memoryCacheBytes = 64 << 20
    /// What results kept on disk may take, in bytes; 0 is no limit.
    package var diskCacheBytes = 10 << 30

    package init() {}

    /// Which results the server keeps.
    package enum Caching: String, CaseIterable, Hashable, Sendable {
        case all
        /// Each request is made anew, unless it waits for the same result as another one.
        case none
    }

    /// What is sent in place of an image that cannot be made.
    package struct Fallback: Hashable, Sendable {
        /// An image like those in URLs, with what they do to theirs.
        package var source: String?
        /// The file of an image, in place of a source.
        package var path: String?
        /// The bytes of an image, in place of a file.
        package var data: [UInt8] = []
        /// 0 is the error's.
        package var status = 200
        /// Seconds that caches may keep it; 0 is that of other results.
        package var maxAge = 0

        /// Whether its bytes or its file are set.
        package var isOwn: Bool { path != nil || !data.isEmpty }
    }
}

/// How the lines of the log are written.
package enum LogFormat: String, CaseIterable, Hashable, Sendable {
    case json, text
}

/// Which lines are written to the log.
package enum LogLevel: String, CaseIterable, Hashable, Sendable {
    /// Also answers from the caches.
    case debug
    case info
    /// Only what went wrong.
    case warning
    case error
}

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
