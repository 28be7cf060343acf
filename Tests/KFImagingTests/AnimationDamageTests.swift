// Animations that end too early, contradict themselves, or promise more than they hold.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import KFImaging

@Suite struct BrokenAPNGTests {
    private func count(_ change: (inout PNGChunkList) throws -> Void) throws -> Int? {
        var pieces = PNGChunkList(try fixture("apng-no.png"))
        try change(&pieces)
        let found = try frames(of: pieces.data)
        for index in found?.frames.indices ?? 0..<0 { _ = try ownPixels(#require(found), index) }
        // ImageInfo reports the same number.
        #expect(try ImageInfo(data: pieces.data).frameCount == found?.frames.count ?? 1)
        return found?.frames.count
    }

    @Test("The undamaged file has four frames") func undamaged() throws {
        #expect(try count { _ in } == 4)
    }

    @Test("Frame data without a frame header is not a frame") func dataWithoutHeader() throws {
        // Without its header the first image is no frame, and the data after it belongs to the next header.
        #expect(try count { $0.chunks.remove(at: $0.places("fcTL")[0]) } == 3)
        // Data of a frame before any header.
        #expect(
            try count {
                let data = $0.chunks[$0.places("fdAT")[0]]
                $0.chunks.removeAll { $0.name == "fcTL" || $0.name == "fdAT" }
                $0.chunks.insert(data, at: $0.places("IEND")[0])
            } == nil
        )
    }

    @Test("Data whose frame header is missing belongs to the frame before") func missingHeader() throws {
        #expect(try count { $0.chunks.remove(at: $0.places("fcTL")[2]) } == 3)
    }

    @Test("A frame without pixels ends the animation", arguments: [4, 8])
    func frameWithoutPixels(side: Int) throws {
        #expect(
            try count { pieces in
                pieces.chunks[pieces.places("fcTL")[2]].content.replaceSubrange(side..<side + 4, with: [0, 0, 0, 0])
            } == 2
        )
    }

    @Test("A frame outside the canvas ends the animation", arguments: [4, 8, 12, 16])
    func frameOutsideCanvas(field: Int) throws {
        for value: [UInt8] in [[0, 0, 0, 17], [0x7F, 0xFF, 0xFF, 0xFF], [0xFF, 0xFF, 0xFF, 0xFF]] {
            #expect(
                try count { pieces in
                    pieces.chunks[pieces.places("fcTL")[1]].content.replaceSubrange(field..<field + 4, with: value)
                } == 1
            )
        }
    }

    @Test("Sequence numbers may have gaps but have to increase") func sequenceNumbers() throws {
        #expect(try count { $0.chunks[$0.places("fcTL")[3]].content[2] = 1 } == 3)
        // The data that follows has the greater number too.
        #expect(
            try count { pieces in
                let from = pieces.places("fcTL")[3]
                for place in from..<pieces.chunks.count - 1 { pieces.chunks[place].content[2] = 1 }
            } == 4
        )
        #expect(try count { pieces in pieces.chunks[pieces.places("fcTL")[2]].content[3] = 0 } == 2)
    }

    @Test("Frames beyond the announced number are not shown, and fewer are accepted") func announcedFrameCount() throws
    {
        #expect(try count { $0.chunks[$0.places("acTL")[0]].content[3] = 2 } == 2)
        #expect(try count { $0.chunks[$0.places("acTL")[0]].content[0] = 0x7F } == 4)
        #expect(try count { $0.chunks[$0.places("acTL")[0]].content[3] = 0 } == nil)
    }

    @Test("An acTL chunk after the image data is ignored") func controlChunkOrder() throws {
        #expect(
            try count { pieces in
                let announcement = pieces.chunks.remove(at: pieces.places("acTL")[0])
                pieces.chunks.insert(announcement, at: pieces.places("IDAT")[0] + 1)
            } == nil
        )
    }

    @Test("Without a first frame of the size of the image there is no animation") func smallFirstFrame() throws {
        #expect(try count { $0.chunks[$0.places("fcTL")[0]].content[7] = 15 } == nil)
    }

    @Test("A damaged frame is an error, and others are decoded") func damagedFrame() throws {
        var pieces = PNGChunkList(try fixture("apng-no.png"))
        let place = pieces.places("fdAT")[2]
        pieces.chunks[place].content.replaceSubrange(4..<20, with: [UInt8](repeating: 0xAA, count: 16))
        let decoder = try #require(try frames(of: pieces.data))
        #expect(throws: ImagingError.self) { try ownPixels(decoder, 2) }
        #expect(try ownPixels(decoder, 3).count == 6)
    }
}

