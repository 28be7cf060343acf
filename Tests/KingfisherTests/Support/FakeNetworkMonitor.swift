// A network that a test switches on and off.

import Foundation
import KFSupport
import Kingfisher

/// Reports what a test says.
final class FakeNetworkMonitor: NetworkMonitoring {
    final class Observer: NetworkObserver {
        private struct State: Sendable {
            var callback: (@Sendable (Bool) -> Void)?
        }
        let timeoutInterval: TimeInterval?
        /// Fulfilled when the wait has been cancelled.
        let cancelled = Promise<Void>()
        private let state: Locked<State>

        init(_ timeoutInterval: TimeInterval?, _ callback: @escaping @Sendable (Bool) -> Void) {
            self.timeoutInterval = timeoutInterval
            state = Locked(State(callback: callback))
        }

        var isCancelled: Bool { cancelled.valueIfFulfilled != nil }

        /// Reports the state, unless the wait has ended.
        func report(_ isConnected: Bool) {
            let callback = state.withLock { state in
                defer { state.callback = nil }
                return state.callback
            }
            callback?(isConnected)
        }

        func cancel() {
            state.withLock { $0.callback = nil }
            cancelled.fulfil(())
        }
    }

    private let connected: Box<Bool>
    /// Whether observers are called before they are returned.
    private let reportsAtOnce: Bool
    private let all = Box<[Observer]>([])
    /// The first observer, once there is one.
    let first = Promise<Observer>()

    init(isConnected: Bool, reportsAtOnce: Bool = false) {
        connected = Box(isConnected)
        self.reportsAtOnce = reportsAtOnce
    }

    var isConnected: Bool {
        get { connected.value }
        set { connected.value = newValue }
    }
    var observers: [Observer] { all.value }

    func observeConnectivity(
        timeoutInterval: TimeInterval?,
        callback: @escaping @Sendable (Bool) -> Void
    ) -> any NetworkObserver {
        let observer = Observer(timeoutInterval, callback)
        all.change { $0.append(observer) }
        first.fulfil(observer)
        if reportsAtOnce { observer.report(true) }
        return observer
    }
}

/// What retry strategies are asked about, and what they decide.
enum Failure {
    static let url = URL(fileURLWithPath: "/dev/null")
    static let source = Source.provider(RawImageDataProvider(data: Data(), cacheKey: "k"))
    static let connection = transfer(.networkConnectionLost)

    static func transfer(_ code: URLError.Code) -> KingfisherError {
        .responseError(reason: .URLSessionError(error: URLError(code)))
    }

    static func status(_ status: Int, _ headers: [String: String] = [:]) -> KingfisherError {
        let response = HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: headers)
        guard let response else { return .cacheError(reason: .imageNotExisting(key: "no response")) }
        return .responseError(reason: .invalidHTTPStatusCode(response: response))
    }
}

extension RetryDecision {
    var isStop: Bool { if case .stop = self { true } else { false } }
    /// Whether it is a retry that carries nothing.
    var isPlainRetry: Bool { if case .retry(nil) = self { true } else { false } }
    var observer: FakeNetworkMonitor.Observer? {
        if case .retry(let info) = self { info as? FakeNetworkMonitor.Observer } else { nil }
    }
}

extension RetryStrategy {
    /// The decision, if the handler is called before the method returns.
    func immediateDecision(for context: RetryContext) -> RetryDecision? {
        let decision = Promise<RetryDecision>()
        retry(context: context) { decision.fulfil($0) }
        return decision.valueIfFulfilled
    }
}
