// One request of a transfer and what has come back: recorded by libcurl's callbacks, read by CurlTransfer.

internal import CKFCurl
internal import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// One request under way.
///
/// Its ``stage`` says what is done with what arrives; everything else is what arrived.
struct CurlHop: ~Copyable {
    /// What is done with what arrives.
    enum Stage {
        /// The head of the response is awaited.
        case head
        /// The events are deciding; libcurl is paused.
        case deciding(Task<Void, Never>)
        /// The body is delivered.
        case body
        /// The body of a response that is not final is dropped, then the next request is sent.
        case discarding(next: URLRequest, digest: CurlHandle.Credentials?)
    }

    /// A longer body of a response that is not final costs more than a new connection.
    private static let longestDiscardedBody = 32 << 10
    /// After this time a piece that is not full is handed over; a short body is mostly complete by then.
    private static let gatheringTime = Duration.milliseconds(50)

    let request: URLRequest
    /// Sent as HTTP's Digest.
    let digest: CurlHandle.Credentials?
    /// Scheme, host and port, by which the queue counts; empty for a request that cannot be sent.
    let host: String
    /// While there is a slot.
    var handle: CurlHandle?
    var stage = Stage.head
    private(set) var head = HTTPHead()
    /// How many heads have come, without interim ones.
    private(set) var headCount = 0
    private var announced = -1
    private var isCoded = false
    private var buffer = BodyBuffer()
    /// Until then more is waited for.
    private(set) var gatheringEnd = ContinuousClock.now
    private(set) var received = 0
    /// Whether libcurl was told to keep bytes back.
    var isHeldBack = false
    /// How libcurl's work ended, once it has.
    var result: CURLcode?
    /// Why a callback has ended it.
    var refusal: TransportError?

    init(_ request: URLRequest, digest: CurlHandle.Credentials? = nil) {
        self.request = request
        self.digest = digest
        host = (try? Origin(request.url))?.name ?? ""
    }

    // MARK: The head

    /// Takes a line of the head; false for one too many.
    mutating func receive(head line: UnsafeRawBufferPointer) -> Bool {
        let wasComplete = head.isComplete
        head.append(line)
        guard head.count <= HTTPHead.longest else {
            let message = "The head of the response of \(TransportError.place(request.url)) is too long."
            refusal = TransportError(.badServerResponse, message, url: request.url)
            return false
        }
        if head.isComplete, !wasComplete, head.status >= 200 {
            headCount += 1
            announced = head.value(of: "content-length").flatMap { Int($0) } ?? -1
            isCoded = (head.value(of: "content-encoding") ?? "identity").lowercased() != "identity"
        }
        return true
    }

    /// Whether a head has come that no other one follows.
    var hasFinalHead: Bool {
        guard head.isComplete, head.status >= 200 else { return false }
        // With Digest, and for a proxy with a password, libcurl asks for a challenge first.
        let isFirstChallenge = headCount == 1 && (head.status == 407 || (head.status == 401 && digest != nil))
        return !isFirstChallenge || result != nil
    }

    // MARK: The body

    /// Takes bytes of the body; returns how many, or that they are to come again.
    mutating func receive(body bytes: UnsafeRawBufferPointer, limit: Int, at now: ContinuousClock.Instant) -> Int {
        if case .discarding = stage {
            received += bytes.count
            return received > Self.longestDiscardedBody ? 0 : bytes.count
        }
        // What is decoded would be kept by libcurl, which does not keep much; and its size is known afterwards only.
        if isBufferFull, !isCoded {
            isHeldBack = true
            return Int(KF_CURL_PAUSE)
        }
        guard received + bytes.count <= limit else {
            refuse("The body is longer than \(limit) bytes.")
            return 0
        }
        received += bytes.count
        if buffer.count == 0 { gatheringEnd = now + Self.gatheringTime }
        guard buffer.append(bytes, expected: min(announced, Self.longestPiece)) else {
            refuse("There is no memory for the body.")
            return 0
        }
        return bytes.count
    }

    private mutating func refuse(_ message: String) {
        refusal = TransportError(.dataLengthExceedsMaximum, message, url: request.url)
    }

    /// A piece of the body is no longer than this, or than what libcurl decodes at a time: the reader copies it while it
    /// is in the processor's caches.
    private static let longestPiece = 64 << 10
    private var isBufferFull: Bool { buffer.count >= Self.longestPiece }

    /// Whether bytes wait for the reader.
    var hasBytes: Bool { buffer.count > 0 }

    /// Whether enough of the body has been gathered, or all of it.
    func isPieceComplete(at now: ContinuousClock.Instant) -> Bool {
        result != nil || isBufferFull || gatheringEnd <= now
    }

    /// The bytes gathered.
    mutating func takePiece() -> Data { buffer.take() }
    mutating func dropBytes() { buffer.removeAll() }
}
