// One transfer and its policy: redirects, statuses, sizes. For the byte loader; the transport moves the bytes.

import Foundation
import KFSupport
import KFTransport

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
        /// The memory its bytes may take; what is made of them takes it over.
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

    /// The request, and the conditions under which it is sent.
    struct Conditions: Sendable {
        let request: URLRequest
        let policy: TransportPolicy
        var redirectHandler: (any ImageDownloadRedirectHandler)?
        var responseModifier: (any ImageDownloadResponseModifier)?
        var decryptor: (any ImageDataDecryptor)?
        var dataModifier: (any ImageDownloadDataModifier)?
        /// nil: the delegate decides.
        var acceptableStatusCodes: Set<Int>?
        /// nil: any.
        var acceptableContentTypes: Set<String>?
        /// Which purge was the last one before: what began before a purge is not joined after it.
        var generation: UInt64?
    }

    let key: TransferKey
    let sessionTask: SessionDataTask
    let conditions: Conditions
    private weak let loader: ByteLoader?
    private let state = Locked(State())
    /// What has arrived, once nothing more will.
    private let arrived = Promise<Result<Data, KingfisherError>>()

    init(_ conditions: Conditions, key: TransferKey, loader: ByteLoader) {
        self.conditions = conditions
        self.key = key
        self.loader = loader
        sessionTask = SessionDataTask(conditions.request)
    }

    /// The request of the first hop.
    var request: URLRequest { conditions.request }

    /// Whether the rest of an interrupted body may be requested: its response must be seen as the server sent it.
    var mayContinue: Bool { conditions.responseModifier == nil && PartialBody.mayContinue(request) }

    /// The largest body accepted.
    private var limit: Int { conditions.policy.maximumBodySize }

    /// The bytes of the response; the request is sent before this first suspends.
    func bytes(for task: SharedTask<TransferKey, LoadedBytes>) async throws(KingfisherError) -> LoadedBytes {
        guard let loader else { throw .requestError(reason: .asyncTaskContextCancelled) }
        state.withLock { $0.task = task }
        defer { state.withLock { $0.task = nil } }
        if let url = request.url, let link = loader.delegateLink {
            link.delegate.imageDownloader(link.downloader, willDownloadImageForURL: url, with: request)
        }
        // The delegate's code may have cancelled it.
        if let failure = task.failure {
            fail(failure)
            didComplete(nil)
        } else {
            send(continuing: loader.takePartialBody(for: self))
        }
        let result = await arrived.value { fail(task.failure ?? task.cancellation(of: 0)) }
        let response = state.withLock { $0.response }
        let data = try await loader.finished(self, with: result, response: response)
        return LoadedBytes(data, of: self, response, largestSide: LoadedBytes.largestSide(for: task.subscribers))
    }

    /// Sends the request, for the rest of a body if there is a beginning.
    private func send(continuing partial: PartialBody?) {
        guard let loader else { return }
        state.withLock { ($0.partial, $0.hops) = (partial, []) }
        let sent = partial?.rest(of: request) ?? request
        let task = loader.transport.start(sent, policy: conditions.policy, events: self)
        sessionTask.task.started(task)
    }

    /// Whether a redirect handler took a redirect as the response.
    var isRedirectDeclined: Bool { state.withLock { $0.isRedirectDeclined } }

    /// Whether credentials were sent: what came is for those who have them.
    var isPersonal: Bool { request.hasCredentials || state.withLock { $0.hasSentPassword } }

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
        let limit = loader?.settings.withLock { $0.maximumRedirectCount } ?? 0
        guard redirects <= limit else {
            failTransport(.httpTooManyRedirects, "more than \(limit) redirects")
            return .now(nil)
        }
        let leaving = response.url ?? request.url
        let stripped = proposed.removing(loader?.fieldsRemovedAcrossOrigins ?? [], leaving: leaving)
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
        guard let link = loader?.responderLink else { return .now(.none) }
        let sessionTask = sessionTask
        return .later { [self] in
            let credential = await link.credential(for: challenge, of: sessionTask)
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
        let statuses = conditions.acceptableStatusCodes
        guard let link = loader?.delegateLink else {
            guard accepts(response, status: { statuses?.contains($0) ?? (200..<400 ~= $0) }) else {
                return .now(.cancel)
            }
            receiveBeginning()
            return .now(.allow)
        }
        return .later { [self] in
            let isAccepted = await WorkExecutor.userCode.run { [self] in
                accepts(response) {
                    statuses?.contains($0) ?? link.delegate.isValidStatusCode($0, for: link.downloader)
                }
            }
            guard isAccepted else { return .cancel }
            let head = response.urlResponse
            guard await link.delegate.imageDownloader(link.downloader, didReceive: head) == .cancel else {
                receiveBeginning()
                return .allow
            }
            fail(.responseError(reason: .cancelledByDelegate(response: head)))
            return .cancel
        }
    }

    /// The memory of the bytes, for what is made of them.
    func takeShare() -> BytesInFlight.Share? {
        state.withLock { state in
            defer { state.share = nil }
            return state.share
        }
    }

    /// Checks the head of the response, and records why it is refused.
    private func accepts(_ response: TransportResponse, status isValid: (Int) -> Bool) -> Bool {
        let beginning = response.statusCode == 206 ? state.withLock { $0.partial } : nil
        if let status = response.statusCode, status != 304 || isConditional,
            status != 206 || beginning != nil || hasRange(response),
            isValid(beginning == nil ? status : 200)  // a part was asked for by this library, not by its user
        {
            return hasAcceptableType(response) && expect(response, after: beginning)
        }
        let head = response.urlResponse
        let failure: KingfisherError.ResponseErrorReason =
            if let http = head as? HTTPURLResponse {
                http.statusCode == 304 && !isConditional
                    ? .notModified(response: http) : .invalidHTTPStatusCode(response: http)
            } else {
                .invalidURLResponse(response: head)
            }
        fail(.responseError(reason: failure))
        return false
    }

    /// Whether the media type of a response is an accepted one; where none is given, it is not checked.
    private func hasAcceptableType(_ response: TransportResponse) -> Bool {
        guard let accepted = conditions.acceptableContentTypes,
            let type = response.value(forHTTPHeaderField: "Content-Type")?.prefix(while: { $0 != ";" }),
            let head = response.urlResponse as? HTTPURLResponse
        else { return true }
        let name = type.trimmingCharacters(in: .whitespaces).lowercased()
        let family = name.prefix { $0 != "/" } + "/*"
        guard !accepted.contains(where: { [name, String(family), "*/*"].contains($0.lowercased()) }) else {
            return true
        }
        fail(.responseError(reason: .invalidContentType(response: head)))
        return false
    }

    /// Whether the request is conditional, so that "not modified" and the like are responses to it.
    private var isConditional: Bool {
        let conditions = ["If-None-Match", "If-Modified-Since", "If-Range"]
        return conditions.contains { request.value(forHTTPHeaderField: $0) != nil }
    }

    /// Whether a part of the body was asked for, and it is that part.
    private func hasRange(_ response: TransportResponse) -> Bool {
        guard let wanted = request.value(forHTTPHeaderField: "Range"), wanted.hasPrefix("bytes="),
            let given = response.value(forHTTPHeaderField: "Content-Range"), given.hasPrefix("bytes ")
        else { return false }
        let first = wanted.dropFirst(6).prefix { $0 != "-" }
        // Of the last so many bytes ("bytes=-500") the first is not known.
        return first.isEmpty || first == given.dropFirst(6).prefix { $0 != "-" }
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
            if state.share == nil { state.share = loader?.bytesInFlight.share() }
            return state.share
        }
        guard let room = share?.add(data.count) else { return .now(()) }
        return .later { await room.value }
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
            if let body = bodyToKeep(after: error) { loader?.keep(body, for: self) }
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
