// The mark of damaged images: those with missing data have it, complete ones do not.

import Foundation
import Testing

@testable import KFImaging

@Suite struct TruncationTests {
    /// The fixtures that lack data on purpose.
    private static let damaged: Set<String> = []

    @Test("Whole images are not damaged, decoded in full, small, or as animations")
    func wholeImages() throws {
        for name in try allFixtureNames() where !Self.damaged.contains(name) {
            let data = try fixture(name)
            guard let image = try? Codecs.decode(data) else { continue }
            #expect(!image.isDamaged, "\(name)")
            #expect(try !picture(name, maxPixelSize: 8).isDamaged, "\(name)")
            #expect(Image.decoded(from: data, options: ImageCreatingOptions())?.isDamaged == false, "\(name)")
        }
    }

    @Test(
        "An image cut short is marked as damaged",
        arguments: [
            "photo.jpg", "progressive.jpg", "separate.jpg", "restarts.jpg", "photo.png", "interlaced.png", "photo.gif",
            "frames.gif",
        ]
    )
    func cutImages(name: String) throws {
        let data = try fixture(name)
        let cut = data.prefix(data.count * 7 / 10)
        #expect(try Codecs.decode(cut).isDamaged)
        #expect(try Codecs.decode(cut, options: DecodingOptions(maxPixelSize: 20)).isDamaged)
        let image = try #require(Image.decoded(from: cut, options: ImageCreatingOptions()))
        #expect(image.isDamaged)
        // So are the results of operations on it.
        #expect(image.resized(toPoints: CGSize(width: 5, height: 5))?.isDamaged == true)
        #expect(image.blurred(radius: 2)?.isDamaged == true)
        #expect(try image.upright().isDamaged)
    }

    @Test("Bytes that were changed in the middle damage the image", arguments: ["photo.jpg", "photo.png"])
    func changedBytes(name: String) throws {
        var data = try fixture(name)
        let middle = data.count / 2
        data.replaceSubrange(middle..<middle + 40, with: Data(repeating: 0xFF, count: 40))
        #expect(try Codecs.decode(data).isDamaged)
    }

    @Test("Without decoding, the structure tells a file that ends too early from a whole one")
    func cutStructures() throws {
        let names = [
            "photo.jpg", "progressive.jpg", "restarts.jpg", "orientation-6.jpg", "photo.png", "interlaced.png",
            "animated.png", "photo.gif", "frames.gif", "photo.webp", "animated.webp", "photo.avif", "sequence.avif",
        ]
        for name in names {
            let data = try fixture(name)
            #expect(Codecs.isTruncated(data) == false, "\(name)")
            #expect(Codecs.isTruncated(data + Data(repeating: 0, count: 3)) != nil)
            for part in 1...19 {
                let cut = data.prefix(data.count * part / 20)
                guard (try? Codecs.info(of: cut)) != nil else { continue }
                #expect(Codecs.isTruncated(cut) == true, "\(name), \(part) of 20 parts")
            }
        }
        // The first image in it ends; it is in a segment.
        let thumbnail = Data([0xFF, 0xE1, 0, 6]) + Data([0xFF, 0xD8, 0xFF, 0xD9])
        let photo = try fixture("photo.jpg")
        #expect(Codecs.isTruncated((photo.prefix(2) + thumbnail + photo.dropFirst(2)).dropLast(20)) == true)
        for name in ["photo.tiff", "palette.bmp", "mask.ico"] { #expect(try Codecs.isTruncated(fixture(name)) == nil) }
        #expect(Codecs.isTruncated(Data("text".utf8)) == nil)
    }

    @Test("A JPEG without its last marker lacks nothing", arguments: ["photo.jpg", "progressive.jpg"])
    func missingEndMarker(name: String) throws {
        let data = try fixture(name)
        #expect(data.suffix(2) == Data([0xFF, 0xD9]))
        #expect(try !Codecs.decode(data.dropLast(2)).isDamaged)
    }

    @Test("Animations that end early are damaged, although their first frame is whole")
    func cutAnimations() throws {
        let first = ResamplingTests.noise(24, 18, opaque: true)
        let frames = (0..<5).map { Image(cgImage: ResamplingTests.noise(24, 18, opaque: true, seed: UInt64($0 + 2))) }
        let animation = try #require(Image.animatedImage(with: [Image(cgImage: first)] + frames, duration: 1))
        let source = try #require(animation.frames)
        for data in [try Codecs.encode(source, as: .webp, lossless: true), try fixture("frames.gif")] {
            #expect(Image.decoded(from: data, options: ImageCreatingOptions())?.isDamaged == false)
            #expect(
                Image.decoded(from: data.dropLast(data.count / 3), options: ImageCreatingOptions())?.isDamaged == true
            )
        }
    }
}
