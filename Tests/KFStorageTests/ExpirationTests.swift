// Expirations as instants and as lengths of time: EXP-1 to EXP-6.

import Foundation
import Testing

@testable import KFStorage

@Suite struct ExpirationTests {
    let now = Date(timeIntervalSince1970: 1_000_000)

    @Test func anInstantForEveryExpiration() {
        #expect(StorageExpiration.never.estimatedExpiration(since: now) == .distantFuture)
        #expect(StorageExpiration.seconds(10).estimatedExpiration(since: now) == now + 10)
        #expect(StorageExpiration.days(2).estimatedExpiration(since: now) == now + 172_800)
        #expect(StorageExpiration.date(now - 5).estimatedExpiration(since: now) == now - 5)
        #expect(StorageExpiration.expired.estimatedExpiration(since: now) == .distantPast)
    }

    @Test func aLengthForEveryExpiration() {
        #expect(StorageExpiration.never.timeInterval(since: now) == .infinity)
        #expect(StorageExpiration.seconds(10).timeInterval(since: now) == 10)
        #expect(StorageExpiration.days(2).timeInterval(since: now) == 172_800)
        #expect(StorageExpiration.date(now - 5).timeInterval(since: now) == -5)
        #expect(StorageExpiration.expired.timeInterval(since: now) == -.infinity)
    }

    @Test(arguments: [
        StorageExpiration.seconds(0), .seconds(-1), .days(0), .days(-1), .date(.distantPast), .expired,
    ])
    func zeroNegativeAndPastAreExpired(expiration: StorageExpiration) { #expect(expiration.isExpired) }

    @Test(arguments: [StorageExpiration.never, .seconds(0.001), .days(1), .date(.distantFuture)])
    func whatLiesAheadIsNotExpired(expiration: StorageExpiration) { #expect(!expiration.isExpired) }

    @Test func noNumberOfDaysOverflows() {
        #expect(!StorageExpiration.days(.max).isExpired)
        #expect(StorageExpiration.days(.min).isExpired)
        #expect(StorageExpiration.days(.max).estimatedExpiration(since: now) > now)
    }

    @Test func theSameInstantIsPast() {
        #expect(now.isPast(referenceDate: now))
        #expect(!now.isPast(referenceDate: now - 0.001))
    }

    @Test func extendingKeepsRestartsOrReplaces() {
        #expect(ExpirationExtending.none.expiry(readAt: now, original: .seconds(5)) == nil)
        #expect(ExpirationExtending.cacheTime.expiry(readAt: now, original: .seconds(5)) == now + 5)
        #expect(ExpirationExtending.cacheTime.expiry(readAt: now, original: .date(now + 1)) == now + 1)
        #expect(ExpirationExtending.expirationTime(.days(1)).expiry(readAt: now, original: .seconds(5)) == now + 86_400)
    }
}
