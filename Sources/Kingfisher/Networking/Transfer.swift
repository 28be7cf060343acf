// One transfer's policy: redirects, statuses, sizes, hooks. The transport moves bytes; which callers wait is the byte
// loader's business.

import Foundation
import KFSupport
import KFTransport

/// Follows one transfer for the byte loader and makes the decisions the transport needs.
final class Transfer: TransportEvents {
    /// How a transfer ended.
    struct Ending: Sendable {
        var response: TransportResponse?
        var result: Result<Data, KingfisherError>
    }

    private struct State: Sendable {
        var response: TransportResponse?
        var failure: KingfisherError?
        var expected: Int64 = -1
        var redirects = 0
        var isStopped = false
        var isAnnounced = false
        var redirectHandler: (any ImageDownloadRedirectHandler)?
        var isRedirectDeclined = false
        /// The memory its bytes may take; what is made of them takes it over.
        var share: BytesInFlight.Share?
    }

    static let redirectLimit = 20

    let request: URLRequest
    let sessionTask: SessionDataTask
    private let limit: Int
    private weak let loader: ByteLoader?
    let key: TransferKey
    let round: Int
    private let state = Locked(State())

    init(_ request: URLRequest, key: TransferKey, round: Int, limit: Int, loader: ByteLoader) {
        self.request = request
        self.key = key
        self.round = round
        self.limit = limit
        self.loader = loader
        sessionTask = SessionDataTask(originalURL: request.url)
    }

    /// Starts the transfer, unless all callers have left already.
    func start(on transport: any Transport, policy: TransportPolicy, priority: Float) {
        guard !state.withLock({ $0.isStopped }) else { return }
        let task = transport.start(request, policy: policy, events: self)
        task.priority = priority
        sessionTask.started(task)
        // A failure while the transport was starting could not cancel the task, which did not exist yet.
        if state.withLock({ $0.isStopped || $0.failure != nil }) { task.cancel() }
    }

    /// Notes that the delegate is about to be notified of the transfer; false when all callers have left already.
    func announce() -> Bool {
        state.withLock { state in
            state.isAnnounced = !state.isStopped
            return state.isAnnounced
        }
    }

    /// The head of the response, once it has arrived.
    var response: TransportResponse? { state.withLock { $0.response } }

    /// Whether a redirect handler took a redirect as the response.
    var isRedirectDeclined: Bool { state.withLock { $0.isRedirectDeclined } }

    /// Stops the transfer, which has no callers left.
    ///
    /// Returns whether the delegate had been notified of it.
    func stop() -> Bool {
        let isAnnounced = state.withLock { state in
            state.isStopped = true
            return state.isAnnounced
        }
        sessionTask.task?.cancel()
        return isAnnounced
    }

    /// Ends the transfer with an error of ours instead of the transport's.
    private func fail(_ failure: KingfisherError) {
        state.withLock { $0.failure = $0.failure ?? failure }
        sessionTask.task?.cancel()
    }

    // MARK: Redirects

    func willRedirect(_ response: HTTPURLResponse, to proposed: URLRequest) -> TransportDecision<URLRequest?> {
        let redirects = state.withLock { state in
            state.redirects += 1
            return state.redirects
        }
        guard redirects <= Self.redirectLimit else {
            failTransport(.httpTooManyRedirects, "more than \(Self.redirectLimit) redirects")
            return .now(nil)
        }
        let leaving = response.url ?? request.url
        let stripped = proposed.removing(loader?.fieldsRemovedAcrossOrigins ?? [], leaving: leaving)
        guard let handler = fixedRedirectHandler() else {
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
            if next == nil { state.withLock { $0.isRedirectDeclined = true } }
            return next
        }
    }

    /// The handler of the first caller that has one, the same for every hop.
    private func fixedRedirectHandler() -> (any ImageDownloadRedirectHandler)? {
        if let handler = state.withLock({ $0.redirectHandler }) { return handler }
        let handler = loader?.redirectHandler(of: self)
        state.withLock { $0.redirectHandler = handler }
        return handler
    }

    private func failTransport(_ code: URLError.Code, _ message: String) {
        fail(.responseError(reason: .URLSessionError(error: TransportError(code, message, url: request.url).urlError)))
    }

