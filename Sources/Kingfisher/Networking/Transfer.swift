// One transfer and its policy: redirects, statuses, sizes. For the byte loader; the transport moves the bytes.

import Foundation
import KFSupport
import KFTransport

/// The owner of transfers: it has code of users follow and steer them, and keeps what interrupted ones have brought.
protocol TransferOwner: AnyObject, Sendable {
    /// A transfer is about to be sent; gives the beginning of its body, if it was interrupted before.
    func willSend(_ transfer: Transfer) -> PartialBody?

    /// Has a delegate judge a response, its status first; nil if there is no delegate.
    func judgement(of response: TransportResponse, to transfer: Transfer) -> (@Sendable () async -> Bool)?

    /// The object that answers the challenges of servers; nil if only the transport does.
    var answering: (@Sendable (TransportChallenge, SessionDataTask) async -> TransportCredential)? { get }

    /// The bytes that a transfer has brought, as the code of users makes them.
    func finished(
        _ transfer: Transfer,
        with result: Result<Data, KingfisherError>,
        response: TransportResponse?
    ) async throws(KingfisherError) -> Data

    /// An image was made for a load of the bytes that came for a request.
    func didMake(
        _ image: KFCrossPlatformImage,
        of request: URLRequest,
        _ response: TransportResponse?,
        _ options: KingfisherParsedOptionsInfo
    ) async

    /// Keeps the beginning of an interrupted body.
    func keep(_ body: PartialBody, for transfer: Transfer)
}

/// One transfer for all its subscribers, and the decisions the transport needs.
final class Transfer: TransportEvents {
    private struct State: Sendable {
        /// Why there will be no bytes; once it is set, nothing that arrives counts.
        var failure: KingfisherError?
        var response: TransportResponse?
        var expected: Int64 = -1
        var redirects = 0
        /// The redirects that led from the request to the response.
        var hops: [HTTPURLResponse] = []
        var isRedirectDeclined = false
        /// Whether a challenge was met with a password.
        var hasSentPassword = false
        /// The beginning of the body, of which the rest was requested.
        var partial: PartialBody?
        /// Whether the rest cannot be had, so that the whole is requested next.
        var startsAnew = false
        /// The shared task that it is the work of, until it is over.
        var task: SharedTask<TransferKey, LoadedBytes>?
        /// The memory its bytes may take; the images made of them take it over.
        var share: BytesInFlight.Share?

        /// Whether a response is one to go on with, as far as the beginning of a body is concerned.
        mutating func goesOn(with response: TransportResponse) -> Bool {
            guard let partial else { return true }
            switch response.statusCode ?? 0 {
            case 206 where partial.isContinued(by: response): return true
            case 206, 416:
                (self.partial, startsAnew) = (nil, true)
                return false
            case 200..<300: self.partial = nil  // the whole body
            default: break  // no body: the beginning is kept for later
            }
            return true
        }
    }

    let key: TransferKey
    let sessionTask: SessionDataTask
    let conditions: TransferConditions
    private weak let owner: (any TransferOwner)?
    private let transport: any Transport
    private let bytesInFlight: BytesInFlight
    private let state = Locked(State())
    /// The bytes that have arrived, once no more will arrive.
    private let arrived = Promise<Result<Data, KingfisherError>>()

    init(
        _ conditions: TransferConditions,
        key: TransferKey,
        owner: any TransferOwner,
        by transport: any Transport,
        counting bytesInFlight: BytesInFlight
    ) {
        (self.conditions, self.key, self.owner) = (conditions, key, owner)
        (self.transport, self.bytesInFlight) = (transport, bytesInFlight)
        sessionTask = SessionDataTask(conditions.request)
    }

    /// The request of the first hop.
    var request: URLRequest { conditions.request }

    /// Whether the rest of an interrupted body may be requested: its response must be seen as the server sent it.
    var mayContinue: Bool { conditions.responseModifier == nil && PartialBody.mayContinue(request) }

    /// The largest body accepted.
    private var limit: Int { conditions.policy.maxBodyBytes }

    /// The bytes of the response; the request is sent before this first suspends.
    func bytes(for task: SharedTask<TransferKey, LoadedBytes>) async throws(KingfisherError) -> LoadedBytes {
        guard let owner else { throw .requestError(reason: .asyncTaskContextCancelled) }
        state.withLock { $0.task = task }
        defer { state.withLock { $0.task = nil } }
        let beginning = owner.willSend(self)
        // The delegate's code may have cancelled it.
        if let failure = task.failure {
            if let beginning { owner.keep(beginning, for: self) }
            fail(failure)
            didComplete(nil)
        } else {
            send(continuing: beginning)
        }
        let result = await arrived.value { fail(task.failure ?? task.cancellation(of: 0)) }
        let (response, isRedirectDeclined) = state.withLock { ($0.response, $0.isRedirectDeclined) }
        return LoadedBytes(
            try await owner.finished(self, with: result, response: response),
            request: request,
            response: response,
            isRedirectDeclined: isRedirectDeclined,
            metrics: sessionTask.metrics,
            isPersonal: isPersonal,
            share: takeShare(),
            largestSide: LoadedBytes.largestSide(for: task.subscribers)
        ) { [weak owner, request] image, options in
            await owner?.didMake(image, of: request, response, options)
        }
    }

