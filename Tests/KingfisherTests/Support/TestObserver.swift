// Follows a load with closures. For tests of what loads are asked and notified of.

@testable import Kingfisher

final class TestObserver: LoadObserver {
    private let wanted: @Sendable () -> Bool
    private let started: @Sendable (LoadOrigin) -> Void
    private let subscribed: @Sendable (any TaskSubscription) -> Void

    init(
        isWanted: @escaping @Sendable () -> Bool = { true },
        started: @escaping @Sendable (LoadOrigin) -> Void = { _ in },
        subscribed: @escaping @Sendable (any TaskSubscription) -> Void = { _ in }
    ) { (wanted, self.started, self.subscribed) = (isWanted, started, subscribed) }

    var isWanted: Bool { wanted() }
    func didStart(from origin: LoadOrigin) { started(origin) }
    func didSubscribe(_ subscription: any TaskSubscription) { subscribed(subscription) }
}
