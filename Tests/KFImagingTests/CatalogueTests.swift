// All files of Tests/Catalogue are decoded as the tables there say, and the page on formats lists them.

import Foundation
import KingfisherTestSupport
import Testing

@testable import KFImaging

@Suite struct CatalogueTests {
    @Test("Every file has a line, every line a file, and every name is in one folder", arguments: Catalogue.formats)
    func complete(format: String) throws {
        let rows = try CatalogueRow.rows(of: format)
        let files = Catalogue.names(in: Catalogue.folder.appending(path: format)).filter { $0 != "README.md" }
        #expect(rows.map(\.file).sorted() == files)
        for row in rows where !row.isReference {
            #expect(Catalogue.url(row.file).path.hasSuffix("\(format)/\(row.file)"), "\(row.file) is elsewhere, too")
        }
    }

    @Test("Files are decoded to the pixels of their line, whole and small, and have what it says", arguments: rows)
    func file(row: CatalogueRow) throws {
        let data = try fixture(row.file)
        if case .images(let count, let nearness) = row.pixels {
            return try compareImages(row, count: count, nearness)
        }
        let type = try #require(row.type)
        #expect(ImageContentType(sniffing: data) == type)
        guard Codecs.types.contains(type) else { return try expectRefusal(data, "not supported") }
        if case .refused(let reason) = row.pixels { return try expectRefusal(data, reason) }
        if case .knownBy(let tests) = row.pixels {
            let place = URL(filePath: #filePath).deletingLastPathComponent().appending(path: tests + ".swift")
            #expect(try String(contentsOf: place, encoding: .utf8).contains(row.file.split(separator: ".")[0]))
            if row.size == nil { return }
        }
        let (size, image) = (try #require(row.size), try Codecs.decode(data))
        try compareFacts(row, data, image)
        if case .like(let source, let nearness) = row.pixels {
            let expected = try row.expected(source, size)
            let first = try expected.height == size.height ? expected : #require(try expected.frame(0, size))
            let bitmap = try image.bitmap()
            #expect(nearness.difference(bitmap, first) == nil)
            if expected.height != size.height { try compareFrames(data, expected, size, nearness) }
        }
        if let nearness = row.small { try compareSmall(data, image, nearness) }
    }

    private static let rows: [CatalogueRow] = {
        do {
            return try CatalogueRow.all().filter { !$0.isReference }
        } catch {
            Issue.record(error)
            return []
        }
    }()

    private func expectRefusal(_ data: Data, _ reason: String) throws {
        switch Codecs.diagnose(data) {
        case .limitExceeded?: #expect(reason == "too large")
        case .malformed?: #expect(reason == "damaged")
        case .unsupported?: #expect(reason == "not supported")
        case let other: Issue.record("\(String(describing: other))")
        }
    }

    private func compareImages(_ row: CatalogueRow, count: Int, _ nearness: Nearness) throws {
        let images = try ImageListFixture.lines(of: row.file)
        #expect(images.count == count)
        for image in images {
            let decoded = try Codecs.decode(image.data)
            let (bitmap, info) = (try decoded.bitmap(), try ImageInfo(data: image.data))
            let expected = image.pixels.map {
                UInt32($0.a) << 24 | UInt32($0.r) << 16 | UInt32($0.g) << 8 | UInt32($0.b)
            }
            let rows = (0..<image.size.height).map {
                Array(expected[$0 * image.size.width..<($0 + 1) * image.size.width])
            }
            #expect(nearness.difference(bitmap, .of(rows)) == nil, "\(image.name)")
            #expect(
                PixelSize(info.pixelWidth, info.pixelHeight) == image.size
                    && info.contentType.name.lowercased() == row.format
            )
        }
    }

    private func compareFacts(_ row: CatalogueRow, _ data: Data, _ image: Image) throws {
        let (info, delays) = (try ImageInfo(data: data), row.delays)
        #expect(image.contentType == row.type && info.contentType == row.type && info.byteCount == data.count)
        #expect(image.size == row.size?.cgSize && image.scale == 1 && !image.isDamaged)
        #expect(info.orientation.exif == Int(row.fact("turned") ?? "1") && image.imageOrientation == info.orientation)
        #expect(PixelSize(info.pixelWidth, info.pixelHeight) == PixelSize(image.pixelWidth, image.pixelHeight))
        #expect(info.hasAlpha == (row.facts.contains("alpha") || row.facts.contains("opaque alpha")))
        #expect(image.hasAlpha == row.facts.contains("alpha"))
        // Where a file has no profile, libjxl makes one with a name of its own.
        if row.type != .jxl || row.fact("profile") != nil { #expect(info.colorProfileName == row.fact("profile")) }
        #expect(info.frameCount == max(1, delays.count) && image.frameCount == (delays.isEmpty ? nil : delays.count))
        #expect(image.animatedData == (delays.isEmpty ? nil : data))
        let source = try Codecs.frameSource(of: data)
        #expect((0..<(source?.frameCount ?? 0)).map { Int((source?.duration(at: $0) ?? 0) * 1000 + 0.5) } == delays)
        guard delays.count > 1 else { return #expect(info.loopCount == nil && info.duration == nil) }
        let plays = try #require(row.fact("plays").map { UInt($0) ?? 0 })
        #expect(info.loopCount == Int(plays) && source?.loopCount == plays)
        #expect(abs((info.duration ?? 0) - Double(delays.reduce(0, +)) / 1000) < 1e-9)
    }

    /// Compares the frames with those of a strip, on the way back, too.
    private func compareFrames(_ data: Data, _ strip: Bitmap, _ size: PixelSize, _ nearness: Nearness) throws {
        let source = try #require(try Codecs.frameSource(of: data))
        #expect(strip.height == source.frameCount * size.height)
        for index in Array(0..<source.frameCount) + (0..<source.frameCount).reversed() {
            let (frame, expected) = (try #require(source.frame(at: index)), try #require(try strip.frame(index, size)))
            #expect(nearness.difference(frame, expected) == nil, "frame \(index)")
        }
    }

    private func compareSmall(_ data: Data, _ image: Image, _ nearness: Nearness) throws {
        let (whole, longer) = (try image.bitmap(), max(image.size.width, image.size.height))
        for limit in [95, 48, 33, 10] where CGFloat(limit) < longer {
            let small = try Codecs.decode(data, options: DecodingOptions(maxPixelSize: limit))
            #expect(small.frameCount == nil && small.animatedData == nil && small.imageOrientation == .up)
            #expect(small.contentType == image.contentType)
            let sides = [whole.width, whole.height].map {
                max(1, Int((CGFloat($0 * limit) / longer).rounded()))
            }
            let expected = try whole.resampled(to: PixelSize(sides[0], sides[1]))
            let bitmap = try small.bitmap()
            #expect(nearness.difference(bitmap, expected) == nil, "at \(limit)")
        }
    }
}

extension PixelSize {
    fileprivate var cgSize: CGSize { CGSize(width: width, height: height) }
}

extension Bitmap {
    /// A frame of a strip.
    fileprivate func frame(_ index: Int, _ size: PixelSize) throws -> Bitmap? {
        try part(CGRect(x: 0, y: index * size.height, width: size.width, height: size.height))
    }
}

@Suite struct FormatsPageTests {
    private let place = Catalogue.folder.appending(path: "../../Sources/Kingfisher/Kingfisher.docc/Formats.md")

    @Test("The page on formats ends with what the catalogue has; `make formats-page` writes it") func upToDate() throws
    {
        let page = try String(contentsOf: place, encoding: .utf8)
        let part = try Self.part()
        if ProcessInfo.processInfo.environment["KF_WRITE_FORMATS_PAGE"] != nil {
            let kept = page.range(of: Self.heading).map { page[..<$0.lowerBound] } ?? page + "\n"
            try (kept + part).write(to: place, atomically: true, encoding: .utf8)
        }
        #expect(try String(contentsOf: place, encoding: .utf8).hasSuffix("\n" + part))
    }

    private static let heading = "### What is tried\n"

    private static func part() throws -> String {
        let order = ["jpeg", "png", "gif", "webp", "avif", "tiff", "bmp", "ico", "heic", "jxl", "svg"]
        #expect(order.sorted() == Catalogue.formats)
        let introduction = """
            \(heading)
            The tests decode these kinds of files, which are in the repository's `Tests/Catalogue` with their right pixels,
            and write up to these limits; another program reads what is written.


            """
        return try order.reduce(introduction) { text, format in
            let type = try #require(ImageContentType(fileExtension: format))
            var subjects: [String] = []
            for row in try CatalogueRow.rows(of: format) where !row.isReference {
                var subject = row.subject
                if case .refused(let reason) = row.pixels { subject += " (refused as \(reason))" }
                if !subjects.contains(subject) { subjects.append(subject) }
            }
            return text + "* **\(type.name)**: \(subjects.joined(separator: "; ")). \(written(type))\n"
        }
    }

    private static func written(_ type: ImageContentType) -> String {
        func words(_ number: Int) -> String { number.formatted(.number.locale(Locale(identifier: "en_US"))) }
        let capacity = type.capacity
        guard capacity != FormatCapacity() else { return "Not written." }
        let kinds =
            (capacity.hasFrames ? "stills and animations" : "stills") + (capacity.hasAlpha ? "" : " without alpha")
        let pixels = capacity.pixelCount == .max ? "" : " and \(words(capacity.pixelCount)) in all"
        let larger = capacity.shrinksToFit ? "; what is larger is made smaller" : ""
        return "Written: \(kinds), of up to \(words(capacity.side)) pixels a side\(pixels)\(larger)."
    }
}
