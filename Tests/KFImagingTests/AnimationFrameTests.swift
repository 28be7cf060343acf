// The frames of animated PNG, WebP and AVIF: how they are described, their colours, limits, and any order.

import Foundation
import KFSupport
import Testing

@testable import KFImaging

@Suite struct AnimationFrameTests {
    @Test(
        "Frames have the disposal, the blending and the position of the file",
        arguments: [
            ("apng-ns.png", FrameDescription.Disposal.keep, FrameDescription.Blend.source),
            ("apng-bo.png", .clear, .over), ("apng-ps.png", .restore, .source), ("webp-ns.webp", .keep, .source),
            ("webp-bo.webp", .clear, .over),
        ]
    )
    func disposalAndBlend(
        name: String,
        disposal: FrameDescription.Disposal,
        blend: FrameDescription.Blend
    ) throws {
        let decoder = try #require(try frames(name))
        #expect(decoder.frames.allSatisfy { $0.disposal == disposal && $0.blend == blend })
        #expect(decoder.frames.map(\.x) == [0, 2, 6, 0] && decoder.frames.map(\.y) == [0, 2, 4, 6])
    }

    @Test("RIFF chunks of odd sizes are followed by a padding byte", arguments: [30, 44])
    func oddChunkPadding(place: Int) throws {
        // Behind VP8X, where a profile would be, and behind ANIM.
        var data = try fixture("webp-ns.webp")
        data.insert(contentsOf: Array("odd!".utf8) + [3, 0, 0, 0, 1, 2, 3, 0], at: place)
        let size = data.count - 8
        for byte in 0..<4 { data[4 + byte] = UInt8(truncatingIfNeeded: size >> (8 * byte)) }
        let (plain, found) = (try Codecs.frameSource(of: fixture("webp-ns.webp")), try Codecs.frameSource(of: data))
        #expect(found?.frameCount == 4)
        for index in 0..<4 {
            let frame = try #require(found?.frame(at: index))
            #expect(frame.words == plain?.frame(at: index)?.words)
        }
    }

    @Test(
        "A profile applies to all frames of an APNG and is not copied into their files",
        arguments: ["apng-ns.png", "apng-bo.png", "animated.png"]
    )
    func profileOfAllFrames(name: String) throws {
        let profile = try #require(PNGChunkList(fixture("display-p3.png")).chunks.first { $0.name == "iCCP" })
        let plain = try #require(try frames(name))
        var pieces = try PNGChunkList(fixture(name))
        pieces.chunks.insert(profile, at: 1)
        let colored = try #require(try frames(of: pieces.data) as? APNGFrames)
        var changed = false
        for index in colored.frames.indices {
            let file = colored.file(of: index)
            #expect(file.range(of: Data("iCCP".utf8)) == nil)
            let rows = try ownPixels(colored, index)
            // The same frame as a still that has the profile.
            var still = PNGChunkList(file)
            still.chunks.insert(profile, at: 1)
            #expect(try rows.flatMap { $0 } == Codecs.decode(still.data).bitmap().words, "frame \(index)")
            changed = try changed || rows != ownPixels(plain, index)
        }
        #expect(changed)
    }

    @Test("Metadata of an APNG is not copied into the files of its frames") func metadataNotCopied() throws {
        var pieces = try PNGChunkList(fixture("apng-ns.png"))
        let frame = try #require(try frames(of: pieces.data) as? APNGFrames).file(of: 1)
        for name in ["iCCP", "gAMA", "cHRM", "sRGB", "cICP", "eXIf", "tEXt", "PLTE", "tRNS"] {
            let chunk = PNGChunkList.Chunk(name: name, content: [UInt8](repeating: 1, count: 5000), sum: [0, 0, 0, 0])
            pieces.chunks.insert(contentsOf: [chunk, chunk], at: 1)
        }
        #expect(try #require(try frames(of: pieces.data) as? APNGFrames).file(of: 1) == frame)
    }

    @Test("A default image that is not part of the animation is not a frame") func hiddenDefaultImage() throws {
        let decoder = try #require(try frames("apng-hidden.png"))
        #expect(try composed(decoder)[0][8, 8] == Pixel(r: 200, g: 40, b: 40))
        // Software without support for animations shows it.
        #expect(try picture("apng-hidden.png").bitmap()[8, 8] == Pixel(r: 9, g: 9, b: 9))
        // A downsampled decode shows the first frame of the animation.
        var compositor = FrameCompositor(decoder)
        let first = try compositor.frame(at: 0)
        #expect(
            try picture("apng-hidden.png", maxPixelSize: 8).bitmap().words == first.resampled(to: PixelSize(8, 6)).words
        )
    }

    @Test("The palette and its transparency apply to all frames") func sharedPalette() throws {
        let decoder = try #require(try frames("apng-palette.png"))
        let last = try composed(decoder)[2]
        #expect(last[0, 0] == Pixel(r: 255, g: 0, b: 0) && last[1, 1] == Pixel(r: 0, g: 255, b: 0))
        #expect(last[3, 3] == Pixel(r: 0, g: 255, b: 0) && decoder.frames.allSatisfy { !$0.isOpaque })
    }

    @Test("Opaque frames are marked as opaque", arguments: ["animated.png", "animated.webp", "sequence.avif"])
    func opaqueFrames(name: String) throws {
        let decoder = try #require(try frames(name))
        #expect(try decoder.frames.contains { $0.isOpaque } == !ImageInfo(data: fixture(name)).hasAlpha)
    }

    @Test("Stills have no frames", arguments: ["photo.png", "photo.webp", "photo.avif", "alpha.avif", "bomb.png"])
    func stills(name: String) throws {
        #expect(try frames(name) == nil)
    }

    @Test(
        "Limits of frames and pixels hold for animations",
        arguments: ["animated.png", "animated.webp", "sequence.avif"]
    )
    func frameLimits(name: String) throws {
        var limits = ImageDecodingLimits()
        limits.maxFrameCount = 2
        let count = try ImageInfo(data: fixture(name)).frameCount
        #expect(throws: ImagingError.tooManyFrames(count, allowed: 2)) { try frames(name, limits: limits) }
        #expect(throws: ImagingError.self) { try frames(name, limits: ImageDecodingLimits(maxPixelCount: 100)) }
    }
}