    /// Sends the request, for the rest of a body if there is a beginning.
    private func send(continuing partial: PartialBody?) {
        state.withLock { ($0.partial, $0.hops) = (partial, []) }
        let sent = partial?.rest(of: request) ?? request
        let task = transport.start(sent, policy: conditions.policy, events: self)
        sessionTask.task.started(task)
    }

    /// Whether credentials were sent: the response is only for those who have them.
    private var isPersonal: Bool { request.hasCredentials || state.withLock { $0.hasSentPassword } }

    private var hasFailed: Bool { state.withLock { $0.failure != nil } }

    /// Ends the transfer with an error of ours instead of the transport's; the first one counts.
    private func fail(_ failure: KingfisherError) {
        state.withLock { $0.failure = $0.failure ?? failure }
        sessionTask.task.cancel()
    }

    // MARK: Redirects

    func willRedirect(_ response: HTTPURLResponse, to proposed: URLRequest) -> TransportDecision<URLRequest?> {
        let redirects = state.withLock { state in
            state.redirects += 1
            state.hops.append(response)
            return state.redirects
        }
        let limit = conditions.maxRedirectCount
        guard redirects <= limit else {
            failTransport(.httpTooManyRedirects, "more than \(limit) redirects")
            return .now(nil)
        }
        let leaving = response.url ?? request.url
        let stripped = proposed.removing(conditions.fieldsRemovedAcrossOrigins, leaving: leaving)
        guard let handler = conditions.redirectHandler else {
            guard leaving?.scheme?.lowercased() == "https", stripped.url?.scheme?.lowercased() == "http" else {
                return .now(stripped)
            }
            failTransport(
                .appTransportSecurityRequiresSecureConnection,
                "the redirect to \(stripped.url?.absoluteString ?? "plain http") is not secure"
            )
            return .now(nil)
        }
        let sessionTask = sessionTask
        return .later { [self] in
            let next = await handler.handleHTTPRedirection(for: sessionTask, response: response, newRequest: stripped)
            if next == nil { state.withLock { ($0.isRedirectDeclined, $0.hops) = (true, $0.hops.dropLast()) } }
            return next
        }
    }

    private func failTransport(_ code: URLError.Code, _ message: String) {
        fail(.responseError(reason: .URLSessionError(error: TransportError(code, message, url: request.url).urlError)))
    }

    // MARK: Challenges

    func didReceive(_ challenge: TransportChallenge) -> TransportDecision<TransportCredential> {
        guard let answering = owner?.answering else { return .now(.none) }
        return .later { [self] in
            let credential = await answering(challenge, sessionTask)
            if case .password = credential { state.withLock { $0.hasSentPassword = true } }
            return credential
        }
    }

    // MARK: Response and data

    func didReceive(_ response: TransportResponse) -> TransportDecision<TransportDisposition> {
        guard let modifier = conditions.responseModifier, let head = response.urlResponse as? HTTPURLResponse,
            !(request.isConditional && head.statusCode == 304)
        else { return judge(response) }
        return .later { [self] in
            guard let modified = await modifier.modified(for: head) else {
                fail(.responseError(reason: .responseRejected(response: head)))
                return .cancel
            }
            switch judge(TransportResponse(modified)) {
            case .now(let disposition): return disposition
            case .later(let disposition): return await disposition()
            }
        }
    }

    /// Decides whether the body of a response is wanted, and has the delegate decide.
    private func judge(_ response: TransportResponse) -> TransportDecision<TransportDisposition> {
        let goesOn = state.withLock { state in
            state.response = state.hops.isEmpty ? response : TransportResponse(response, after: state.hops)
            return state.failure == nil && state.goesOn(with: response)
        }
        guard goesOn else { return .now(.cancel) }
        guard let judgement = owner?.judgement(of: response, to: self) else {
            guard accepts(response, status: { 200..<400 ~= $0 }) else { return .now(.cancel) }
            receiveBeginning()
            return .now(.allow)
        }
        return .later { [self] in
            guard await judgement() else {
                // Why it is not accepted counts, if it is not.
                fail(.responseError(reason: .cancelledByDelegate(response: response.urlResponse)))
                return .cancel
            }
            receiveBeginning()
            return .allow
        }
    }

    /// The memory of the bytes, for the images made of them.
    private func takeShare() -> BytesInFlight.Share? {
        state.withLock { state in
            defer { state.share = nil }
            return state.share
        }
    }

