// How long the phases of a download took, in seconds. Measures nothing itself.

public import Foundation
import KFSupport
public import KFTransport

/// How long the phases of a successful download took.
public struct NetworkMetrics: Sendable {
    /// Everything the transport measured, redirects included.
    public let rawMetrics: TransportMetrics
    /// Seconds from the start of the final request to the end of its response; redirects are not in it.
    public let retrieveImageDuration: TimeInterval?
    /// Seconds from the start of the transfer to its end; redirects are in it.
    public let totalRequestDuration: TimeInterval
    /// Seconds the name look-up took; nil when it was skipped or the transport does not measure it.
    public let domainLookupDuration: TimeInterval?
    /// Seconds connecting took; nil when it was skipped or the transport does not measure it.
    public let connectDuration: TimeInterval?
    /// Seconds the TLS handshake took; nil when it was skipped or the transport does not measure it.
    public let secureConnectionDuration: TimeInterval?
    /// Bytes of body sent.
    public let requestBodyBytesSent: Int64
    /// Bytes of body received, after decompression.
    public let responseBodyBytesReceived: Int64
    /// The status of the final response.
    public let httpStatusCode: Int?
    /// How many redirects were followed.
    public let redirectCount: Int

    /// Reads a transport's measurements; nil when no exchange was successful (2xx).
    ///
    /// - Parameter metrics: What the transport measured.
    public init?(_ metrics: TransportMetrics) {
        guard let exchange = metrics.exchanges.first(where: { (200..<300).contains($0.status ?? 0) }) else {
            return nil
        }
        rawMetrics = metrics
        retrieveImageDuration = exchange.responseEnd.map {
            (exchange.requestStart ?? exchange.start).duration(to: $0).inSeconds
        }
        totalRequestDuration = metrics.interval.lowerBound.duration(to: metrics.interval.upperBound).inSeconds
        domainLookupDuration = exchange.domainLookup?.inSeconds
        connectDuration = exchange.connect?.inSeconds
        secureConnectionDuration = exchange.secureConnection?.inSeconds
        requestBodyBytesSent = exchange.bytesSent
        responseBodyBytesReceived = exchange.bytesReceived
        httpStatusCode = exchange.status
        redirectCount = metrics.redirectCount
    }

    /// Bytes a second; nil when a part of it was not measured.
    public var downloadSpeed: Double? {
        guard responseBodyBytesReceived > 0, let retrieveImageDuration, retrieveImageDuration > 0 else { return nil }
        return Double(responseBodyBytesReceived) / retrieveImageDuration
    }

    /// Mebibytes (1,048,576 bytes) a second; nil when a part of it was not measured.
    public var downloadSpeedMBps: Double? { downloadSpeed.map { $0 / 1_048_576 } }
}
