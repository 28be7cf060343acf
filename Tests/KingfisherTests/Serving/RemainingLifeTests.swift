// What a response says to caches of what was made of a source.

import Foundation
import Testing

@testable import Kingfisher

@Suite struct RemainingLifeTests {
    private static let now = Date(timeIntervalSince1970: 1_000_000)

    /// The field for a response that came 20 seconds ago.
    private func field(_ fields: [String: String], atMost limit: TimeInterval = .infinity) -> String? {
        CacheMetadata(url: nil, storedAt: Self.now - 20) { fields[$0] }
            .remainingCacheControl(at: Self.now, atMost: limit)
    }

    private func field(_ cacheControl: String, atMost limit: TimeInterval = .infinity) -> String? {
        field(["Cache-Control": cacheControl], atMost: limit)
    }

    @Test("It lives as long as its source still does, and no longer than is said") func life() {
        #expect(field("max-age=60") == "max-age=40, public" && field("max-age=60", atMost: 7) == "max-age=7, public")
        #expect(field("max-age=10") == "max-age=0, public" && field("max-age=60", atMost: -7) == "max-age=0, public")
        #expect(field("max-age=60, s-maxage=90, stale-while-revalidate=9") == "max-age=70, public")
        #expect(field(["Cache-Control": "max-age=60", "Age": "15"]) == "max-age=25, public")
        #expect(field(["Expires": "Mon, 12 Jan 1970 13:47:40 GMT"]) == "max-age=60, public")
        #expect(field(["Expires": "0"]) == "max-age=0, public" && field("no-cache") == "max-age=0, public")
        #expect(field("max-age=99999999999") == "max-age=1000000000, public")
    }

    @Test("What may not be stored, or by nobody else, says so; what says nothing says nothing") func restrictions() {
        #expect(field("no-store, max-age=60") == "no-store")
        #expect(field("private, max-age=60, s-maxage=90") == "private, max-age=40")
        #expect(field("Private", atMost: 7) == "private, max-age=0")
        #expect(field([:]) == nil && field("public") == nil)
        #expect(field("max-age=60, foo=\"private, no-store\"") == "max-age=40, public")
    }

    @Test("A redirect that ends sooner ends it") func redirects() {
        let redirect = CacheMetadata(cacheControl: "private, max-age=30", storedAt: Self.now - 20)
        let metadata = CacheMetadata(cacheControl: "max-age=60", storedAt: Self.now - 20, redirects: [redirect])
        #expect(metadata.remainingCacheControl(at: Self.now) == "private, max-age=10")
    }
}
