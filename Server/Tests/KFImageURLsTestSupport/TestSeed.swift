// Where tests of random cases begin: at another number each time, or at the one of the environment.

import Foundation

/// The seed of random tests, printed once, so that a failure can be had again with `KF_TEST_SEED` in the environment.
package enum TestSeed {
    /// The seed of this run.
    package static let value: UInt64 = {
        let given = ProcessInfo.processInfo.environment["KF_TEST_SEED"].flatMap { UInt64($0) }
        let seed = given ?? UInt64.random(in: 0...999_999_999)
        print("KF_TEST_SEED=\(seed)")
        return seed
    }()

    /// The generator of one case: a failure in it does not depend on the cases before.
    package static func generator(_ number: Int) -> MutatedPaths.Generator {
        MutatedPaths.Generator(state: value &* 1_000_003 &+ UInt64(truncatingIfNeeded: number))
    }
}
