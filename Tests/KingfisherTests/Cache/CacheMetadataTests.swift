// Cache metadata of a response: how they are read, encoded and decoded, and what they mean for freshness.

import Foundation
import FoundationNetworking
import KFSupport
import Testing

@testable import KFTransport
@testable import Kingfisher

@Suite struct CacheMetadataTests {
    private let noon = Self.noon
    static let noon = Date(timeIntervalSince1970: 784_111_777 - 31_777 + 43_200)
    private func metadata(_ fields: [String: String], url: String = "https://example.com/a.png") -> CacheMetadata {
        Self.metadata(fields, url: url)
    }
    static func metadata(_ fields: [String: String], url: String = "https://example.com/a.png") -> CacheMetadata {
        CacheMetadata(url: URL(string: url), storedAt: noon) { fields[$0] }
    }
    private func roundTrip(_ metadata: CacheMetadata) -> CacheMetadata? { CacheMetadata(encoded: metadata.encoded()) }

    // MARK: Reading and encoding

    private let fields = Self.fields
    static let fields = [
        "ETag": "W/\"abc\"", "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT",
        "Cache-Control": "public, max-age=60", "Expires": "Mon, 07 Nov 1994 08:49:37 GMT",
        "Date": "Sun, 06 Nov 1994 11:59:00 GMT", "Age": "17",
    ]

