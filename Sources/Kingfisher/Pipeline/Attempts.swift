// What a load tries, one after the other: its source, as often as the retry strategy says, then the alternatives. For
// loads of images and prefetches.

import Foundation
import KFSupport

/// The attempts of one load.
struct Attempts {
    private let manager: KingfisherManager
    /// Nil for a prefetch of bytes.
    private let load: Load?
    private var options: KingfisherParsedOptionsInfo
    private var source: Source
    /// What is tried next.
    private var plan: LoadPlan?
    private var alternatives: ArraySlice<Source>
    private var failures: [PropagationError] = []
    /// The failures of the source so far.
    private var retried: RetryContext?

    init(_ source: Source, _ options: KingfisherParsedOptionsInfo, for load: Load? = nil, by manager: KingfisherManager)
    {
        (self.source, self.options, self.load, self.manager) = (source, options, load, manager)
        alternatives = options.alternativeSources?[...] ?? []
    }

    /// Makes attempts until one succeeds or nothing is left to try; keeps in mind which URLs have failed for good.
    mutating func run<Value>(
        _ attempt: (LoadPlan) async throws(KingfisherError) -> Value
    ) async throws(KingfisherError) -> Value {
        while true {
            do throws(KingfisherError) {
                let value = try await attempt(try nextPlan())
                manager.didLoad(source)
                return value
            } catch {
                if try await isRetried(after: error) { continue }
                manager.didFail(source, options, with: error)
                try goOn(after: error)
            }
        }
    }

    /// The plan for the present source; throws if it is not tried at all.
    private mutating func nextPlan() throws(KingfisherError) -> LoadPlan {
        if let plan { return plan }
        try manager.checkMayBeTried(source, options)
        load?.previews?.begin()
        let made = LoadPlan(source, options)
        plan = made
        return made
    }

    /// Whether the source is tried again, which the retry strategy decides; not when the load is cancelled.
    private mutating func isRetried(after error: KingfisherError) async throws(KingfisherError) -> Bool {
        guard plan != nil, !error.isCancelled, load?.isWanted ?? true, let strategy = options.retryStrategy else {
            return false
        }
        let context = retried ?? RetryContext(source: source, error: error)
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
    private mutating func goOn(after error: KingfisherError) throws(KingfisherError) {
        // For a load that nobody wants no other source is tried; a cancelled one ends as such.
        if error.isCancelled { throw error }
        if let load {
            if load.isCancelled { throw .requestError(reason: .asyncTaskContextCancelled) }
            if !load.isWanted { throw error }
            load.willTryAgain()
        }
        (plan, retried) = (nil, nil)
        if error.isLowDataModeConstrained {
            guard let saving = options.lowDataModeSource else { throw error }
            options.lowDataModeSource = nil
            return source = saving
        }
        failures.append(PropagationError(source: source, error: error))
        if let next = alternatives.popFirst() { return source = next }
        if failures.count == 1 { throw error }
        throw .imageSettingError(reason: .alternativeSourcesExhausted(failures))
    }
}
