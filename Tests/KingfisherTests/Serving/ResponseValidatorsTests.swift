// Whether a client has what would be sent.

import Foundation
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite struct ResponseValidatorsTests {
    private static let date = "Mon, 12 Jan 1970 13:47:40 GMT"

    private func isUnmodified(
        tag: String? = "\"a\"",
        modified: String? = nil,
        ifNoneMatch: String? = nil,
        since: String? = nil
    ) -> Bool {
        let validators = ResponseValidators(entityTag: tag, lastModified: modified)
        return validators.isUnmodified(ifNoneMatch: ifNoneMatch, ifModifiedSince: since)
    }

    @Test("A client has it that names its tag, also as a weak one and among others, or any") func tags() {
        for field in ["\"a\"", "W/\"a\"", "\"b\", \"a\"", "\"b\",W/\"a\"", " * "] {
            #expect(isUnmodified(ifNoneMatch: field), "\(field)")
            #expect(!isUnmodified(tag: nil, modified: Self.date, ifNoneMatch: field, since: Self.date), "\(field)")
        }
        for field in ["", "a", "\"b\"", "\"A\"", "W/", "\"a"] { #expect(!isUnmodified(ifNoneMatch: field), "\(field)") }
        #expect(!isUnmodified())
    }

    @Test("A date counts where the client has no tag, in whatever form") func dates() {
        let date = Self.date
        #expect(isUnmodified(modified: date, since: date) && !isUnmodified(since: date))
        let (earlier, later) = ("Mon, 12 Jan 1970 13:47:39 GMT", "Monday, 12-Jan-70 13:47:41 GMT")
        #expect(isUnmodified(modified: date, since: later) && !isUnmodified(modified: date, since: earlier))
        #expect(!isUnmodified(modified: date, since: "yesterday") && !isUnmodified(modified: "x", since: date))
        #expect(!isUnmodified(modified: date, ifNoneMatch: "\"b\"", since: date))
    }

    @Test("Dates of any numbers are compared", arguments: HeaderNumberTests.numbers) func numbers(number: String) {
        let whole = "Sun, 06 Nov 1994 08:49:37 GMT"
        for date in ["Sun, \(number) Nov 1994 08:49:37 GMT", "Sun, 06 Nov \(number) 08:49:37 GMT", number] {
            // The same text counts as the same date, whatever it says.
            #expect(isUnmodified(modified: date, since: date))
            for (known, modified) in [(date, whole), (whole, date)] {
                let dates = [modified, known].compactMap { HTTPDate.date(from: $0) }
                let isOlder = dates.count == 2 && dates[0] <= dates[1]
                #expect(isUnmodified(modified: modified, since: known) == isOlder)
            }
        }
    }

    @Test("A file has a tag of its bytes and the source's date; a damaged one has neither") func files() async throws {
        let image = SampleImage.gradient(8, 8)
        let (one, same) = (try await image.kf.encoded(as: .init(.png)), try await image.kf.encoded(as: .init(.png)))
        let other = try await image.kf.encoded(as: .init(.webp))
        #expect(one.entityTag == same.entityTag && one.entityTag != other.entityTag)
        #expect(one.entityTag.wholeMatch(of: /"[0-9a-z]{8,13}"/) != nil, "\(one.entityTag)")
        #expect(one.validators == ResponseValidators(entityTag: one.entityTag))
        try await Rig.run { rig in
            let file = try SampleImage.jpeg(300, 200)
            rig.server.route("/whole", TestResponse(headers: ["Last-Modified": Self.date], body: file))
            rig.server.route("/part", .data(file.prefix(file.count * 7 / 10)))
            let whole = try await rig.manager.retrieveEncoded(with: rig.server.url("/whole"))
            #expect(whole.validators == ResponseValidators(entityTag: whole.entityTag, lastModified: Self.date))
            let part = try await rig.manager.retrieveEncoded(with: rig.server.url("/part"), as: .init(.webp))
            #expect(part.isDamaged && part.validators == ResponseValidators())
        }
    }
}
