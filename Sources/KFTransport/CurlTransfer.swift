// One transfer over all its hops, on the thread of its transport: from the queue to the end. For CurlEngine.

internal import CKFCurl
internal import Foundation
internal import FoundationNetworking

/// One transfer: a chain of requests, of which only the last one's response is delivered.
///
/// Redirects are followed here and not by libcurl: each hop is a request with its own place in the queue, ahead of new
/// ones, so that redirect handlers, credentials and the address policy are judged anew.
///
/// Libcurl's callbacks (``receive(head:)`` and its neighbours) record; ``look()`` decides, and calls the events.
final class CurlTransfer {
    let task: CurlTask
    let policy: TransportPolicy
    private let events: any TransportEvents
    /// Made by the engine and released before it.
    private unowned let engine: CurlEngine
    private var clock: TransferClock
    private var hop: CurlHop
    /// The requests before that of the hop.
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
        hop = CurlHop(CurlHop.NextHop(request: task.originalRequest.authorizedByURL), start: task.start)
        clock = TransferClock(policy)
    }

    private var url: URL? { hop.request.url }

    // MARK: From hop to hop

    /// Stands in the queue.
    func wait() {
        engine.queue.add(
            task.id,
            to: hop.host,
            priority: task.priority,
            order: policy.order,
            isContinued: !exchanges.isEmpty || hop.isSentAgain
        )
    }

    /// Has a slot: sends the request, or ends if it cannot be sent.
    func begin() {
        let handle = engine.takeHandle()
        hop.handle = handle
        clock.hopBegan(at: engine.now)
        hop.exchange.waiting = engine.now - hop.exchange.start
        do throws(TransportError) {
            try handle.configure(hop, for: self, configuration: engine.configuration)
        } catch {
            return end(error)
        }
        hop.startRound = engine.rounds
        engine.run(handle)
        engine.watch(until: clock.earliestLimit)
    }

    /// Leaves the hop behind, and its slot.
    private func follow(_ next: CurlHop.NextHop) {
        closeHop()
        // A request that is sent again is the same exchange.
        if !next.isSentAgain { exchanges.append(hop.exchange) }
        hop = CurlHop(next, start: exchanges.isEmpty ? task.start : engine.now)
        task.currentRequest = next.request
        wait()
    }

    private func closeHop() {
        guard let handle = hop.handle else { return }
        clock.hopEnded(at: engine.now)
        // Until libcurl has gone on, its measurements are those of the request before.
        if hop.startRound < engine.rounds {
            hop.exchange.measure(handle.curl, from: clock.hopStart, head: hop.head)
        }
        hop.handle = nil
        engine.putBack(handle, leaving: hop.host, keepsOptions: hop.leavesOptions)
    }

    /// Ends the transfer, at whatever point it is.
    private func end(_ error: TransportError?) {
        if case .deciding(let decision) = hop.stage { decision.cancel() }
        closeHop()
        engine.forget(self)
        exchanges.append(hop.exchange)
        events.didCollect(TransportMetrics(exchanges: exchanges, interval: task.start..<max(task.start, engine.now)))
        events.didComplete(error)
    }

    func cancel() { end(.cancelled(url)) }

    // MARK: What libcurl reports

    func receive(head line: UnsafeRawBufferPointer) -> Bool {
        touch()
        return hop.receive(head: line)
    }

    func receive(body bytes: UnsafeRawBufferPointer) -> Int {
        touch()
        return hop.receive(body: bytes, limit: policy.maxBodyBytes, at: engine.now)
    }

    func mayConnect(to address: UnsafeRawBufferPointer) -> Bool {
        // No address: the Unix socket of the configuration.
        address.isEmpty || isProxied || isAllowed(policy.addressPolicy.refusal(of: Array(address)))
    }

    /// Whether the connection may be used; one that was opened under another policy may lead elsewhere.
    func isConnected(to address: UnsafePointer<CChar>?) -> Bool {
        touch()
        clock.silentSince = .now
        engine.watch(until: clock.earliestLimit)
        // Another address of the host may have been refused before.
        hop.refusal = nil
        guard !isProxied, !policy.addressPolicy.refused.isEmpty, let address, address.pointee != 0 else { return true }
        return isAllowed(policy.addressPolicy.refusal(ofNumericHost: String(cString: address)))
    }

    private func isAllowed(_ refusal: AddressPolicy.AddressClass?) -> Bool {
        guard let refusal else { return true }
        let host = url?.host ?? "The host"
        let message = "\(host) is at \(refusal), where the address policy allows no connection."
        return hop.refuse(.resourceUnavailable, message)
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
    /// Acts on all that was recorded.
    func look() {
        isTouched = false
        guard hop.handle != nil else { return }
        clock.heard(at: engine.now)
        advance()
    }

    private func advance() {
        while let handle = hop.handle {
            switch (hop.stage, hop.result) {
            case (.deciding, _): return
            case (.head, _) where hop.hasFinalHead: headArrived()
            case (.head, nil): return
            case (.body, _) where hop.hasBytes:
                guard let piece = hop.takePiece(at: engine.now) else {
                    engine.watch(until: hop.gatheringEnd)
                    return resume(handle)
                }
                decide(events.didReceive(piece)) { transfer, _ in transfer.hop.stage = .body }
            case (.body, CURLE_OK): return end(hop.codingFault)
            case (.body, nil), (.discarding, nil): return resume(handle)
            case (.discarding(let next), _): return follow(next)
            case (.head, let result?), (.body, let result?):
                let failure =
                    hop.codingFault ?? TransportError(result, of: handle, url: url, after: hop.head)
                guard result == CURLE_PEER_FAILED_VERIFICATION, hop.refusal == nil, !hop.isTrusted else {
                    return end(hop.refusal ?? failure)
                }
                authenticate(.serverTrust(failure), nil)
            }
        }
    }

    private func headArrived() {
        let (request, head) = (hop.request, hop.head)
        let response = TransportResponse(head, url: url)
        task.received(response)
        engine.queue.setMultiplexed(!head.version.hasPrefix("HTTP/1"), hop.host)
        if let location = head.bytes(of: "location"),
            let proposed = request.redirected(by: head.status, to: location),
            let redirecting = response.urlResponse as? HTTPURLResponse
        {
            decide(events.willRedirect(redirecting, to: proposed), isRedirect: true) { transfer, next in
                guard let next else { return transfer.deliver(response) }
                transfer.hop.stage = .discarding(next: CurlHop.NextHop(request: next.authorizedByURL))
            }
        } else if head.status == 401,
            let kind = head.value(of: "www-authenticate").flatMap({ TransportChallenge.Kind(wwwAuthenticate: $0) })
        {
            authenticate(kind, response)
        } else {
            deliver(response)
        }
    }

    /// A server that refuses more credentials than this is not asked again.
    private static var longestTrial: Int { 3 }

    /// Asks how a challenge is met, unless the request itself has what it takes, and sends the request once more.
    private func authenticate(_ kind: TransportChallenge.Kind, _ response: TransportResponse?) {
        var next = CurlHop.NextHop(request: hop.request, isTrusted: hop.isTrusted, isSentAgain: true)
        let sent = hop.request.basicCredentials
        if case .digest = kind, hop.digest == nil, hop.refusedCredentials == 0, let sent {
            next.digest = sent
            hop.stage = .discarding(next: next)
            return
        }
        let refused = hop.refusedCredentials + (response != nil && (hop.digest ?? sent) != nil ? 1 : 0)
        next.refusedCredentials = refused
        if refused >= Self.longestTrial, let response { return deliver(response) }
        let challenge = TransportChallenge(kind: kind, url: url, previousFailureCount: refused, response: response)
        decide(events.didReceive(challenge)) { [next] transfer, credential in
            var next = next
            switch (kind, credential) {
            case (_, .cancel): return transfer.cancel()
            case (.serverTrust, .trust): next.isTrusted = true
            case (.basic, .password(let user, let password)):
                next.request = next.request.authorized(user: user, password: password)
            case (.digest, .password(let user, let password)): next.digest = "\(user):\(password)"
            case (.serverTrust(let error), _): return transfer.end(error)
            case (.basic, _), (.digest, _):
                guard let response else { return transfer.cancel() }
                return transfer.deliver(response)
            }
            transfer.hop.stage = .discarding(next: next)
        }
    }

    private func deliver(_ response: TransportResponse) {
        decide(events.didReceive(response)) { transfer, disposition in
            if disposition == .allow { transfer.hop.stage = .body } else { transfer.cancel() }
        }
    }

    /// Goes on with a decision of the events: at once if it is known, else once it is there.
    private func decide<Value>(
        _ decision: TransportDecision<Value>,
        isRedirect: Bool = false,
        then goOn: @escaping @Sendable (CurlTransfer, Value) -> Void
    ) {
        switch decision {
        case .now(let value): goOn(self, value)
        case .later(let value):
            if let handle = hop.handle, hop.result == nil {
                hop.isHeldBack = true
                curl_easy_pause(handle.curl, CURLPAUSE_RECV)
            }
            // A redirect handler that never decides must not hold the transfer; the reader of the body may take its
            // time.
            if !isRedirect { clock.silentSince = nil }
            let waiting = Task { [task] in
                let value = await value()
                task.inbox.send(.decided(task) { goOn($0, value) })
            }
            hop.stage = .deciding(waiting)
        }
    }

    /// A decision has come that was waited for.
    func decided(_ goOn: (CurlTransfer) -> Void) {
        guard case .deciding = hop.stage, hop.handle != nil else { return }
        clock.silentSince = engine.now
        engine.watch(until: clock.earliestLimit)
        goOn(self)
        advance()
    }

    /// Has libcurl go on if it keeps something back; it may hand that over before this returns.
    private func resume(_ handle: CurlHandle) {
        guard hop.isHeldBack, hop.result == nil else { return }
        hop.isHeldBack = false
        curl_easy_pause(handle.curl, CURLPAUSE_CONT)
    }

    /// Looks whether a time limit has been reached, or what arrived has been gathered for long enough.
    func checkLimits() {
        guard hop.handle != nil else { return }
        if let message = clock.limitReached(at: engine.now, by: TransportError.host(of: url)) {
            return end(TransportError(.timedOut, message, url: url))
        }
        advance()
        if hop.handle != nil { engine.watch(until: clock.earliestLimit) }
    }
}