    // MARK: Response and data

    func didReceive(_ response: TransportResponse) -> TransportDecision<TransportDisposition> {
        let hasFailed = state.withLock { state in
            state.response = response
            return state.failure != nil
        }
        guard !hasFailed else { return .now(.cancel) }
        guard let (downloader, delegate) = loader?.delegateAndDownloader else {
            return .now(accepts(response) { (200..<400).contains($0) } ? .allow : .cancel)
        }
        return .later { [self] in
            let isAccepted = await WorkExecutor.io.run { [self] in
                accepts(response) { delegate.isValidStatusCode($0, for: downloader) }
            }
            guard isAccepted else { return .cancel }
            let head = response.urlResponse
            guard await delegate.imageDownloader(downloader, didReceive: head) == .cancel else { return .allow }
            state.withLock { $0.failure = .responseError(reason: .cancelledByDelegate(response: head)) }
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
        if let status = response.statusCode, status != 304 || isConditional, status != 206 || hasRange(response),
            isValid(status)
        {
            return expect(response)
        }
        let head = response.urlResponse
        let failure: KingfisherError.ResponseErrorReason =
            if let http = head as? HTTPURLResponse {
                http.statusCode == 304 && !isConditional
                    ? .notModified(response: http) : .invalidHTTPStatusCode(response: http)
            } else {
                .invalidURLResponse(response: head)
            }
        state.withLock { $0.failure = .responseError(reason: failure) }
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

    private func expect(_ response: TransportResponse) -> Bool {
        let announced = response.expectedContentLength
        guard announced <= Int64(limit) else {
            tooLarge()
            return false
        }
        if announced > 0 { sessionTask.expect(Int(announced)) }
        // A coded body is counted after decoding, its length is announced before: they cannot be compared.
        let coding = response.value(forHTTPHeaderField: "Content-Encoding")
        let isPlain = coding == nil || coding?.lowercased() == "identity"
        state.withLock { $0.expected = isPlain ? announced : -1 }
        return true
    }

    private func tooLarge() {
        state.withLock {
            $0.failure = $0.failure ?? .responseError(reason: .responseTooLarge(task: sessionTask, limit: limit))
        }
    }

    func didReceive(_ data: Data) -> TransportDecision<Void> {
        guard state.withLock({ $0.failure == nil && !$0.isStopped }) else { return .now(()) }
        let received = sessionTask.append(data)
        guard received <= limit else {
            tooLarge()
            sessionTask.task?.cancel()
            return .now(())
        }
        loader?.report(Int64(received), of: state.withLock { $0.expected }, for: self)
        let share = state.withLock { state in
            if state.share == nil { state.share = loader?.bytesInFlight.share() }
            return state.share
        }
        guard let room = share?.add(data.count) else { return .now(()) }
        return .later { await room.value }
    }

    func didCollect(_ metrics: TransportMetrics) { sessionTask.collected(NetworkMetrics(metrics)) }

    func didComplete(_ error: TransportError?) {
        if error?.code == .dataLengthExceedsMaximum { tooLarge() }
        let (response, failure, share) = state.withLock { ($0.response, $0.failure, $0.share) }
        share?.stopReading()
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
        if case .failure = result { _ = takeShare() }
        loader?.finished(self, Ending(response: response, result: result))
    }
}

/// What makes two requests one transfer.
struct TransferKey: Hashable, Sendable {
    private let url: URL?
    private let method: String
    private let fields: [String: String]
    private let body: Data?
    private let allowsConstrainedNetworkAccess: Bool
    private let addressPolicy: AddressPolicy

    init(_ request: URLRequest, _ policy: TransportPolicy) {
        url = request.url
        method = request.httpMethod ?? "GET"
        fields = request.allHTTPHeaderFields ?? [:]
        body = request.httpBody
        allowsConstrainedNetworkAccess = policy.allowsConstrainedNetworkAccess
        addressPolicy = policy.addressPolicy
    }

    /// Requests for one URL are few; hashing all their fields would take longer than comparing them.
    func hash(into hasher: inout Hasher) { hasher.combine(url) }
}
