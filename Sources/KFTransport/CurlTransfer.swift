// One transfer over all its hops, on the thread of its transport: from the queue to the end. For CurlEngine.

internal import CKFCurl
internal import Foundation
internal import KFSupport

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// One transfer: a chain of requests, of which only the last one's response is delivered.
///
/// Libcurl's callbacks (``receive(head:)`` and its neighbours) record; ``look()`` decides, and calls the events.
final class CurlTransfer {
    /// What the events decided, when they took their time.
    enum Decision: Sendable {
        case redirect(URLRequest?)
        case response(TransportDisposition)
        case bodyIsTaken
    }

    /// What is done with what arrives.
    private enum Stage {
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
    /// What arrives is gathered for this long: mostly until it is the whole body, which its reader then need not copy.
    private static let gatheringTime = Duration.milliseconds(50)

    let task: CurlTask
    let policy: TransportPolicy
    private let events: any TransportEvents
    /// Made by the engine and released before it.
    private unowned let engine: CurlEngine
    private var clock: TransferClock

    // The current hop.
    private var request: URLRequest
    private var host = ""
    private var digest: CurlHandle.Credentials?
    private var handle: CurlHandle?
    private var stage = Stage.head
    private var head = HTTPHead()
    private var response: TransportResponse?
    private var headCount = 0
    private var announced = -1
    private var isCoded = false
    private var buffer = BodyBuffer()
    private var gatheringEnd = ContinuousClock.now
    private var received = 0
    /// Whether libcurl was told to keep bytes back.
    private var isHeldBack = false
    private var isTouched = false
    private var result: CURLcode?
    /// Why a callback has ended the hop.
    private var refusal: TransportError?
    private var exchanges: [TransportMetrics.Exchange] = []

    init(_ task: CurlTask, policy: TransportPolicy, events: any TransportEvents, engine: CurlEngine) {
        self.task = task
        self.policy = policy
        self.events = events
        self.engine = engine
        request = task.originalRequest.authorizedByURL
        clock = TransferClock(policy, start: task.start)
    }

    var id: Int { task.id }
    var url: URL? { request.url }

    // MARK: From hop to hop

    /// Stands in the queue; a request that cannot be sent ends here.
    func wait(in queue: inout TransferQueue) {
        exchanges.append(TransportMetrics.Exchange(url: url, start: exchanges.isEmpty ? task.start : engine.now))
        host = (try? Origin(url))?.name ?? ""
        queue.add(id, to: host, priority: task.priority, order: policy.order, isContinued: exchanges.count > 1)
    }

    /// Has a slot: sends the request.
    func begin() {
        let handle = engine.takeHandle()
        self.handle = handle
        clock.hopBegan(at: engine.now)
        exchanges[exchanges.count - 1].waiting = engine.now - exchanges[exchanges.count - 1].start
        do throws(TransportError) {
            try handle.configure(request, for: self, digest: digest, configuration: engine.configuration)
        } catch {
            return end(error)
        }
        engine.run(handle)
        engine.watch(until: clock.earliestLimit)
    }

    /// Leaves the hop behind, and its slot.
    private func follow(_ next: URLRequest, digest: CurlHandle.Credentials?) {
        closeHop()
        request = next
        self.digest = digest
        task.currentRequest = next
        (stage, head, headCount, announced, isCoded) = (.head, HTTPHead(), 0, -1, false)
        (received, isHeldBack, result, refusal) = (0, false, nil, nil)
        buffer.removeAll()
        engine.requeue(self, leaving: host)
    }

    private func closeHop() {
        guard let handle else { return }
        clock.hopEnded(at: engine.now)
        exchanges[exchanges.count - 1].measure(handle.curl, from: clock.hopStart, received: received, head: head)
        engine.putBack(handle)
        self.handle = nil
    }

