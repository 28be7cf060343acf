//! Retries of failures that pass, and waiting for the network.
import Kingfisher

KingfisherManager.shared.defaultOptions = [.retryStrategy(DelayRetryStrategy.transient)]
let onLaptops: KingfisherOptionsInfo = [.retryStrategy(NetworkRetryStrategy(timeoutInterval: 60))]
