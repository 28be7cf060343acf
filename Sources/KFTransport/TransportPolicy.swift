// Under which conditions one transfer goes out: time limits, trust, where it may go, its position in the queue.

public import Foundation

/// The conditions of one transfer.
///
/// All times are in seconds and count from when the request goes out, never while it waits in a queue; `nil`, zero and
/// below mean no limit.
public struct TransportPolicy: Hashable, Sendable {
    /// How long connecting may take: name look-up, TCP and TLS together.
    public var connectTimeout: TimeInterval?

    /// How long the server may stay silent once the request was sent.
    ///
    /// The time in which its reader pauses the transfer does not count.
    public var idleTimeout: TimeInterval?

    /// How long the whole transfer may take, redirects and pauses included.
    public var totalTimeout: TimeInterval?

    /// Hosts whose certificate is accepted unchecked.
    ///
    /// Compared without case; judged anew for the host of each hop.
    public var trustedHosts: Set<String>

    /// Whether networks on which the user wants to save data may be used.
    ///
    /// A hint: libcurl does not recognise such networks.
    public var allowsConstrainedNetworkAccess: Bool

    /// Whether to accept compressed bodies, as gzip or deflate.
    ///
    /// Otherwise the request accepts the plain bytes only. Whatever it accepts, a coding of the response is undone, and
    /// a `Content-Encoding` that names none (such as `aws-chunked` or `utf-8`) is ignored; a list of both is an error.
    public var asksForCompression: Bool

    /// Whether cookies of the transport are sent, and those that servers set are kept in it.
    public var usesCookies: Bool

    /// To which addresses the transfer may connect, on each of its hops.
    public var addressPolicy: AddressPolicy

    /// How many bytes of body are accepted, after decompression; more fails with `.dataLengthExceedsMaximum`.
    ///
    /// Whatever reads the bytes has its own limit; this one keeps a small compressed body from filling the memory
    /// before they are read.
    public var maxBodyBytes: Int

    /// Where the transfer stands among waiting ones of the same priority.
    public var order: TransferOrder

    /// A policy.
    public init(
        connectTimeout: TimeInterval? = 15,
        idleTimeout: TimeInterval? = 15,
        totalTimeout: TimeInterval? = nil,
        trustedHosts: Set<String> = [],
        allowsConstrainedNetworkAccess: Bool = true,
        asksForCompression: Bool = true,
        usesCookies: Bool = false,
        addressPolicy: AddressPolicy = .everything,
        maxBodyBytes: Int = .max,
        order: TransferOrder = .oldestFirst
    ) {
        self.connectTimeout = connectTimeout
        self.idleTimeout = idleTimeout
        self.totalTimeout = totalTimeout
        self.trustedHosts = trustedHosts
        self.allowsConstrainedNetworkAccess = allowsConstrainedNetworkAccess
        self.asksForCompression = asksForCompression
        self.usesCookies = usesCookies
        self.addressPolicy = addressPolicy
        self.maxBodyBytes = maxBodyBytes
        self.order = order
    }
}