    /// Checks the head of the response, and records why it is refused.
    ///
    /// The function judges its status, unless the conditions say which are accepted.
    func accepts(_ response: TransportResponse, status isUsual: (Int) -> Bool) -> Bool {
        let beginning = response.statusCode == 206 ? state.withLock { $0.partial } : nil
        if let status = response.statusCode, status != 304 || conditions.isConditional,
            status != 206 || beginning != nil || conditions.hasRange(response),
            conditions.acceptsStatus(beginning == nil ? status : 200, orIf: isUsual)  // the user has asked for no part
        {
            guard !conditions.acceptsType(of: response), let head = response.urlResponse as? HTTPURLResponse else {
                return expect(response, after: beginning)
            }
            fail(.responseError(reason: .invalidContentType(response: head)))
            return false
        }
        let head = response.urlResponse
        let failure: KingfisherError.ResponseErrorReason =
            if let http = head as? HTTPURLResponse {
                http.statusCode == 304 && !conditions.isConditional
                    ? .notModified(response: http) : .invalidHTTPStatusCode(response: http)
            } else {
                .invalidURLResponse(response: head)
            }
        fail(.responseError(reason: failure))
        return false
    }

    private func expect(_ response: TransportResponse, after beginning: PartialBody?) -> Bool {
        let announced = beginning.map { Int64($0.total) } ?? response.expectedContentLength
        guard announced <= Int64(limit) else {
            tooLarge()
            return false
        }
        if announced > 0 { sessionTask.expect(Int(announced)) }
        // A coded body is counted after decoding, its length is announced before: they cannot be compared.
        state.withLock { $0.expected = response.isCoded ? -1 : announced }
        return true
    }

    /// Takes the bytes that an earlier try left, when their rest is about to come.
    private func receiveBeginning() {
        let beginning = state.withLock { $0.response?.statusCode == 206 ? $0.partial : nil }
        if let beginning { _ = didReceive(beginning.data) }
    }

    private func tooLarge() { fail(.responseError(reason: .responseTooLarge(task: sessionTask, limit: limit))) }

    func didReceive(_ data: Data) -> TransportDecision<Void> {
        guard !hasFailed else { return .now(()) }
        let received = sessionTask.append(data)
        guard received <= limit else {
            tooLarge()
            return .now(())
        }
        let expected = state.withLock { $0.expected }
        let piece = ReceivedPiece(task: sessionTask, data: data, received: Int64(received), expected: expected)
        state.withLock { $0.task }?.didReceive(piece)
        let share = state.withLock { state in
            if state.share == nil { state.share = bytesInFlight.share() }
            return state.share
        }
        guard let space = share?.add(data.count) else { return .now(()) }
        return .later { await space.value }
    }

    func didCollect(_ metrics: TransportMetrics) { sessionTask.collected(NetworkMetrics(metrics)) }

    func didComplete(_ error: TransportError?) {
        let startsAnew = state.withLock { state in
            defer { state.startsAnew = false }
            return state.startsAnew && state.failure == nil
        }
        if startsAnew { return send(continuing: nil) }
        sessionTask.task.completed()
        if error?.code == .dataLengthExceedsMaximum { tooLarge() }
        let (response, share) = state.withLock { ($0.response, $0.share) }
        share?.stopReading()
        if error == nil, isCutShort {
            failTransport(.networkConnectionLost, "the server ended the response before all announced bytes had come")
        }
        let failure = state.withLock { $0.failure }
        let result: Result<Data, KingfisherError> =
            if let failure {
                .failure(failure)
            } else if let error {
                .failure(.responseError(reason: .URLSessionError(error: error.urlError)))
            } else if response == nil {
                .failure(.responseError(reason: .noURLResponse(task: sessionTask)))
            } else if response?.statusCode == 304, let head = response?.urlResponse as? HTTPURLResponse {
                // The request was conditional, so this is no failure of the server; but there is nothing to make an
                // image of.
                .failure(.responseError(reason: .invalidHTTPStatusCode(response: head)))
            } else {
                .success(sessionTask.sharedData)
            }
        if case .failure(let error) = result {
            _ = takeShare()
            if let response, response.statusCode == 304 {
                state.withLock { $0.task }?.didConfirm(CacheMetadata(of: response, to: request))
            }
            if let body = bodyToKeep(after: error) { owner?.keep(body, for: self) }
        }
        state.withLock { $0.task }?.willArrive()
        arrived.fulfil(result)
    }

    /// Whether bytes are missing that the head of the response announced.
    private var isCutShort: Bool {
        let (response, expected) = state.withLock { ($0.response, $0.expected) }
        return 200..<300 ~= response?.statusCode ?? 0 && request.httpMethod != "HEAD"
            && sessionTask.sharedData.count < expected
    }
}

extension Transfer {
    /// The beginning of a body for the next try, which a failure leaves.
    private func bodyToKeep(after error: KingfisherError) -> PartialBody? {
        let (beginning, response) = state.withLock { ($0.partial, $0.response) }
        if let beginning, response?.statusCode != 206 { return beginning }
        guard error.isInterruption, let response, key.mayRecur else { return nil }
        if let beginning { return beginning.continued(by: sessionTask.sharedData) }
        return PartialBody(sessionTask.sharedData, of: response)
    }
}

extension KingfisherError {
    /// Whether more of a body might have come.
    fileprivate var isInterruption: Bool {
        if case .responseError(.URLSessionError) = self { true } else { isCancelled }
    }
}
