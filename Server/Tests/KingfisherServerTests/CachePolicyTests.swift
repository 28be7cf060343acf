// What answers say to caches when the source's words are handed on.

import Foundation
import HTTPTypes
import KFImageURLs
import Kingfisher
import KingfisherServer
import Testing

@Suite struct CachePolicyTests {
    private static let now = Date(timeIntervalSince1970: 1_000_000)

    private func fields(
        _ source: [String: String]?,
        left: Int? = nil,
        passes: Bool = true
    ) -> HTTPFields {
        var delivery = DeliverySettings()
        delivery.passesCacheControl = passes
        let metadata = source.map { source in
            CacheMetadata(url: nil, storedAt: Self.now.addingTimeInterval(-20)) { source[$0] }
        }
        let end = left.map { Self.now.addingTimeInterval(Double($0)) }
        return CachePolicy(delivery, maxAge: 500, until: end).fields(for: metadata, now: Self.now)
    }

    @Test("The source's field is handed on as it came, with the age of what it is about")
    func handedOn() {
        let field = "private, max-age=60, stale-while-revalidate=30"
        let answer = fields(["Cache-Control": field, "Age": "5"])
        #expect(answer[.cacheControl] == field && answer[.age] == "25")
    }

    @Test("The age is the time since the source was made, however many caches it came through") func age() {
        let made = "Mon, 12 Jan 1970 13:44:20 GMT"  // 140 seconds ago, and 120 before it was kept
        for (age, expected) in [("120", "140"), ("0", "140"), ("150", "170")] {
            let answer = fields(["Cache-Control": "max-age=600", "Date": made, "Age": age])
            #expect(answer[.age] == expected)
        }
    }

    @Test("A source that shared caches may not keep is not offered to them, though its field is not handed on")
    func restricted() {
        func field(_ source: String, left: Int? = nil) -> String? {
            fields(["Cache-Control": source], left: left, passes: false)[.cacheControl]
        }
        #expect(field("private, max-age=60") == "private, max-age=40")
        #expect(field("Private", left: 7) == "private, max-age=0")
        #expect(field("private, max-age=60", left: 7) == "private, max-age=7")
        #expect(field("no-store, max-age=60") == "no-store")
        #expect(field("max-age=60") == "max-age=500, public")
        #expect(field("max-age=60, foo=\"private, no-store\"") == "max-age=500, public")
    }

    @Test("It is shortened to the time that the URL is valid, and gets a limit if it has none")
    func shortened() {
        #expect(fields(["Cache-Control": "Max-Age=60, s-maxage=90"], left: 7)[.cacheControl] == "Max-Age=7, s-maxage=7")
        #expect(fields(["Cache-Control": "max-age=5"], left: 7)[.cacheControl] == "max-age=5")
        #expect(fields(["Cache-Control": "max-age=x"], left: 7)[.cacheControl] == "max-age=0")
        #expect(fields(["Cache-Control": "private"], left: 7)[.cacheControl] == "private, max-age=7")
        #expect(fields(["Cache-Control": "max-age=60"], left: -7)[.cacheControl] == "max-age=0")
    }

    @Test("Without the source's field its date counts, without that the configuration does")
    func others() {
        let soon = "Mon, 12 Jan 1970 13:47:40 GMT"
        #expect(fields(["Expires": soon])[.cacheControl] == "max-age=60, public")
        #expect(fields(["Expires": soon], left: 7)[.cacheControl] == "max-age=7, public")
        #expect(fields([:])[.cacheControl] == "max-age=500, public")
        #expect(fields(nil)[.cacheControl] == "max-age=500, public")
    }
}