    /// Ends the transfer, at whatever point it is.
    func end(_ error: TransportError?) {
        if case .deciding(let decision) = stage { decision.cancel() }
        let hadSlot = handle != nil
        closeHop()
        engine.forget(self, holdsSlotOf: hadSlot ? host : nil)
        events.didCollect(TransportMetrics(exchanges: exchanges, interval: task.start..<max(task.start, engine.now)))
        events.didComplete(error)
    }

    // MARK: What libcurl reports

    func receive(head line: UnsafeRawBufferPointer) -> Bool {
        touch()
        let wasComplete = head.isComplete
        head.append(line)
        guard head.count <= HTTPHead.longest else {
            refusal = TransportError(.badServerResponse, "The head of the response is too long.", url: url)
            return false
        }
        if head.isComplete, !wasComplete {
            headCount += 1
            announced = head.value(of: "content-length").flatMap { Int($0) } ?? -1
            isCoded = (head.value(of: "content-encoding") ?? "identity").lowercased() != "identity"
        }
        return true
    }

    /// Returns how many bytes were taken, or that they are to come again.
    func receive(body bytes: UnsafeRawBufferPointer) -> Int {
        touch()
        if case .discarding = stage {
            received += bytes.count
            return received > Self.longestDiscardedBody ? 0 : bytes.count
        }
        // What is decoded would be kept by libcurl, which does not keep much; and its size is known afterwards only.
        if isBufferFull, !isCoded {
            isHeldBack = true
            return Int(KF_CURL_PAUSE)
        }
        guard received + bytes.count <= policy.maximumBodySize else {
            let message = "The body is longer than \(policy.maximumBodySize) bytes."
            refusal = TransportError(.dataLengthExceedsMaximum, message, url: url)
            return 0
        }
        received += bytes.count
        if buffer.count == 0 {
            gatheringEnd = engine.now + Self.gatheringTime
            engine.watch(until: gatheringEnd)
        }
        guard buffer.append(bytes, expected: min(announced, bufferLimit)) else {
            refusal = TransportError(.dataLengthExceedsMaximum, "There is no memory for the body.", url: url)
            return 0
        }
        return bytes.count
    }

    /// The next piece of the body is no longer than this, or than what libcurl decodes at a time.
    private var bufferLimit: Int { announced < 0 ? 256 << 10 : 8 << 20 }
    private var isBufferFull: Bool { buffer.count >= bufferLimit }

    func mayConnect(to address: UnsafeRawBufferPointer) -> Bool {
        // No address: the Unix socket of the configuration.
        guard !address.isEmpty, let kind = policy.addressPolicy.refusal(of: Array(address)) else { return true }
        refusal = .refused(kind, host: request.url?.host, url: url)
        return false
    }

    /// Whether the connection may be used; one that was opened under another policy may lead elsewhere.
    func isConnected(to address: () -> String) -> Bool {
        touch()
        clock.sent(at: .now)
        // Another address of the host may have been refused before.
        refusal = nil
        guard !policy.addressPolicy.refused.isEmpty, !address().isEmpty,
            let kind = policy.addressPolicy.refusal(ofNumericHost: address())
        else { return true }
        refusal = .refused(kind, host: request.url?.host, url: url)
        return false
    }

    func hopEnded(_ result: CURLcode) {
        self.result = result
        touch()
    }

    private func touch() {
        guard !isTouched else { return }
        isTouched = true
        engine.touch(self)
    }
}

// MARK: - Decisions

extension CurlTransfer {
    /// Does what is to be done about all that was recorded.
    func look() {
        isTouched = false
        guard handle != nil else { return }
        clock.heard(at: engine.now)
        advance()
    }

    private func advance() {
        while handle != nil {
            switch stage {
            case .deciding: return
            case .head:
                guard hasFinalHead else {
                    if let result { end(failure(result)) }
                    return
                }
                headArrived()
            case .body:
                if buffer.count > 0 {
                    guard result != nil || isBufferFull || gatheringEnd <= engine.now else { return }
                    decide(events.didReceive(buffer.take())) { .bodyIsTaken }
                } else if let result {
                    return end(result == CURLE_OK ? nil : failure(result))
                } else {
                    return resume(onlyIfHeldBack: true)
                }
            case .discarding(let next, let digest):
                buffer.removeAll()
                guard result != nil else { return resume(onlyIfHeldBack: true) }
                return follow(next, digest: digest)
            }
        }
    }