    @Test("Fields are read from a response") func responseFields() throws {
        let url = try #require(URL(string: "https://example.com/a.png"))
        let response = try #require(
            HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: fields)
        )
        let read = CacheMetadata(response: response, storedAt: noon)
        #expect(read == metadata(fields))
        #expect(read.eTag == "W/\"abc\"")
        #expect(read.lastModified == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(read.cacheControl == "public, max-age=60")
        #expect(read.expires == Date(timeIntervalSince1970: 784_198_177))
        #expect(read.date == noon - 60)
        #expect(read.age == 17)
        #expect(read.url == url && read.storedAt == noon)
    }

    @Test("Encoding and decoding gives the same metadata") func encodingRoundTrip() {
        for each in [metadata(fields), metadata([:]), metadata(["Expires": "0"]), metadata(["ETag": "\"ü\""])] {
            #expect(roundTrip(each) == each)
        }
    }

    @Test("The encoding never exceeds its limit") func lengthLimit() {
        for length in [10, 700, 1_400, 1_496, 1_497, 5_000, 70_000] {
            let long = String(repeating: "x", count: length)
            for name in ["ETag", "Last-Modified", "Cache-Control"] {
                let long = metadata(fields.merging([name: long]) { $1 }, url: "https://example.com/\(long)")
                #expect(long.encoded().count <= CacheMetadata.longestEncoding)
                #expect(roundTrip(long)?.storedAt == noon)
            }
        }
    }

    @Test("A field that does not fit is left out as a whole; one that says how long counts as no-cache")
    func oversizedFields() {
        let long = String(repeating: "x", count: 1_450)
        let byURL = roundTrip(metadata(fields, url: "https://example.com/\(long)"))
        #expect(byURL?.url == nil && byURL?.eTag == "W/\"abc\"" && byURL?.expires != nil)
        let byControl = roundTrip(metadata(fields.merging(["Cache-Control": "max-age=9, x=\(long)"]) { $1 }))
        #expect(byControl?.cacheControl == "no-cache" && byControl?.eTag == "W/\"abc\"")
        // Without the control field, the expiry date alone would make it seem fresh.
        #expect(byControl?.isFresh(at: noon) == false)
    }

    @Test("Damaged bytes decode to nil or to something valid") func damagedBytes() {
        let whole = metadata(fields).encoded()
        #expect(CacheMetadata(encoded: []) == nil)
        #expect(CacheMetadata(encoded: [2] + whole.dropFirst()) == nil)
        #expect(CacheMetadata(encoded: whole + [UInt8](repeating: 0, count: 1_500)) == nil)
        for end in 1..<whole.count {
            // Bytes that are cut between two fields are a shorter valid encoding.
            if let cut = CacheMetadata(encoded: Array(whole[..<end])) { #expect(cut.encoded().count == end) }
        }
        for index in whole.indices {
            for bit in 0..<8 {
                var damaged = whole
                damaged[index] ^= 1 << bit
                if let read = CacheMetadata(encoded: damaged) { #expect(read.encoded().count <= 1_500) }
            }
        }
    }

    @Test("Fields of a later version are skipped") func unknownFields() {
        let whole = metadata(fields)
        #expect(CacheMetadata(encoded: whole.encoded() + [200, 2, 0, 1, 2]) == whole)
    }

    @Test("A stored value cannot inject a header line into a request") func headerInjection() {
        let read = metadata(["ETag": "\"1\"\r\nX-Evil: 1", "Last-Modified": "\u{0}", "Cache-Control": " \t "])
        #expect(read.eTag == nil && read.lastModified == nil && read.cacheControl == nil)
        #expect(read.conditionalFields.isEmpty)
        // A forged file cannot inject one either.
        let forged: [UInt8] = metadata([:]).encoded() + [4, 3, 0] + Array("a\nb".utf8)
        #expect(CacheMetadata(encoded: forged) == nil)
    }

    // MARK: Revalidation

    @Test("The fields of a conditional request are the validators") func conditionalFields() {
        #expect(
            metadata(fields).conditionalFields
                == ["If-None-Match": "W/\"abc\"", "If-Modified-Since": "Sun, 06 Nov 1994 08:49:37 GMT"]
        )
    }

    @Test("A 304 response replaces the fields it contains") func confirmation() {
        let newer = CacheMetadata(url: nil, storedAt: noon + 600) {
            ["Cache-Control": "max-age=5", "Date": "Sun, 06 Nov 1994 12:10:00 GMT"][$0]
        }
        let both = metadata(fields).confirmed(by: newer)
        #expect(both.eTag == "W/\"abc\"" && both.cacheControl == "max-age=5")
        #expect(both.storedAt == noon + 600 && both.age == nil && both.url != nil)
        #expect(both.isFresh(at: noon + 604) && !both.isFresh(at: noon + 605))
    }

    // MARK: Freshness

    @Test(
        "Freshness follows Cache-Control, Expires, Date and Age",
        arguments: [
            (["Cache-Control": "max-age=60"], 60.0),
            (["Cache-Control": "MAX-AGE=\"60\" , public"], 60),
            (["Cache-Control": "max-age=60", "Expires": "Thu, 01 Jan 1970 00:00:00 GMT"], 60),
            (["Cache-Control": "max-age=60, max-age=10"], 10),
            (["Cache-Control": "s-maxage=60"], nil),
            (["Cache-Control": "s-maxage=1, max-age=60"], 60),
            (["Cache-Control": "max-age=soon"], 0),
            (["Cache-Control": "max-age"], 0),
            (["Cache-Control": "max-age=-1"], 0),
            (["Cache-Control": "max-age=99999999999999999999"], 2_147_483_648),
            (["Cache-Control": "ext=\"max-age=5, no-cache\", max-age=60"], 60),
            (["Cache-Control": "max-age=60, no-cache"], 0),
            (["Cache-Control": "max-age=60, No-Cache=\"Set-Cookie\""], 0),
            (["Cache-Control": "no-store, max-age=60"], 0),
            (["Cache-Control": "must-revalidate, immutable, max-age=60"], 60),
            (["Expires": "Sun, 06 Nov 1994 12:00:30 GMT"], 30),
            (["Expires": "Sun, 06 Nov 1994 12:00:30 GMT", "Date": "Sun, 06 Nov 1994 12:00:00 GMT"], 30),
            // The clock of the server is an hour ahead: its dates are only compared with each other.
            (["Expires": "Sun, 06 Nov 1994 13:00:30 GMT", "Date": "Sun, 06 Nov 1994 13:00:00 GMT"], 30),
            (["Expires": "0"], 0),
            (["Last-Modified": "Sun, 06 Nov 1984 08:49:37 GMT"], nil),
            (["Cache-Control": "max-age=60", "Age": "20"], 40),
            (["Cache-Control": "max-age=60", "Date": "Sun, 06 Nov 1994 11:59:15 GMT"], 15),
            (["Cache-Control": "max-age=60", "Date": "Sun, 06 Nov 1994 11:59:15 GMT", "Age": "50"], 10),
            ([:], nil),
        ] as [([String: String], Double?)]
    )
    func freshness(fields: [String: String], seconds: Double?) {
        let read = metadata(fields)
        let seconds = seconds ?? 0
        #expect(!read.isFresh(at: noon + seconds))
        #expect(!read.isFresh(at: .distantFuture))
        if seconds > 0 { #expect(read.isFresh(at: noon) && read.isFresh(at: noon + seconds - 0.5)) }
    }

    @Test("Cache-Control directives are read") func directives() {
        #expect(metadata(["Cache-Control": "immutable"]).isImmutable)
        #expect(metadata(["Cache-Control": "no-store"]).forbidsStoring)
        #expect(!metadata(fields).isImmutable && !metadata(fields).forbidsStoring)
        #expect(metadata(fields).freshnessLifetime == 60 && metadata([:]).freshnessLifetime == nil)
        // A clock that was set back does not make a response younger than it was when it was received.
        #expect(metadata(fields).currentAge(at: noon - 600) == 60)
    }

    @Test("Dates are read in all three HTTP formats") func dateFormats() {
        let expected = Date(timeIntervalSince1970: 784_111_777)
        for text in ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"] {
            #expect(HTTPDate.date(from: text) == expected)
        }
        #expect(HTTPDate.date(from: "Thu, 29 Feb 2024 23:59:60 GMT") == Date(timeIntervalSince1970: 1_709_251_200))
        #expect(HTTPDate.date(from: "Fri, 01 Mar 2400 00:00:00 GMT") == Date(timeIntervalSince1970: 13_574_649_600))
        for text in [
            "", "0", "-1", "now", "Sun, 06 Nov 1994 08:49 GMT", "Sun, 06 Foo 1994 08:49:37 GMT", "a b c d e",
            "Sun, 99 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 25:49:37 GMT", "Sun, 06 Nov 99999999999 08:49:37 GMT",
        ] { #expect(HTTPDate.date(from: text) == nil) }
    }
}
