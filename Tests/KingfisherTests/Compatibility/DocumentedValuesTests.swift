// What the pages say of errors and of limits is what the code says.

import Foundation
import Kingfisher
import Testing

@Suite struct DocumentedValuesTests {
    private static func text(_ path: String) throws -> String {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../..")
        return try String(contentsOf: root.appendingPathComponent("Sources/\(path)"), encoding: .utf8)
    }

    @Test("Every code of an error, and every reason why there is no image, is on the page about errors")
    func errors() throws {
        let page = try Self.text("Kingfisher/Kingfisher.docc/Errors.md")
        let codes = try Self.text("Kingfisher/Model/KingfisherError.swift").matches(of: #//// (?<code>\d{4}): /#)
        #expect(codes.count > 30)
        for code in codes { #expect(page.contains(code.code), "\(code.code)") }
        let reasons = try Self.text("KFImaging/Model/ImagingError.swift").matches(of: /(?m)^    case (?<name>\w+)/)
        #expect(reasons.count >= 12)
        for reason in reasons { #expect(page.contains("`\(reason.name)`"), "\(reason.name)") }
    }

    @Test("The limits of downloads in the table are those of a downloader") func downloads() throws {
        let page = try Self.text("Kingfisher/Kingfisher.docc/Networking.md")
        let downloader = ImageDownloader(name: "documented")
        for (property, value) in [
            ("maxConcurrentDownloads", downloader.maxConcurrentDownloads),
            ("maxConnectionsPerHost", downloader.maxConnectionsPerHost),
            ("downloadTimeout", Int(downloader.downloadTimeout)),
            // Unless set, it is the other.
            ("connectTimeout", Int(downloader.connectTimeout ?? downloader.downloadTimeout)),
        ] {
            #expect(page.contains(" | \(value) | ``ImageDownloader/\(property)`` |"), "\(property)")
        }
        #expect(downloader.totalTimeout == nil && page.contains(" | none | ``ImageDownloader/totalTimeout`` |"))
        #expect(page.contains(" | 200 MiB, a tenth of the memory at most | ``ImageDownloader/maxResponseBytes`` |"))
        #expect(downloader.maxResponseBytes <= 200 << 20)
    }

    @Test("Images are kept for as long as the page about caches says") func expirations() throws {
        let page = try Self.text("Kingfisher/Kingfisher.docc/Caching.md")
        let words = page.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(words.contains("in memory for five minutes and on disk for seven days"))
        #expect(MemoryStorage.Config(totalCostLimit: 1).expiration == .seconds(300))
        #expect(DiskStorage.Config(name: "documented", sizeLimit: 0).expiration == .days(7))
    }

    @Test("The size an image may claim is the one on the page about servers") func pixels() throws {
        let page = try Self.text("Kingfisher/Kingfisher.docc/OnAServer.md")
        #expect(page.contains("| `ImageDecodingLimits.default.maxPixelCount` | 2²⁸ pixels (1 GiB) |"))
        #expect(ImageDecodingLimits().maxPixelCount == 1 << 28)
    }
}
