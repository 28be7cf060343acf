// The option of retries.

extension KingfisherParsedOptionsInfo {
    private enum RetryStrategyKey: OptionKey { typealias Value = any RetryStrategy }

    /// Decides whether a failed load is tried again.
    public var retryStrategy: (any RetryStrategy)? {
        get { self[RetryStrategyKey.self] }
        set { self[RetryStrategyKey.self] = newValue }
    }
}