@Suite struct SequenceTests {
    @Test("The frames of a sequence can be decoded in any order") func anyOrder() throws {
        let decoder = try #require(try frames("sequence.avif"))
        let originals = try (0..<3).map { try picture("sequence-\($0).png").bitmap() }
        // Sequentially, backwards, twice, across the key frames (0 and 3).
        for index in [0, 1, 2, 3, 4, 5, 1, 1, 5, 0, 2, 4, 3] {
            let frame = Bitmap.of(try ownPixels(decoder, index))
            let expected = index < 3 ? originals[index] : nil
            if let expected { #expect(frame.likeness(to: expected) > 35, "frame \(index)") }
            if index == 4 { #expect(frame.likeness(to: originals[0]) > 35) }
        }
    }

    @Test("Independent decoders of one sequence do not affect each other") func independentDecoders() throws {
        let one = try #require(try frames("sequence.avif"))
        let other = try one.independent()
        let first = try ownPixels(one, 0)
        _ = try ownPixels(other, 4)
        #expect(try ownPixels(one, 1) == ownPixels(other, 1))
        #expect(try ownPixels(other, 0) == first)
        #expect(other.frames == one.frames)
    }

    @Test("The alpha of a sequence is decoded") func sequenceAlpha() throws {
        let decoder = try #require(try frames("sequence-alpha.avif"))
        #expect(decoder.frames.allSatisfy { !$0.isOpaque })
        let (first, last) = (try ownPixels(decoder, 0), try ownPixels(decoder, 1))
        // The alpha grows to the right, and then to the left.
        #expect(first[16][1] >> 24 < 10 && first[16][46] >> 24 > 190)
        #expect(last[16][1] >> 24 > 190 && last[16][46] >> 24 < 10)
    }

    @Test(
        "The loop count of a sequence comes from its edit list",
        arguments: [(105, 35, 3, true), (105, 50, 3, true), (0xFFFF_FFFF, 35, 0, true), (105, 105, 1, false)]
    )
    func editListLoopCount(whole: Int, part: Int, loops: Int, repeats: Bool) throws {
        let data = try withEditList(fixture("sequence.avif"), whole: whole, part: part, repeats: repeats)
        #expect(try ImageInfo(data: data).loopCount == loops)
    }

    /// Inserts an edit list into the first track, and shifts the chunk offsets of the tracks accordingly.
    private func withEditList(_ data: Data, whole: Int, part: Int, repeats: Bool) throws -> Data {
        let entry = bytes(part) + bytes(0) + bytes(0x10000)
        let list = bytes(28) + Array("elst".utf8) + bytes(repeats ? 1 : 0) + bytes(1) + entry
        let box = bytes(36) + Array("edts".utf8) + list
        var file = [UInt8](data)
        func place(_ name: String) throws -> Int { try #require(data.range(of: Data(name.utf8))).lowerBound - 4 }
        func number(_ place: Int) -> Int { file[place..<place + 4].reduce(0) { $0 << 8 | Int($1) } }
        func set(_ place: Int, _ number: Int) { file.replaceSubrange(place..<place + 4, with: bytes(number)) }
        var rest = data[...]
        while let found = rest.range(of: Data("stco".utf8)) {
            for entry in 0..<number(found.lowerBound + 8) {
                set(found.lowerBound + 12 + 4 * entry, number(found.lowerBound + 12 + 4 * entry) + box.count)
            }
            rest = rest[found.upperBound...]
        }
        for name in ["moov", "trak"] { set(try place(name), number(try place(name)) + box.count) }
        let header = try place("tkhd")
        if file[header + 8] == 1 {
            set(header + 36, whole == 0xFFFF_FFFF ? whole : 0)
            set(header + 40, whole)
        } else {
            set(header + 28, whole)
        }
        file.insert(contentsOf: box, at: header + number(header))
        return Data(file)
    }

    private func bytes(_ number: Int) -> [UInt8] { withUnsafeBytes(of: UInt32(number).bigEndian, Array.init) }
}
