// Gain maps follow their image through cuts, sizes and turns, into files that the specifications describe.

import Foundation
@_spi(Server) import KingfisherTestSupport
import Testing

@_spi(Server) @testable import KFImaging

/// Four levels, one for each quarter: the upper left, the upper right, the lower left, the lower right.
private func quarters(_ width: Int, _ height: Int) -> Bitmap {
    .of(
        (0..<height).map { y in
            (0..<width).map { x in
                let level = [20, 100, 180, 250][(y < height / 2 ? 0 : 2) + (x < width / 2 ? 0 : 1)] as UInt32
                return 0xFF00_0000 | level << 16 | level << 8 | level
            }
        }
    )
}

extension Bitmap {
    /// The levels in the corners.
    fileprivate var levels: [Int] {
        [(0, 0), (width - 1, 0), (0, height - 1), (width - 1, height - 1)].map { Int(self[$0.0, $0.1].g) }
    }
}

@Suite struct GainMapKeepingTests {
    /// An image of 160 × 120 pixels, and a map of half its sides.
    private static func source(_ orientation: Orientation = .up, isGrey: Bool = true) throws -> Data {
        var fixture = try GainMapFixture.sample(
            quarters(160, 120),
            map: quarters(80, 60),
            isGrey: isGrey,
            hasISO: true
        )
        let field: [UInt8] = [0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, UInt8(orientation.exif), 0, 0, 0, 0, 0, 0]
        let exif = Array("Exif\0\0MM".utf8) + [0, 42, 0, 0, 0, 8] + field
        fixture.image.insert(contentsOf: [0xFF, 0xE1, 0, UInt8(exif.count + 2)] + exif, at: 2)
        return fixture.file
    }

