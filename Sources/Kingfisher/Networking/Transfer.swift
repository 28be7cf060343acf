// One transfer and its policy: redirects, statuses, sizes. For the byte loader; the transport moves the bytes.

import Foundation
import KFSupport
import KFTransport

/// One transfer for all its subscribers, and the decisions the transport needs.
final class Transfer: TransportEvents, FlightWork {
    private struct State: Sendable {
        /// Why there will be no bytes; once it is set, nothing that arrives counts.
        var failure: KingfisherError?
        var response: TransportResponse?
        var expected: Int64 = -1
        var redirects = 0
        var redirectHandler: (any ImageDownloadRedirectHandler)?
        var isRedirectDeclined = false
        /// The memory its bytes may take; what is made of them takes it over.
        var share: BytesInFlight.Share?
    }

    static let redirectLimit = 20

    let request: URLRequest
    let key: TransferKey
    let flight = Flight<LoadedBytes>()
    let sessionTask: SessionDataTask
    private let policy: TransportPolicy
    private weak let loader: ByteLoader?
    private let state = Locked(State())

    init(_ request: URLRequest, policy: TransportPolicy, key: TransferKey, loader: ByteLoader) {
        self.request = request
        self.policy = policy
        self.key = key
        self.loader = loader
        sessionTask = SessionDataTask(originalURL: request.url)
    }

    /// The largest body accepted.
    private var limit: Int { policy.maximumBodySize }

    func start() {
        guard let loader else { return }
        if let url = request.url, let (downloader, delegate) = loader.delegateAndDownloader {
            delegate.imageDownloader(downloader, willDownloadImageForURL: url, with: request)
        }
        // The delegate's code may have cancelled it.
        guard !hasFailed else { return didComplete(nil) }
        let task = loader.transport.start(request, policy: policy, events: self)
        task.priority = flight.priority
        sessionTask.started(task)
        // A failure while the transport was starting could not cancel the task, which did not exist yet.
        if hasFailed { task.cancel() }
    }

    func stop(_ error: KingfisherError) { fail(error) }

    func updatePriority() { sessionTask.task?.priority = flight.priority }

    func cancellation(of subscriber: Int) -> KingfisherError {
        .requestError(reason: .taskCancelled(task: sessionTask, token: subscriber))
    }

    /// Whether a redirect handler took a redirect as the response.
    var isRedirectDeclined: Bool { state.withLock { $0.isRedirectDeclined } }

    private var hasFailed: Bool { state.withLock { $0.failure != nil } }

    /// Ends the transfer with an error of ours instead of the transport's; the first one counts.
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

    /// The handler of the first subscriber that has one, the same for every hop.
    private func fixedRedirectHandler() -> (any ImageDownloadRedirectHandler)? {
        let first = flight.subscribers.lazy.compactMap(\.subscriber.redirectHandler).first
        return state.withLock { state in
            state.redirectHandler = state.redirectHandler ?? first
            return state.redirectHandler
        }
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
        fail(.responseError(reason: failure))
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

    private func tooLarge() { fail(.responseError(reason: .responseTooLarge(task: sessionTask, limit: limit))) }

    func didReceive(_ data: Data) -> TransportDecision<Void> {
        guard !hasFailed else { return .now(()) }
        let received = sessionTask.append(data)
        guard received <= limit else {
            tooLarge()
            return .now(())
        }
        let expected = state.withLock { $0.expected }
        for (_, subscriber) in flight.subscribers { subscriber.hooks.received?(Int64(received), expected) }
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
        loader?.finished(self, result, response)
    }
}

/// The key by which downloads share a transfer: all that is sent, and the conditions under which it may fail.
struct TransferKey: Hashable, Sendable {
    private let url: URL?
    private let method: String
    private let fields: [String: String]
    private let body: Data?
    private let policy: TransportPolicy

    init(_ request: URLRequest, _ policy: TransportPolicy) {
        url = request.url
        method = request.httpMethod ?? "GET"
        fields = request.allHTTPHeaderFields ?? [:]
        body = request.httpBody
        var policy = policy
        policy.order = .oldestFirst  // when it goes out is no condition
        self.policy = policy
    }

    /// Requests for one URL are few; hashing all their fields would take longer than comparing them.
    func hash(into hasher: inout Hasher) { hasher.combine(url) }
}
