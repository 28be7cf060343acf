// The settings of a downloader that Kingfisher does not have: limits of connections, time, memory and addresses, and
// code that all downloads go through.

public import Foundation
import KFSupport
public import KFTransport

extension ImageDownloader {
    /// Which of the downloads of one priority goes first when they wait for a connection.
    public enum ExecutionOrder: Hashable, Sendable {
        /// Downloads for views first, the latest of them before all; then the others, the oldest first.
        case automatic
        /// The oldest first.
        case oldestFirst
        /// The latest first.
        case newestFirst
    }

    /// How long the queue of a downloader is, and how much memory its bytes take.
    public struct QueueStatus: Hashable, Sendable {
        /// Downloads that wait for a connection.
        public let waiting: Int
        /// Downloads that have one.
        public let running: Int
        /// Bytes that arrive, or of which images are still being made, those of the manager's loaders included.
        public let bytesInFlight: Int
    }

    /// How long the queue is now; 0 downloads with a transport of your own.
    public var queueStatus: QueueStatus {
        let status = curl?.queueStatus ?? CurlTransport.QueueStatus()
        return QueueStatus(waiting: status.waiting, running: status.running, bytesInFlight: loader.bytesInFlight.used)
    }

    /// The default transport, if this downloader uses it.
    private var curl: CurlTransport? { loader.transport as? CurlTransport }

    /// How many downloads run at once; 128 at first.
    ///
    /// Further ones wait, by priority, then by ``executionOrder``, and their time limits do not run. May be changed at
    /// any time. Without effect with a transport of your own; so is ``maxConnectionsPerHost``.
    public var maxConcurrentDownloads: Int {
        get { curl?.configuration.maxConcurrentTransfers ?? 0 }
        set { curl?.configure { $0.maxConcurrentTransfers = newValue } }
    }

    /// Downloads that have a connection, and those that wait for one. (SDWebImage's name.)
    public var currentDownloadCount: Int { loader.transfers.all.count }

    /// Whether no download begins; those that have begun go on, and others wait without their time limits running.
    ///
    /// False at first. Without effect with a transport of your own.
    public var isSuspended: Bool {
        get { curl?.configuration.isSuspended ?? false }
        set { curl?.configure { $0.isSuspended = newValue } }
    }

    /// How many connections one host gets over HTTP/1.1; 16 at first.
    ///
    /// Over HTTP/2 one connection takes 100 downloads.
    public var maxConnectionsPerHost: Int {
        get { curl?.configuration.connectionsPerHost ?? 0 }
        set { curl?.configure { $0.connectionsPerHost = newValue } }
    }

    /// Which of the waiting downloads of one priority goes first; ``ExecutionOrder/automatic`` at first.
    public var executionOrder: ExecutionOrder {
        get { loader.settings.withLock { $0.executionOrder } }
        set { loader.settings.withLock { $0.executionOrder = newValue } }
    }

    /// How many bytes may be in memory between the network and the pixels.
    ///
    /// An eighth of the memory the process may use at first, at least 64 MiB. While there are more, downloads wait; of
    /// those that are under way each may bring one piece more. Over HTTP/2 libcurl itself takes up to 32 MiB
    /// of a download that waits.
    public var maxBytesInFlight: Int {
        get { loader.bytesInFlight.limit }
        set { loader.bytesInFlight.limit = newValue }
    }

    /// How long connecting may take, in seconds: name look-up, TCP and TLS.
    ///
    /// nil, as at first, means ``downloadTimeout``.
    public var connectTimeout: TimeInterval? {
        get { loader.settings.withLock { $0.connectTimeout } }
        set { loader.settings.withLock { $0.connectTimeout = newValue } }
    }

    /// How long a download may take in all, redirects included and waiting in the queue not, in seconds.
    ///
    /// nil, as at first, means no limit. Nothing else stops a server that sends single bytes with pauses.
    public var totalTimeout: TimeInterval? {
        get { loader.settings.withLock { $0.totalTimeout } }
        set { loader.settings.withLock { $0.totalTimeout = newValue } }
    }

    /// How many redirects of a download are followed; 20 at first. (Not in Kingfisher.)
    ///
    /// One more is the error `URLError.httpTooManyRedirects`.
    public var maxRedirectCount: Int {
        get { loader.settings.withLock { $0.maxRedirectCount } }
        set { loader.settings.withLock { $0.maxRedirectCount = newValue } }
    }

