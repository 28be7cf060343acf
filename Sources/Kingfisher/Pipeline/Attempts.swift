// What a load tries, one after the other: its source, as often as the retry strategy says, then the alternatives. For
// loads of images and prefetches.

import Foundation
import KFSupport

/// The attempts of one load.
struct Attempts {
    private let manager: KingfisherManager
    /// Nil for a prefetch of bytes.
    private let load: Load?
    /// What is tried next.
    private var plan: LoadPlan
    /// Whether it has been tried.
    private var isBegun = false
    private var alternatives: ArraySlice<Source>
    private var failures: [PropagationError] = []
    /// The failures of the source so far.
    private var retried: RetryContext?

    init(_ plan: LoadPlan, for load: Load? = nil, by manager: KingfisherManager) {
        (self.plan, self.load, self.manager) = (plan, load, manager)
        alternatives = plan.options.alternativeSources?[...] ?? []
    }

    /// Makes attempts until one succeeds or nothing is left to try; keeps in mind which URLs have failed for good.
    mutating func run<Value>(
        _ attempt: (LoadPlan) async throws(KingfisherError) -> Value
    ) async throws(KingfisherError) -> Value {
        while true {
            do throws(KingfisherError) {
                try checkSource()
                let value = try await attempt(plan)
                manager.didLoad(plan.source)
                return value
            } catch {
                if try await isRetried(after: error) { continue }
                manager.didFail(plan.source, plan.options, with: error)
                try nextSource(after: error)
            }
        }
    }

    /// Throws for a source that is not tried at all.
    private mutating func checkSource() throws(KingfisherError) {
        guard !isBegun else { return }
        try manager.checkIsAllowed(plan.source, plan.options)
        load?.previews?.begin()
        isBegun = true
    }

    /// Whether the source is tried again, which the retry strategy decides; not when the load is cancelled.
    private mutating func isRetried(after error: KingfisherError) async throws(KingfisherError) -> Bool {
        guard isBegun, !error.isCancelled, load?.isWanted ?? true, let strategy = plan.options.retryStrategy else {
            return false
        }
        let context = retried ?? RetryContext(source: plan.source, error: error)
        retried = context
        context.fail(with: error)
        let decision = await strategy.firstDecision(for: context)
        guard !Task.isCancelled else { throw .requestError(reason: .asyncTaskContextCancelled) }
        guard case .retry(let info) = decision else { return false }
        context.countRetry(userInfo: info)
        load?.willTryAgain()
        return true
    }

    /// Goes on to the next source, or throws the error of the load.
    ///
    /// When the network is one to save data on, the low data mode source is tried in between, once.
    private mutating func nextSource(after error: KingfisherError) throws(KingfisherError) {
        // A load that is cancelled or superseded tries no other source.
        if error.isCancelled { throw error }
        if let load {
            if load.isCancelled { throw .requestError(reason: .asyncTaskContextCancelled) }
            if !load.isWanted { throw error }
            load.willTryAgain()
        }
        (isBegun, retried) = (false, nil)
        if error.isLowDataModeConstrained {
            guard let saving = plan.options.lowDataModeSource else { throw error }
            var options = plan.options
            options.lowDataModeSource = nil
            return plan = LoadPlan(saving, options)
        }
        failures.append(PropagationError(source: plan.source, error: error))
        if let next = alternatives.popFirst() { return plan = LoadPlan(next, plan.options) }
        if failures.count == 1 { throw error }
        throw .imageSettingError(reason: .alternativeSourcesExhausted(failures))
    }
}