    /// Whether a head has come that no other one follows on this hop.
    private var hasFinalHead: Bool {
        guard head.isComplete, head.status >= 200 else { return false }
        // With Digest, libcurl asks for a challenge first.
        let isFirstChallenge = digest != nil && head.status == 401 && headCount == 1
        return !isFirstChallenge || result != nil
    }

    private func headArrived() {
        let response = TransportResponse(head, url: url)
        self.response = response
        task.received(response)
        if !head.version.hasPrefix("HTTP/1") { engine.multiplex(host) }
        if (300..<400).contains(head.status), let redirecting = response.urlResponse as? HTTPURLResponse,
            let proposed = request.redirected(by: redirecting)
        {
            decide(events.willRedirect(redirecting, to: proposed), isRedirect: true) { .redirect($0) }
        } else if head.status == 401, digest == nil, let credentials = request.basicCredentials,
            head.value(of: "www-authenticate")?.lowercased().contains("digest") == true
        {
            var next = request
            next.setValue(nil, forHTTPHeaderField: "Authorization")
            stage = .discarding(next: next, digest: credentials)
        } else {
            decide(events.didReceive(response)) { .response($0) }
        }
    }

    /// Goes on with a decision of the events: at once if it is known, else once it is there.
    private func decide<Value>(
        _ decision: TransportDecision<Value>,
        isRedirect: Bool = false,
        _ make: @escaping @Sendable (Value) -> Decision
    ) {
        switch decision {
        case .now(let value): apply(make(value))
        case .later(let value):
            if let handle, result == nil { curl_easy_pause(handle.curl, CURLPAUSE_RECV) }
            // A redirect handler that never answers must not hold the transfer; what reads the body may take its time.
            clock.isPaused = !isRedirect
            stage = .deciding(task.await(value, as: make))
        }
    }

    /// A decision has come that was waited for.
    func decided(_ decision: Decision) {
        guard case .deciding = stage, handle != nil else { return }
        clock.isPaused = false
        clock.heard(at: engine.now)
        engine.watch(until: clock.earliestLimit)
        apply(decision)
        guard handle != nil else { return }
        if case .deciding = stage { return }
        resume(onlyIfHeldBack: false)
        advance()
    }

    private func apply(_ decision: Decision) {
        switch decision {
        case .redirect(let next?): stage = .discarding(next: next.authorizedByURL, digest: nil)
        case .redirect(nil): if let response { decide(events.didReceive(response)) { .response($0) } }
        case .response(.cancel): end(.cancelled(url))
        case .response(.allow), .bodyIsTaken: stage = .body
        }
    }

    /// Has libcurl go on; it may hand over what it kept before this returns.
    private func resume(onlyIfHeldBack: Bool) {
        guard let handle, result == nil, isHeldBack || !onlyIfHeldBack else { return }
        isHeldBack = false
        curl_easy_pause(handle.curl, CURLPAUSE_CONT)
    }

    private func failure(_ result: CURLcode) -> TransportError {
        guard refusal == nil, let handle else { return refusal ?? .cancelled(url) }
        return TransportError(result, of: handle, url: url, hasHead: head.isComplete, isSent: clock.isSent)
    }
}

// MARK: - Time limits

extension CurlTransfer {
    /// Looks whether a time limit has been reached, or what arrived has been gathered for long enough.
    func checkLimits() {
        guard handle != nil else { return }
        if let message = clock.limitReached(at: engine.now, by: request.url?.host ?? "the server") {
            return end(TransportError(.timedOut, message, url: url))
        }
        advance()
        guard handle != nil else { return }
        engine.watch(until: clock.earliestLimit)
        if buffer.count > 0, !clock.isPaused { engine.watch(until: gatheringEnd) }
    }
}
