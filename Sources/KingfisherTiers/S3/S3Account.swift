// Who asks a store, and by which clock: what requests to all buckets have in common. For S3Client, S3Tier and S3Reader.

import Foundation
import KFSupport

/// Credentials and signatures for one region of a store.
final class S3Account: Sendable {
    let keeper: S3CredentialKeeper
    let signature: SignatureV4
    private let clock: @Sendable () -> Date
    /// By how many seconds the clock of the store is before this machine's, once it has refused the time.
    private let clockOffset = Locked(0.0)

    init(region: String, credentials: S3CredentialSource, clock: @escaping @Sendable () -> Date = { Date() }) {
        (keeper, signature) = (S3CredentialKeeper(credentials), SignatureV4(region: region))
        self.clock = clock
    }

    /// The time, by the store's clock if that is known to be another one.
    var now: Date { clock() + clockOffset.withLock { $0 } }

    /// From now on goes by the store's clock.
    func setTime(_ date: Date) {
        let offset = date.timeIntervalSince(clock())
        clockOffset.withLock { $0 = offset }
    }
}
