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

    let task: CurlTask
    let policy: TransportPolicy
    private let events: any TransportEvents
    /// Made by the engine and released before it.
    private unowned let engine: CurlEngine
    private var clock: TransferClock
    private var hop: CurlHop
    private var response: TransportResponse?
    private var exchanges: [TransportMetrics.Exchange] = []
    /// Whether the engine knows that something has happened.
    private var isTouched = false
    /// Whether the connection is one to a proxy, which the address policy allows: then it does not judge its address.
    var isProxied = false

    init(_ task: CurlTask, policy: TransportPolicy, events: any TransportEvents, engine: CurlEngine) {
        self.task = task
        self.policy = policy
        self.events = events
        self.engine = engine
        hop = CurlHop(task.originalRequest.authorizedByURL)
        clock = TransferClock(policy, start: task.start)
    }

    var id: Int { task.id }
    var url: URL? { hop.request.url }

    // MARK: From hop to hop

    /// Stands in the queue.
    func wait(in queue: inout TransferQueue) {
        exchanges.append(TransportMetrics.Exchange(url: url, start: exchanges.isEmpty ? task.start : engine.now))
        queue.add(
            id,
            to: hop.host,
            priority: task.priority,
            order: policy.order,
            isContinued: exchanges.count > 1 || hop.digest != nil
        )
    }

    /// Has a slot: sends the request, or ends if it cannot be sent.
    func begin() {
        let handle = engine.takeHandle()
        hop.handle = handle
        clock.hopBegan(at: engine.now)
        exchanges[exchanges.count - 1].waiting = engine.now - exchanges[exchanges.count - 1].start
        do throws(TransportError) {
            try handle.configure(hop.request, for: self, digest: hop.digest, configuration: engine.configuration)
        } catch {
            return end(error)
        }
        engine.run(handle)
        engine.watch(until: clock.earliestLimit)
    }

    /// Leaves the hop behind, and its slot.
    private func follow(_ next: URLRequest, digest: CurlHandle.Credentials?) {
        closeHop()
        let host = hop.host
        // The answer to a challenge is the same exchange.
        if digest != nil { exchanges.removeLast() }
        hop = CurlHop(next, digest: digest)
        task.currentRequest = next
        engine.requeue(self, leaving: host)
    }

    private func closeHop() {
        guard let handle = hop.handle else { return }
        clock.hopEnded(at: engine.now)
        exchanges[exchanges.count - 1]
            .measure(handle.curl, from: clock.hopStart, received: hop.received, head: hop.head)
        engine.putBack(handle)
        hop.handle = nil
    }

    /// Ends the transfer, at whatever point it is.
    func end(_ error: TransportError?) {
        if case .deciding(let decision) = hop.stage { decision.cancel() }
        let hadSlot = hop.handle != nil
        closeHop()
        engine.forget(self, holdsSlotOf: hadSlot ? hop.host : nil)
        events.didCollect(TransportMetrics(exchanges: exchanges, interval: task.start..<max(task.start, engine.now)))
        events.didComplete(error)
    }

    // MARK: What libcurl reports

    func receive(head line: UnsafeRawBufferPointer) -> Bool {
        touch()
        return hop.receive(head: line)
    }

    func receive(body bytes: UnsafeRawBufferPointer) -> Int {
        touch()
        return hop.receive(body: bytes, limit: policy.maximumBodySize, at: engine.now)
    }

    func mayConnect(to address: UnsafeRawBufferPointer) -> Bool {
        // No address: the Unix socket of the configuration.
        guard !address.isEmpty, !isProxied, let kind = policy.addressPolicy.refusal(of: Array(address)) else {
            return true
        }
        hop.refusal = .refused(kind, host: url?.host, url: url)
        return false
    }

    /// Whether the connection may be used; one that was opened under another policy may lead elsewhere.
    func isConnected(to address: () -> String) -> Bool {
        touch()
        clock.sent(at: .now)
        engine.watch(until: clock.earliestLimit)
        // Another address of the host may have been refused before.
        hop.refusal = nil
        guard !policy.addressPolicy.refused.isEmpty, !isProxied, !address().isEmpty,
            let kind = policy.addressPolicy.refusal(ofNumericHost: address())
        else { return true }
        hop.refusal = .refused(kind, host: url?.host, url: url)
        return false
    }

    func hopEnded(_ result: CURLcode) {
        hop.result = result
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
        guard hop.handle != nil else { return }
        clock.heard(at: engine.now)
        advance()
    }

    private func advance() {
        while hop.handle != nil {
            switch hop.stage {
            case .deciding: return
            case .head:
                guard hop.hasFinalHead else {
                    if let result = hop.result { end(failure(result)) }
                    return
                }
                headArrived()
            case .body:
                if hop.hasBytes {
                    guard hop.isPieceComplete(at: engine.now) else { return engine.watch(until: hop.gatheringEnd) }
                    decide(events.didReceive(hop.takePiece())) { .bodyIsTaken }
                } else if let result = hop.result {
                    return end(result == CURLE_OK ? nil : failure(result))
                } else {
                    return resume(onlyIfHeldBack: true)
                }
            case .discarding(let next, let digest):
                hop.dropBytes()
                guard hop.result != nil else { return resume(onlyIfHeldBack: true) }
                return follow(next, digest: digest)
            }
        }
    }

    private func headArrived() {
        let (request, head) = (hop.request, hop.head)
        let response = TransportResponse(head, url: url)
        self.response = response
        task.received(response)
        engine.setMultiplexed(!head.version.hasPrefix("HTTP/1"), hop.host)
        if (300..<400).contains(head.status), let redirecting = response.urlResponse as? HTTPURLResponse,
            let proposed = request.redirected(by: redirecting)
        {
            decide(events.willRedirect(redirecting, to: proposed), isRedirect: true) { .redirect($0) }
        } else if head.status == 401, hop.digest == nil, let credentials = request.basicCredentials,
            head.value(of: "www-authenticate")?.lowercased().contains("digest") == true
        {
            hop.stage = .discarding(next: request, digest: credentials)
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
            if let handle = hop.handle, hop.result == nil { curl_easy_pause(handle.curl, CURLPAUSE_RECV) }
            // A redirect handler that never answers must not hold the transfer; what reads the body may take its time.
            clock.isPaused = !isRedirect
            hop.stage = .deciding(task.await(value, as: make))
        }
    }

    /// A decision has come that was waited for.
    func decided(_ decision: Decision) {
        guard case .deciding = hop.stage, hop.handle != nil else { return }
        clock.isPaused = false
        clock.heard(at: engine.now)
        engine.watch(until: clock.earliestLimit)
        apply(decision)
        guard hop.handle != nil else { return }
        if case .deciding = hop.stage { return }
        resume(onlyIfHeldBack: false)
        advance()
    }

    private func apply(_ decision: Decision) {
        switch decision {
        case .redirect(let next?): hop.stage = .discarding(next: next.authorizedByURL, digest: nil)
        case .redirect(nil): if let response { decide(events.didReceive(response)) { .response($0) } }
        case .response(.cancel): end(.cancelled(url))
        case .response(.allow), .bodyIsTaken: hop.stage = .body
        }
    }

    /// Has libcurl go on; it may hand over what it kept before this returns.
    private func resume(onlyIfHeldBack: Bool) {
        guard let handle = hop.handle, hop.result == nil, hop.isHeldBack || !onlyIfHeldBack else { return }
        hop.isHeldBack = false
        curl_easy_pause(handle.curl, CURLPAUSE_CONT)
    }

    private func failure(_ result: CURLcode) -> TransportError {
        guard hop.refusal == nil, let handle = hop.handle else { return hop.refusal ?? .cancelled(url) }
        return TransportError(result, of: handle, url: url, hasHead: hop.head.isComplete)
    }

    /// Looks whether a time limit has been reached, or what arrived has been gathered for long enough.
    func checkLimits() {
        guard hop.handle != nil else { return }
        if let message = clock.limitReached(at: engine.now, by: TransportError.place(url)) {
            return end(TransportError(.timedOut, message, url: url))
        }
        advance()
        if hop.handle != nil { engine.watch(until: clock.earliestLimit) }
    }
}
