// One request of a transfer and what has come back: recorded by libcurl's callbacks, read by CurlTransfer.

internal import CKFCurl
internal import Foundation
internal import FoundationNetworking
internal import KFSupport

/// One request under way, and the part of its response that has arrived.
struct CurlHop: ~Copyable {
    /// The state of the request, which decides about the bytes that arrive.
    enum Stage {
        /// The head of the response is awaited.
        case head
        /// The events are deciding; libcurl is paused.
        case deciding(Task<Void, Never>)
        /// The body is delivered.
        case body
        /// The body of a response that is not final is dropped, then the next request is sent.
        case discarding(next: NextHop)
    }

    /// The request that follows, and how the challenge of this one was met.
    struct NextHop {
        var request: URLRequest
        var digest: String?
        var isTrusted = false
        var refusedCredentials = 0
        /// Whether it is the same request once more.
        var isSentAgain = false
    }

    /// What is done to the bytes of the body.
    private enum Decoding {
        case none
        case undone(ContentDecoder)
        /// By a field with a coding, or a list, that cannot be undone.
        case impossible
    }

    /// More bytes than this are no head of a response that anyone has a use for.
    private static let longestHead = 300 << 10
    /// A longer body of a response that is not final costs more than a new connection.
    private static let longestDiscardedBody = 32 << 10
    /// A piece of the body is no longer than this, or than what is decoded at a time: the reader copies it while it is
    /// in the processor's caches.
    private static let longestPiece = 64 << 10
    /// After this time a piece that is not full is handed over; a short body is mostly complete by then.
    private static let gatheringTime = Duration.milliseconds(50)

    let request: URLRequest
    /// The measurements.
    var exchange: TransportMetrics.Exchange
    /// User name and password that are sent as HTTP's Digest.
    let digest: String?
    /// Whether the certificate is accepted unchecked, since the events have accepted it.
    let isTrusted: Bool
    /// How many credentials the server has refused.
    let refusedCredentials: Int
    /// Whether it is a request that was sent before, without what the server demanded.
    let isSentAgain: Bool
    /// Scheme, host and port, by which the queue counts.
    let host: String
    /// While there is a slot.
    var handle: CurlHandle?
    /// The engine's round in which libcurl is given the request.
    var startRound = Int.max
    var stage = Stage.head
    private(set) var head = HTTPHead()
    /// How many heads have come, without interim ones.
    private var headCount = 0
    private var announced = -1
    private var decoding = Decoding.none
    private var buffer = BodyBuffer()
    /// Until then more is waited for.
    private(set) var gatheringEnd = ContinuousClock.now
    /// Whether libcurl keeps back what it gets.
    var isHeldBack = false
    /// How libcurl's work ended, once it has.
    var result: CURLcode?
    /// Why a callback has ended it.
    var refusal: TransportError?

    init(_ next: NextHop, start: ContinuousClock.Instant) {
        request = next.request
        (digest, isTrusted) = (next.digest, next.isTrusted)
        (refusedCredentials, isSentAgain) = (next.refusedCredentials, next.isSentAgain)
        host = request.url?.origin ?? ""
        exchange = TransportMetrics.Exchange(url: request.url, start: start)
    }

    // MARK: The head

    /// Takes a line of the head; false for one too many.
    mutating func receive(head line: UnsafeRawBufferPointer) -> Bool {
        let wasComplete = head.isComplete
        head.append(line)
        guard head.count <= Self.longestHead else {
            let server = TransportError.host(of: request.url)
            return refuse(.badServerResponse, "The head of the response of \(server) is too long.")
        }
        if head.isFinal, !wasComplete {
            headCount += 1
            announced = head.contentLength ?? -1
            let coding = ContentCoding(head.value(of: "content-encoding"))
            decoding = coding.isCoded ? coding.decoder.map { .undone($0) } ?? .impossible : .none
        }
        return true
    }

    /// Whether a head has come that no other one follows.
    var hasFinalHead: Bool {
        // With Digest, and for a proxy with a password, libcurl asks for a challenge first.
        let isFirstChallenge = headCount == 1 && (head.status == 407 || (head.status == 401 && digest != nil))
        return head.isFinal && (!isFirstChallenge || result != nil)
    }

    /// Whether its handle may keep its options for the next request.
    ///
    /// Libcurl would keep a body too, and what a server or a proxy has demanded with another head before the final one.
    var leavesOptions: Bool { result == CURLE_OK && headCount == 1 && request.httpBody == nil }

    // MARK: The body

    /// Takes bytes of the body; returns how many, or that they are to come again.
    mutating func receive(body bytes: UnsafeRawBufferPointer, limit: Int, at now: ContinuousClock.Instant) -> Int {
        if case .discarding = stage {
            exchange.bytesReceived += Int64(bytes.count)
            return exchange.bytesReceived > Self.longestDiscardedBody ? 0 : bytes.count
        }
        if isBufferFull {
            isHeldBack = true
            return Int(KF_CURL_PAUSE)
        }
        if !hasBytes { gatheringEnd = now + Self.gatheringTime }
        let isTaken: Bool
        switch decoding {
        case .none: isTaken = append(bytes, limit: limit)
        case .undone(let decoder): isTaken = decoder.decode(bytes) { append($0, limit: limit) }
        case .impossible: isTaken = false
        }
        return isTaken ? bytes.count : 0
    }

    /// Takes bytes as the reader gets them.
    private mutating func append(_ bytes: UnsafeRawBufferPointer, limit: Int) -> Bool {
        let received = Int(exchange.bytesReceived) + bytes.count
        guard received <= limit else {
            return refuse(.dataLengthExceedsMaximum, "The body is longer than \(limit) bytes.")
        }
        guard buffer.append(bytes, expected: min(announced, Self.longestPiece)) else {
            return refuse(.dataLengthExceedsMaximum, "There is no memory for the body.")
        }
        exchange.bytesReceived = Int64(received)
        return true
    }

    /// What is wrong with the coding of the body, once that has ended; nil where nothing is.
    var codingFault: TransportError? {
        guard refusal == nil else { return nil }
        switch decoding {
        case .undone(let decoder) where decoder.isDamaged:
            return TransportError(.cannotDecodeContentData, "The compressed body is damaged.", url: request.url)
        case .undone(let decoder) where result == CURLE_OK && !decoder.isComplete:
            return TransportError(.cannotDecodeContentData, "The compressed body ends too early.", url: request.url)
        case .impossible where result == CURLE_WRITE_ERROR:
            let message = TransportError.undecodable(head.value(of: "content-encoding") ?? "", request.url)
            return TransportError(.cannotDecodeContentData, message, url: request.url)
        default: return nil
        }
    }

    /// Ends the hop from a callback; false, as callbacks say it.
    @discardableResult
    mutating func refuse(_ code: URLError.Code, _ message: String) -> Bool {
        refusal = TransportError(code, message, url: request.url)
        return false
    }

    private var isBufferFull: Bool { buffer.count >= Self.longestPiece }

    /// Whether bytes wait for the reader.
    var hasBytes: Bool { buffer.count > 0 }

    /// The bytes gathered, once they are enough or all there are.
    mutating func takePiece(at now: ContinuousClock.Instant) -> Data? {
        result != nil || isBufferFull || gatheringEnd <= now ? buffer.take() : nil
    }
}
