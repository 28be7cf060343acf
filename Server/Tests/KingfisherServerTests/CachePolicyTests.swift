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
        left: Int? = nil
    ) -> HTTPFields {
        var delivery = DeliverySettings()
        delivery.passesCacheControl = true
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

    @Test("A date counts as a validator where the client has no tag, and only as it was sent")
    func dates() {
        let date = "Mon, 12 Jan 1970 13:47:40 GMT"
        #expect(isUnmodified(for: [.ifModifiedSince: date], entityTag: "\"a\"", lastModified: date))
        #expect(!isUnmodified(for: [.ifModifiedSince: date], entityTag: "\"a\"", lastModified: nil))
        #expect(!isUnmodified(for: [.ifModifiedSince: date + " "], entityTag: "\"a\"", lastModified: "x"))
        #expect(
            !isUnmodified(for: [.ifModifiedSince: date, .ifNoneMatch: "\"b\""], entityTag: "\"a\"", lastModified: date)
        )
        #expect(!isUnmodified(for: [.ifNoneMatch: "*"], entityTag: nil, lastModified: date))
    }
}
