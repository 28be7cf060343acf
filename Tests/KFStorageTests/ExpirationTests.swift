// Expirations as instants and as lengths of time: EXP-1 to EXP-6.

import Foundation
import Testing

@testable import KFStorage

@Suite struct ExpirationTests {
    let now = Date(timeIntervalSince1970: 1_000_000)

    @Test("An instant for every expiration")
    func estimatedExpiration() {
        #expect(StorageExpiration.never.estimatedExpiration(since: now) == .distantFuture)
        #expect(StorageExpiration.seconds(10).estimatedExpiration(since: now) == now + 10)
        #expect(StorageExpiration.days(2).estimatedExpiration(since: now) == now + 172_800)
        #expect(StorageExpiration.date(now - 5).estimatedExpiration(since: now) == now - 5)
        #expect(StorageExpiration.expired.estimatedExpiration(since: now) == .distantPast)
    }

    @Test("A day has 86,400 seconds, and beyond the distant future nothing expires")
    func lengths() {
        #expect(StorageExpiration.seconds(7).expiry(since: 3) == 10)
        #expect(StorageExpiration.days(2).expiry(since: 3) == 172_803)
        #expect(StorageExpiration.never.expiry(since: 3) == .infinity)
        #expect(StorageExpiration.expired.expiry(since: 3) == -.infinity)
        #expect(StorageExpiration.seconds(.infinity).estimatedExpiration(since: now) == .distantFuture)
        #expect(StorageExpiration.seconds(-.infinity).estimatedExpiration(since: now) == .distantPast)
        #expect(StorageExpiration.days(.max).estimatedExpiration(since: now) == .distantFuture)
    }

    @Test(
        "Zero, negative and past are expired",
        arguments: [
            StorageExpiration.seconds(0), .seconds(-1), .seconds(.nan), .days(0), .days(-1), .date(.distantPast),
            .expired,
        ]
    )
    func expired(expiration: StorageExpiration) { #expect(expiration.isExpired(at: now)) }

    @Test(
        "What lies ahead is not expired",
        arguments: [StorageExpiration.never, .seconds(0.001), .days(1), .date(.distantFuture)]
    )
    func notExpired(expiration: StorageExpiration) { #expect(!expiration.isExpired(at: now)) }

    @Test("No number of days overflows")
    func daysDoNotOverflow() {
        #expect(!StorageExpiration.days(.max).isExpired(at: now))
        #expect(StorageExpiration.days(.min).isExpired(at: now))
        #expect(StorageExpiration.days(.max).estimatedExpiration(since: now) > now)
    }

    @Test("The same instant is past")
    func sameInstant() {
        #expect(now.isPast(referenceDate: now))
        #expect(!now.isPast(referenceDate: now - 0.001))
    }

    @Test("Extending keeps, restarts or replaces")
    func extending() {
        #expect(ExpirationExtending.none.expiry(readAt: now, original: .seconds(5)) == nil)
        #expect(ExpirationExtending.cacheTime.expiry(readAt: now, original: .seconds(5)) == now + 5)
        #expect(ExpirationExtending.cacheTime.expiry(readAt: now, original: .date(now + 1)) == now + 1)
        #expect(ExpirationExtending.expirationTime(.days(1)).expiry(readAt: now, original: .seconds(5)) == now + 86_400)
    }

    @Test("An expiration that is no number has expired, and extends nothing") func notANumber() {
        #expect(StorageExpiration.seconds(.nan).estimatedExpiration(since: now) == .distantPast)
        #expect(StorageExpiration.seconds(.nan).expiry(since: 0).isNaN)
        for expiration in [StorageExpiration.seconds(.nan), .date(Date(timeIntervalSince1970: .nan))] {
            let hasExpired = expiration.isExpired(at: now)
            #expect(hasExpired)
            // Foundation cannot describe such a date, as `#expect` would.
            let extending = ExpirationExtending.expirationTime(expiration)
            let isNone = extending.expiry(readAt: now, original: .days(1)) == nil
            let isNoneInMemory = extending.expiry(readAt: 0, original: .days(1)) == nil
            #expect(isNone && isNoneInMemory)
        }
    }

    @Test("A memory hit computes the same instants")
    func memoryHitAgrees() {
        let seconds = now.timeIntervalSinceReferenceDate
        let all: [StorageExpiration] = [.never, .seconds(10), .days(3), .days(.max), .date(now + 7), .expired]
        for expiration in all {
            let quick = expiration.expiry(since: seconds)
            let exact = expiration.estimatedExpiration(since: now).timeIntervalSinceReferenceDate
            #expect(quick == exact || quick >= exact && exact >= 63_113_904_000 || quick == -.infinity)
            #expect((quick <= seconds) == expiration.isExpired(at: now))
            for extending in [ExpirationExtending.none, .cacheTime, .expirationTime(.seconds(5))] {
                let quick = extending.expiry(readAt: seconds, original: expiration)
                #expect((quick == nil) == (extending.expiry(readAt: now, original: expiration) == nil))
                if extending == .expirationTime(.seconds(5)) { #expect(quick == seconds + 5) }
            }
        }
    }
}