    /// Whether an interrupted download continues where it broke off when its URL is loaded again; true at first.
    ///
    /// For that the beginning of its body stays in memory: of at most 100 downloads, and of a hundredth of the memory
    /// the process may use, 32 MiB at most. The next try asks for the rest (`Range`, `If-Range`), if the response had a
    /// strong validator and its server takes ranges; a response that is not exactly the rest starts the download anew.
    public var isResumingEnabled: Bool {
        get { loader.settings.withLock { $0.isResumingEnabled } }
        set { loader.settings.withLock { $0.isResumingEnabled = newValue } }
    }

    /// The header fields that requests have before their modifier; at first `Accept: image/*,*/*;q=0.8`.
    public var defaultHeaders: [String: String] {
        get { loader.settings.withLock { $0.defaultHeaders } }
        set { loader.settings.withLock { $0.defaultHeaders = newValue } }
    }

    /// The HTTP statuses that are accepted; nil, as at first, asks the delegate (200 to 399 by default).
    public var acceptableStatusCodes: Set<Int>? {
        get { loader.settings.withLock { $0.acceptableStatusCodes } }
        set { loader.settings.withLock { $0.acceptableStatusCodes = newValue } }
    }

    /// The media types that are accepted, such as `image/png` or `image/*`; nil, as at first, accepts all.
    ///
    /// Another one fails the download before its body is read, with
    /// ``KingfisherError/ResponseErrorReason/invalidContentType(response:)``. A response that names none is accepted.
    public var acceptableContentTypes: Set<String>? {
        get { loader.settings.withLock { $0.acceptableContentTypes } }
        set { loader.settings.withLock { $0.acceptableContentTypes = newValue } }
    }

    /// Takes over a session configuration, and ends the downloads under way.
    func use(_ session: URLSessionConfiguration) {
        let standard = URLSessionConfiguration.ephemeral
        loader.settings.withLock { settings in
            settings.session = session
            if session.timeoutIntervalForRequest != standard.timeoutIntervalForRequest {
                settings.downloadTimeout = session.timeoutIntervalForRequest
            }
            if session.timeoutIntervalForResource != standard.timeoutIntervalForResource {
                settings.totalTimeout = session.timeoutIntervalForResource
            }
        }
        if session.httpMaximumConnectionsPerHost != standard.httpMaximumConnectionsPerHost {
            maxConnectionsPerHost = session.httpMaximumConnectionsPerHost
        }
        loader.endAll()
    }

    /// To which addresses downloads may connect; `AddressPolicy.everything` at first.
    ///
    /// A server that downloads what its users name should say `AddressPolicy.publicOnly`. Checked for the address
    /// that is about to be connected, on every redirect.
    public var addressPolicy: AddressPolicy {
        get { loader.settings.withLock { $0.addressPolicy } }
        set { loader.settings.withLock { $0.addressPolicy = newValue } }
    }

    /// The header fields that a redirect to another origin does not take along; at first `Authorization`, `Cookie` and
    /// `Proxy-Authorization`.
    public var fieldsRemovedAcrossOrigins: Set<String> {
        get { loader.settings.withLock { $0.fieldsRemovedAcrossOrigins } }
        set { loader.settings.withLock { $0.fieldsRemovedAcrossOrigins = newValue } }
    }

    // MARK: Code that all downloads go through

    /// Changes the status and the header fields of responses before they are checked; nil at first. (Not in
    /// Kingfisher.)
    ///
    /// The option ``KingfisherParsedOptionsInfo/responseModifier`` goes before it. Read when each request is built.
    public var responseModifier: (any ImageDownloadResponseModifier)? {
        get { loader.settings.withLock { $0.responseModifier } }
        set { loader.settings.withLock { $0.responseModifier = newValue } }
    }

    /// Decrypts the bytes of all downloads before anything is made of them or stored; nil at first. (Not in
    /// Kingfisher.)
    ///
    /// The option ``KingfisherParsedOptionsInfo/decryptor`` goes before it. Read when each request is built.
    public var decryptor: (any ImageDataDecryptor)? {
        get { loader.settings.withLock { $0.decryptor } }
        set { loader.settings.withLock { $0.decryptor = newValue } }
    }
}
