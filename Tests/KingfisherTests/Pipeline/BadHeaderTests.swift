// Servers whose header fields about caching are nonsense: the image is loaded, and its server is asked again when in
// doubt.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite(.timeLimit(.minutes(5))) struct BadHeaderTests {
    /// Header fields, and whether the server is asked again before an image with them is used.
    struct Fields: Sendable, CustomTestStringConvertible {
        let fields: [String: String]
        let isAsked: Bool
        let testDescription: String

        init(_ fields: [String: String], isAsked: Bool) {
            (self.fields, self.isAsked) = (fields, isAsked)
            let pairs = fields.map { "\($0): \($1.prefix(40))" }
            testDescription = pairs.sorted().joined(separator: ", ")
        }
    }

    private static let long = String(repeating: "x", count: 5_000)
    private static let farDate = "Fri, 31 Dec 9999 23:59:59 GMT"
    private static let earlyDate = "Mon, 01 Jan 1601 00:00:00 GMT"
    private static let noDates = [
        "never", "0", "Thu, 99 Xxx 2026 99:99:99 GMT", "Thu, 01 Jan 99999999999999999999 00:00:00 GMT", "::,,--", long,
    ]

    /// A field that says nothing counts as if it was not there; what cannot be understood of `max-age` and `Expires`
    /// makes the image stale, and so does a field that is too long to be kept.
    private static let all: [Fields] = dates + tags + ages + understood + notUnderstood + bounds

    private static let dates = noDates.flatMap { text in
        [
            Fields(["Date": text], isAsked: false),
            Fields(["Date": text, "Cache-Control": "max-age=1000"], isAsked: false),
            Fields(["Last-Modified": text], isAsked: false),
            Fields(["Expires": text], isAsked: true),
        ]
    }

    private static let tags = ["", "unquoted", "\"", "W/", "\"a\", \"b\"", "\"\u{1}\"", long].map {
        Fields(["ETag": $0], isAsked: false)
    }

    private static let ages = ["-5", "young", "1e9", "", "5, 6"].map {
        Fields(["Age": $0, "Cache-Control": "max-age=1000"], isAsked: false)
    }

    private static let understood = ["=", ",,,", "\"no-store", ";", "maxage=0", "s-maxage=0", "private=\"max-age=0, b"]
        .map { Fields(["Cache-Control": $0], isAsked: false) }

    private static let notUnderstood = [
        "max-age", "max-age=", "max-age=-1", "max-age=soon", "max-age=1000, max-age=0", "MAX-AGE = 0", long,
    ].map { Fields(["Cache-Control": $0], isAsked: true) }

    private static let bounds = [
        Fields(["Cache-Control": "max-age=99999999999999999999999"], isAsked: false),
        Fields(["Cache-Control": "max-age=99999999999", "Age": "99999999999999999999"], isAsked: true),
        Fields(["Cache-Control": "max-age=1000", "Date": farDate], isAsked: false),
        Fields(["Cache-Control": "max-age=1000", "Date": earlyDate], isAsked: true),
        Fields(["Expires": farDate, "Date": farDate], isAsked: true),
        Fields(["Expires": farDate, "Date": earlyDate], isAsked: false),
        Fields(["Expires": earlyDate, "Date": farDate], isAsked: true),
        Fields(["Cache-Control": "no-store=\""], isAsked: true),
    ]

    @Test("Images are loaded and cached whatever the header fields say", arguments: all)
    func images(fields: Fields) async throws {
        try await Rig.run { rig in
            rig.server.route("/a", TestResponse(headers: fields.fields, body: try SampleImage.png(8, 8)))
            for respects in [false, true] {
                let url = rig.server.url("/a?\(respects)")
                let options: KingfisherOptionsInfo = [.waitForCache] + (respects ? [.respectCacheControl] : [])
                let before = rig.server.count("/a")
                for _ in 0..<2 {
                    let result = try await rig.manager.retrieveImage(with: url, options: options)
                    #expect(result.image.pixelWidth == 8)
                    rig.cache.clearMemoryCache()
                }
                #expect(rig.server.count("/a") - before == (respects && fields.isAsked ? 2 : 1))
            }
        }
    }

    @Test("A refresh sends back no other validator than it was given, and bears nonsense with a 304", arguments: all)
    func refreshes(fields: Fields) async throws {
        try await Rig.run { rig in
            let image = TestResponse(headers: fields.fields, body: try SampleImage.png(8, 8))
            let confirmation = TestResponse(status: 304, headers: fields.fields)
            let url = rig.server.route("/a", sequence: [image, confirmation, image])
            _ = try await rig.manager.retrieveImage(with: url, options: [.waitForCache])
            for _ in 0..<2 {
                let result = try await rig.manager.retrieveImage(with: url, options: [.refreshCached, .waitForCache])
                #expect(result.image.pixelWidth == 8)
            }
            #expect(rig.server.count("/a") == 3)
            for request in rig.server.requests {
                for (name, field) in [("If-None-Match", "ETag"), ("If-Modified-Since", "Last-Modified")] {
                    let sent = request.header(name)
                    #expect(sent == nil || sent == fields.fields[field])
                }
            }
        }
    }
}