@Suite struct BrokenSequenceTests {
    /// The ranges of the samples of the first track.
    private func samples(_ data: Data) throws -> [Range<Int>] {
        func place(_ name: String) throws -> Int { try #require(data.range(of: Data(name.utf8))).upperBound }
        func number(_ place: Int) -> Int { data[place..<place + 4].reduce(0) { $0 << 8 | Int($1) } }
        let (chunk, sizes) = (try place("stco"), try place("stsz"))
        var start = number(chunk + 8)
        return (0..<number(sizes + 8)).map { index in
            let size = number(sizes + 12 + 4 * index)
            defer { start += size }
            return start..<start + size
        }
    }

    /// A sequence header of 65,536 × 65,536 pixels, and padding that makes up the length.
    private func bomb(_ count: Int) -> [UInt8] {
        // Profile 0, still, reduced; level 0; 16 bits for each side; both sides 65,535 more than one.
        let header: [UInt8] = [0b0001_1000, 0b0011_1111, 0b1111_1111, 0xFF, 0xFF, 0xFF, 0b1000_0000]
        let units = [0x12, 0x00, 0x0A, UInt8(header.count)] + header
        let rest = count - units.count - 3
        return units + [0x7A, UInt8(rest & 0x7F | 0x80), UInt8(rest >> 7)] + [UInt8](repeating: 0, count: rest)
    }

    @Test("A frame larger than announced is refused, and others are decoded", arguments: [1, 3])
    func largeFrameRefused(index: Int) throws {
        var data = try fixture("sequence.avif")
        let place = try samples(data)[index]
        data.replaceSubrange(place, with: bomb(place.count))
        let decoder = try #require(try frames(of: data))
        let expected = ImagingError.malformed(.avif, detail: "Decoding of color planes failed")
        _ = try ownPixels(decoder, 0)
        #expect(throws: expected) { try ownPixels(decoder, index) }
        #expect(throws: expected) { try ownPixels(decoder, index) }
        // The other frames can still be decoded: those before it, and those after the next key frame.
        #expect(try ownPixels(decoder, 0).count == 48)
        if index == 1 { #expect(try ownPixels(decoder, 5) == ownPixels(#require(try frames("sequence.avif")), 5)) }
    }

    @Test("A frame that is not AV1 data is an error, and others are decoded") func garbageFrame() throws {
        var data = try fixture("sequence.avif")
        let place = try samples(data)[2]
        data.replaceSubrange(place, with: [UInt8](repeating: 0xFF, count: place.count))
        let decoder = try #require(try frames(of: data))
        let expected = ImagingError.malformed(.avif, detail: "Decoding of color planes failed")
        _ = try ownPixels(decoder, 1)
        #expect(throws: expected) { try ownPixels(decoder, 2) }
        #expect(try ownPixels(decoder, 3).count == 48)
    }

    @Test("A sequence that ends too early is refused") func truncatedSequence() throws {
        // libavif reads the last frame when it opens the file, as browsers do.
        let cut = try fixture("sequence.avif").dropLast(10)
        #expect(throws: ImagingError.self) { try frames(of: cut) }
        #expect(throws: ImagingError.self) { try ImageInfo(data: cut) }
    }
}

@Suite struct BrokenWebPTests {
    @Test("A truncated animation keeps the frames that are complete") func truncatedFrames() throws {
        let data = try fixture("webp-no.webp")
        let whole = try #require(try frames(of: data))
        let cut = try #require(try frames(of: data.dropLast(30)))
        #expect(cut.frames.count == 4 && whole.frames.count == 4)
        #expect(try ownPixels(cut, 2) == ownPixels(whole, 2))
        #expect(throws: ImagingError.self) { try ownPixels(cut, 3) }
        #expect(try frames(of: data.prefix(200))?.frames.count ?? 0 < 4)
    }

    @Test("A file with a frame outside the canvas is refused") func outsideCanvasRefused() throws {
        var data = try fixture("webp-no.webp")
        let place = try #require(data.range(of: Data("ANMF".utf8), options: .backwards)).upperBound + 4
        data[place] = 200
        #expect(throws: ImagingError.malformed(.webp, detail: "damaged data")) { try frames(of: data) }
    }

    @Test("Data after the end of the file is ignored") func trailingDataIgnored() throws {
        let data = try fixture("webp-no.webp")
        let frame = try #require(data.range(of: Data("ANMF".utf8), options: .backwards)).lowerBound
        let longer = data + data[frame...]
        #expect(try frames(of: longer)?.frames.count == 4)
    }
}

/// Decodes every frame of damaged animations, for errors that a sanitizer or a crash would show.
@Suite struct AnimationDamageTests {
    private static let executor = WorkExecutor("kf.damage.frames", threads: 1)
    private static let names = [
        "animated.png", "apng-po.png", "apng-palette.png", "animated.webp", "webp-bo.webp", "sequence.avif",
        "sequence-alpha.avif",
    ]

    private func decodeEverything(_ data: Data) {
        let limits = ImageDecodingLimits(maxPixelCount: 1 << 16)
        guard let decoder = (try? frames(of: data, limits: limits)) ?? nil else { return }
        #expect(!decoder.frames.isEmpty)
        for index in decoder.frames.indices.reversed() + Array(decoder.frames.indices) {
            let frame = decoder.frames[index]
            #expect(frame.size.pixelCount <= 1 << 16 && frame.delay > 0.011)
            var rows = Set<Int>()
            let all = Set(0..<frame.size.height)
            do {
                try decoder.decode(index) { y, _ in rows.insert(y) }
                #expect(rows == all)
            } catch {
                // Only an opaque frame may lack some of its rows.
                #expect(rows.isSubset(of: all) && (rows.isEmpty || frame.isOpaque))
            }
        }
    }

    @Test("Truncated animations are decoded or refused", arguments: names)
    func truncated(name: String) async throws {
        let data = try fixture(name)
        await Self.executor.run {
            for step in 0..<30 { decodeEverything(data.prefix(data.count * step / 30)) }
            for cut in 1...6 { decodeEverything(data.dropLast(cut)) }
        }
    }

    @Test("Animations with flipped bits are decoded or refused", arguments: names)
    func flippedBits(name: String) async throws {
        let data = try fixture(name)
        await Self.executor.run {
            var generator = SeededGenerator(state: UInt64(data.count))
            for round in 0..<60 {
                var damaged = data
                for _ in 0...(round % 4) {
                    damaged[Int.random(in: 0..<data.count, using: &generator)] ^=
                        1 << UInt8.random(in: 0..<8, using: &generator)
                }
                decodeEverything(damaged)
            }
        }
    }
}