    private static func encoded(
        _ image: Image?,
        of source: Data,
        quality: Double = 1,
        as type: ImageContentType = .jpeg
    ) throws -> Data {
        var options = ImageEncodingOptions(quality: quality)
        options.metadata.gainMap = GainMap(of: source)
        return try Codecs.encode(try #require(image), as: type, options)
    }

    private static func map(_ image: Image?, of source: Data) throws -> Bitmap? {
        let structure = try GainMapStructure(encoded(image, of: source))
        return try structure.map { try Codecs.decode(Data($0.map)).bitmap() }
    }

    /// Operations, the size of the map that is expected, and its quarters.
    private static let moves: [(name: String, run: @Sendable (Image) -> Image?, size: [Int], levels: [Int])] = [
        ("nothing", { $0 }, [80, 60], [20, 100, 180, 250]),
        ("smaller", { $0.resized(toPoints: CGSize(width: 80, height: 60)) }, [40, 30], [20, 100, 180, 250]),
        ("distorted", { $0.resized(toPoints: CGSize(width: 40, height: 120)) }, [20, 60], [20, 100, 180, 250]),
        ("larger", { $0.resized(toPoints: CGSize(width: 320, height: 240)) }, [80, 60], [20, 100, 180, 250]),
        ("downsampled", { $0.downsampled(toMaxPixelSize: 80, scale: 1) }, [40, 30], [20, 100, 180, 250]),
        (
            "upper right quarter", { $0.cropped(toPoints: CGRect(x: 80, y: 0, width: 80, height: 60)) }, [40, 30],
            [100, 100, 100, 100]
        ),
        (
            "middle", { $0.cropped(toPoints: CGRect(x: 40, y: 30, width: 80, height: 60)) }, [40, 30],
            [20, 100, 180, 250]
        ),
        (
            "beyond the edge", { $0.cropped(toPoints: CGRect(x: 120, y: 0, width: 900, height: 120)) }, [20, 60],
            [100, 100, 250, 250]
        ),
        (
            "anchored", { $0.cropped(toPoints: CGSize(width: 40, height: 60), anchor: CGPoint(x: 0, y: 1)) }, [20, 30],
            [180, 180, 180, 180]
        ),
        ("clockwise", { $0.rotated(by: -.pi / 2, fits: true) }, [60, 80], [180, 20, 250, 100]),
        ("anticlockwise", { $0.rotated(by: .pi / 2, fits: true) }, [60, 80], [100, 250, 20, 180]),
        ("upside down", { $0.rotated(by: .pi, fits: false) }, [80, 60], [250, 180, 100, 20]),
        ("mirrored", { $0.flipped(horizontally: true, vertically: false) }, [80, 60], [100, 20, 250, 180]),
        ("mirrored upwards", { $0.flipped(horizontally: false, vertically: true) }, [80, 60], [180, 250, 20, 100]),
        (
            "filled",
            { $0.placed(onPoints: CGSize(width: 60, height: 60), mode: .aspectFill, anchor: CGPoint(x: 1, y: 0.5)) },
            // The right 60 of 80 columns.
            [30, 30], [20, 100, 180, 250]
        ),
        (
            "a thumbnail of the left edge",
            {
                let box = Thumbnail(
                    width: 20,
                    height: 60,
                    mode: .fill,
                    anchor: .point(CGPoint(x: 0, y: 0)),
                    enlarges: false
                )
                return $0.thumbnail(box, scale: 1)
            },
            [10, 30], [20, 20, 180, 180]
        ),
        (
            "cut, turned, mirrored and made smaller",
            {
                $0.cropped(toPoints: CGRect(x: 40, y: 0, width: 120, height: 120))?.rotated(by: -.pi / 2, fits: true)?
                    .flipped(horizontally: true, vertically: false)?.resized(toPoints: CGSize(width: 60, height: 60))
            },
            // Columns are rows now.
            [30, 30], [20, 180, 100, 250]
        ),
    ]

    @Test("The map is cut, scaled and turned as the image is", arguments: moves.indices)
    func followed(index: Int) throws {
        let (name, run, size, levels) = Self.moves[index]
        let source = try Self.source()
        let map = try #require(try Self.map(run(Codecs.decode(source)), of: source), "\(name)")
        #expect([map.width, map.height] == size, "\(name)")
        #expect(zip(map.levels, levels).allSatisfy { abs($0 - $1) <= 2 }, "\(name): \(map.levels)")
    }

    @Test("An image that is stored turned has its map turned with it", arguments: Orientation.allCases)
    func orientations(orientation: Orientation) throws {
        let source = try Self.source(orientation)
        let upright = try quarters(80, 60).oriented(from: orientation)
        for options in [DecodingOptions(), DecodingOptions(maxPixelSize: 0), DecodingOptions(maxPixelSize: 80)] {
            let map = try #require(try Self.map(Codecs.decode(source, options: options), of: source))
            let scale = options.maxPixelSize == 80 ? 2 : 1
            #expect(map.size == PixelSize(upright.width / scale, upright.height / scale))
            #expect(zip(map.levels, upright.levels).allSatisfy { abs($0 - $1) <= 2 }, "\(map.levels)")
        }
        // Pixels as they are stored, with a label, and taken for others.
        let image = try Codecs.decode(source).stored(as: .up)
        #expect(try Self.map(image, of: source)?.levels == Self.map(Codecs.decode(Self.source()), of: source)?.levels)
    }

    @Test("Thumbnails that are decoded small have the same map as those of the whole image")
    func decodedSmall() throws {
        let source = try Self.source(.right)
        for (mode, anchor) in [
            (ThumbnailMode.fill, ThumbnailAnchor.point(CGPoint(x: 1, y: 0.25))), (.fit, .center), (.exact, .center),
        ] {
            var options = DecodingOptions()
            options.thumbnail = Thumbnail(width: 30, height: 50, mode: mode, anchor: anchor, enlarges: false)
            if mode == .exact { options.thumbnail?.coverage = PixelExtent(width: 0.9, height: 1.02) }
            let thumbnail = try #require(options.thumbnail)
            let small = try Codecs.decode(source, options: options)
            let whole = try #require(try Codecs.decode(source).thumbnail(thumbnail, scale: 1))
            #expect(small.shownPart == whole.shownPart && small.shownPart != nil, "\(mode)")
        }
    }

    @Test("A cut within pixels of the map keeps them in their places") func cutWithinPixels() throws {
        // Three levels a column of the map, of which one lies over two columns of the image.
        func ramp(_ width: Int) -> Bitmap {
            .of(width, 8) { x, _ in 0xFF00_0000 | UInt32(x) * 0x03_0303 }
        }
        let source = try GainMapFixture.sample(ramp(80), map: ramp(40)).file
        for left in 0...20 {
            let rect = CGRect(x: left, y: 0, width: 40, height: 8)
            let map = try #require(try Self.map(Codecs.decode(source).cropped(toPoints: rect), of: source))
            #expect(map.width == 20)
            for column in 1..<19 {
                let expected = 3 * (Double(column) + Double(left) / 2)
                #expect(abs(Double(map[column, 3].g) - expected) <= 1.6, "\(left) \(column): \(map[column, 3].g)")
            }
        }
    }

    @Test("A chain of operations leaves the map where the image is", arguments: 0..<40) func chains(seed: UInt64) throws
    {
        // The image is the map, drawn twice as large.
        func slope(_ width: Int, _ height: Int) -> Bitmap {
            .of(
                (0..<height).map { y in
                    (0..<width).map { x in
                        let (across, down) = ((Double(x) + 0.5) / Double(width), (Double(y) + 0.5) / Double(height))
                        let level = UInt32(20 + 150 * across + 80 * down * down)
                        return 0xFF00_0000 | level << 16 | level << 8 | level
                    }
                }
            )
        }
        let source = try GainMapFixture.sample(slope(180, 140), map: slope(90, 70)).file
        var random = SeededGenerator(state: seed)
        var image = try Codecs.decode(source)
        for _ in 0..<5 {
            let size = image.size
            let next: Image? =
                switch Int.random(in: 0..<6, using: &random) {
                case 0: image.flipped(horizontally: Bool.random(using: &random), vertically: true)
                case 1: image.rotated(by: .pi / 2 * Double(Int.random(in: -3...3, using: &random)), fits: true)
                case 2:
                    image.cropped(
                        toPoints: CGRect(
                            x: Double.random(in: 0...size.width * 0.3, using: &random),
                            y: Double.random(in: 0...size.height * 0.3, using: &random),
                            width: size.width * 0.65,
                            height: size.height * 0.65
                        )
                    )
                case 3: image.resized(toPoints: CGSize(width: size.width * 0.8, height: size.height * 0.9))
                case 4: image.placed(onPoints: CGSize(width: size.width, height: size.height / 2), mode: .aspectFill)
                default: image.stored(as: Orientation.allCases.randomElement(using: &random) ?? .up).normalized
                }
            image = try #require(next)
        }
        let map = try #require(try Self.map(image, of: source))
        let picture = try image.bitmap().resampled(to: map.size, filter: .bilinear)
        let differences = zip(map.rows.joined(), picture.rows.joined()).map { abs(Int($0.g) - Int($1.g)) }
        #expect((differences.max() ?? 0) <= 8 && differences.reduce(0, +) <= 2 * differences.count)
    }

    @Test("Of a part that lies outside the image, the edge is left") func outside() {
        let image = ShownPart(storedAs: .up)
        for (place, edge) in [(1.5, 1.0), (-1.5, 0), (1, 1)] {
            let part = image.part(CGRect(x: place, y: 0.25, width: 0.5, height: 0.5))
            #expect(part.columns == edge...edge && part.rows == 0.25...0.75)
            #expect(image.part(CGRect(x: 0, y: place, width: 1, height: 0.5)).rows == edge...edge)
        }
    }

    @Test("What changes colours, or draws beside the image, leaves the map out, and the image as it is") func colours()
        throws
    {
        let source = try Self.source()
        let image = try Codecs.decode(source)
        let operations: [(Image) -> Image?] = [
            { $0.tinted(with: Color(red: 1, green: 0, blue: 0, alpha: 0.5), .normal) },
            { $0.blended(.multiply, alpha: 1, background: Color(red: 1, green: 0, blue: 0, alpha: 1)) },
            { $0.overlaid(Color(red: 1, green: 0, blue: 0, alpha: 1), fraction: 0.5) },
            { $0.sharpened(sigma: 2, amount: 1) }, { $0.rotated(by: 0.5, fits: true) },
            { $0.rotated(by: .pi / 2, fits: false) }, { $0.circled(border: nil) },
            { $0.placed(onPoints: CGSize(width: 200, height: 200), mode: .aspectFit) },
            { $0.roundingCorners(radius: .point(20)) }, { Image(cgImage: $0.cgImage ?? .solid(0, 1, 1)) },
        ]
        for (index, operation) in operations.enumerated() {
            let result = try #require(operation(image))
            let file = try Self.encoded(result, of: source)
            #expect(try GainMapStructure(file) == nil, "\(index)")
            #expect(try file == Codecs.encode(result, as: .jpeg), "\(index)")
        }
        // With nothing to do they keep it.
        #expect(try GainMapStructure(Self.encoded(image.sharpened(sigma: 0, amount: 1), of: source)) != nil)
    }

    @Test("Other formats are written without it", arguments: [ImageContentType.png, .webp, .gif])
    func otherFormats(type: ImageContentType) throws {
        let source = try Self.source()
        let image = try Codecs.decode(source)
        #expect(try Self.encoded(image, of: source, as: type) == Codecs.encode(image, as: type))
    }

    @Test("A map that is cut off, or larger than images may be, is left out") func undecodable() throws {
        var fixture = try GainMapFixture.sample(quarters(160, 120), map: quarters(80, 60))
        let image = try Codecs.decode(fixture.file)
        let plain = try Codecs.encode(image, as: .jpeg)
        fixture.map = fixture.map.dropLast(20)
        #expect(try Self.encoded(image, of: fixture.file) == plain)
        fixture = try GainMapFixture.sample(quarters(160, 120), map: quarters(80, 60))
        // 60,000 × 60,000 pixels, in its frame header.
        let frame = try #require(place(of: 0xC0, in: fixture.map) ?? place(of: 0xC2, in: fixture.map))
        fixture.map.replaceSubrange(frame + 5..<frame + 9, with: [0xEA, 0x60, 0xEA, 0x60])
        #expect(try ImageInfo(data: fixture.file).gainMap?.pixelWidth == 60_000)
        #expect(try Self.encoded(image, of: fixture.file) == plain)
    }

    @Test("A map is decoded within the limits that it was read with", arguments: [80 * 60, 80 * 60 - 1])
    func limits(maxPixelCount: Int) throws {
        let source = try Self.source()
        var options = ImageEncodingOptions()
        options.metadata.gainMap = GainMap(of: source, limits: ImageDecodingLimits(maxPixelCount: maxPixelCount))
        let file = try Codecs.encode(Codecs.decode(source), as: .jpeg, options)
        #expect(try (GainMapStructure(file) != nil) == (maxPixelCount == 80 * 60))
    }

    // MARK: Files

    @Test(
        "The file is one that the specifications describe, around the image that is written without being asked",
        arguments: [(true, false), (false, true), (true, true)],
        [true, false]
    )
    func structure(kinds: (hasXMP: Bool, hasISO: Bool), isGrey: Bool) throws {
        let fixture = try GainMapFixture.sample(
            quarters(160, 120),
            map: quarters(80, 60),
            isGrey: isGrey,
            hasXMP: kinds.hasXMP,
            hasISO: kinds.hasISO
        )
        let image = try #require(try Codecs.decode(fixture.file).resized(toPoints: CGSize(width: 80, height: 60)))
        var options = ImageEncodingOptions(quality: 0.8)
        options.metadata = EncodedMetadata(exif: Data("MM\0*\0\0\0\u{8}\0\0\0\0\0\0".utf8), hasProfile: true)
        let plain = try Codecs.encode(image, as: .jpeg, options)
        options.metadata.gainMap = GainMap(of: fixture.file)
        let file = try Codecs.encode(image, as: .jpeg, options)
        let found = try #require(try GainMapStructure(file))
        // Without what says that there is a map, it is the file that has none.
        let signs = found.image.count - plain.count
        let start = try #require(zip(found.image, plain).enumerated().first { $1.0 != $1.1 }?.offset)
        #expect(plain == found.image.prefix(start) + found.image.dropFirst(start + signs))
        #expect(found.itemLength == (kinds.hasXMP ? found.map.count : nil))
        #expect(found.imageISO == (kinds.hasISO ? [0, 0, 0, 0] : nil) && (found.imageXMP != nil) == kinds.hasXMP)
        #expect(found.mapISO == (kinds.hasISO ? GainMapFixture.isoParameters : nil))
        #expect((found.mapXMP != nil) == kinds.hasXMP && found.mapComponents == (isGrey ? 1 : 3))
        for attribute in GainMapFixture.attributes.split(separator: " ") where kinds.hasXMP {
            #expect(found.mapXMP?.contains(attribute) == true, "\(attribute)")
        }
        var info = try #require(try ImageInfo(data: fixture.file).gainMap)
        (info.pixelWidth, info.pixelHeight) = (40, 30)
        #expect(try ImageInfo(data: file).gainMap == info)
        // Any reader of JPEGs sees the image.
        #expect(try Codecs.decode(file).bitmap().rows == Codecs.decode(plain).bitmap().rows)
    }

    @Test("Parameters of three channels stay as they were written") func threeChannels() throws {
        var fixture = try GainMapFixture.sample(isGrey: false)
        let list = "<rdf:Seq><rdf:li>1.250</rdf:li><rdf:li>+2</rdf:li><rdf:li>3e0</rdf:li></rdf:Seq>"
        fixture.xmp = (
            "hdrgm:Version=\"1.0\" hdrgm:HDRCapacityMax=\"3\" private=\"location\"",
            "<hdrgm:GainMapMax>\(list)</hdrgm:GainMapMax>"
        )
        let file = try Self.encoded(Codecs.decode(fixture.file), of: fixture.file)
        let packet = try #require(try GainMapStructure(file)?.mapXMP)
        #expect(packet.contains("<hdrgm:GainMapMax>\(list)</hdrgm:GainMapMax>"))
        #expect(!packet.contains("location") && !packet.contains("Gamma"))
    }

    @Test("What else the map's file says is left out, and its profile does not change its numbers") func metadata()
        throws
    {
        var fixture = try GainMapFixture.sample(quarters(160, 120), map: quarters(80, 60))
        let plain = try Self.map(Codecs.decode(fixture.file), of: fixture.file)
        let p3 = try profileOfP3()
        fixture.map =
            fixture.map.prefix(2) + p3 + Data([0xFF, 0xFE, 0, 8] + Array("secret".utf8))
            + fixture.map.dropFirst(2)
        let file = try Self.encoded(Codecs.decode(fixture.file), of: fixture.file)
        #expect(try Self.map(Codecs.decode(fixture.file), of: fixture.file)?.rows == plain?.rows)
        #expect(file.range(of: Data("secret".utf8)) == nil && file.range(of: Data("ICC_PROFILE".utf8)) == nil)
    }

    /// The segment with a profile of Display P3.
    private func profileOfP3() throws -> Data {
        let data = try fixture("display-p3.jpg")
        let start = try #require(place(of: 0xE2, in: data))
        return data[start..<start + 2 + Int(data[start + 2]) << 8 + Int(data[start + 3])]
    }

    @Test("exiftool finds both images and the parameters", .enabled(if: ExifTool.isInstalled, "\(ExifTool.advice)"))
    func exifTool() throws {
        // It takes the segments of ISO 21496-1 for unknown ones.
        let source = try GainMapFixture.sample(quarters(160, 120), map: quarters(80, 60)).file
        let file = try Self.encoded(Codecs.decode(source).rotated(by: .pi / 2, fits: true), of: source)
        let found = try ExifTool.read(
            file,
            ["-json", "-a", "-G1", "-n", "-MPF:all", "-XMP:all", "-validate", "-warning"]
        )
        let text = String(decoding: found, as: UTF8.self)
        let values = try #require((try JSONSerialization.jsonObject(with: found) as? [[String: Any]])?.first, "\(text)")
        #expect(values["MPF0:NumberOfImages"] as? Int == 2, "\(text)")
        let structure = try #require(try GainMapStructure(file))
        #expect(values["MPImage2:MPImageLength"] as? Int == structure.map.count, "\(text)")
        #expect(values["MPImage2:MPImageStart"] as? Int == structure.image.count, "\(text)")
        #expect(values.keys.allSatisfy { !$0.hasSuffix("Warning") }, "\(text)")
        #expect(try ExifTool.read(file, ["-b", "-MPImage2"]) == Data(structure.map))
        let map = try ExifTool.read(Data(structure.map), ["-json", "-a", "-G1", "-n", "-XMP:all"])
        let parameters = try #require((try JSONSerialization.jsonObject(with: map) as? [[String: Any]])?.first)
        let texts = parameters.filter { $0.key.hasSuffix(":GainMapMax") }.values.map { "\($0)" }
        #expect(texts == ["2.25"], "\(parameters)")
    }
}
