// Processors that crop by content: they cut the same part out of all frames of an animation.

import Foundation
import KFImaging
import Testing

@testable import Kingfisher

/// A square of 4 × 4 pixels that moves over a transparent canvas of 40 × 20: at x = 6, 14, 22 and y = 5.
private struct MovingSquare: ImageFrameSource {
    var data: Data? { nil }
    var frameCount: Int { 3 }

    static func left(_ index: Int) -> Int { 6 + 8 * index }

    func frame(at index: Int, maxSize: CGSize?) -> Bitmap? {
        guard (0..<3).contains(index) else { return nil }
        return Bitmap(width: 40, height: 20) { memory, bytesPerRow in
            for y in 5..<9 {
                for x in Self.left(index)..<Self.left(index) + 4 {
                    memory.storeBytes(of: 0xFFE0_4020, toByteOffset: y * bytesPerRow + x * 4, as: UInt32.self)
                }
            }
        }
    }

    func duration(at index: Int) -> TimeInterval { 0.1 }
}

@Suite struct ContentCropTests {
    private let options = KingfisherParsedOptionsInfo([.animatedProcessing(.transformFrames)])

    private func frames(_ processor: any ImageProcessor) throws -> [Bitmap] {
        let image = try #require(KingfisherWrapper<Image>.animatedImage(source: MovingSquare(), options: .init()))
        let result = EachFrameProcessor(processor).process(item: .image(image), options: options)
        let frames = try #require(result?.frames)
        return try (0..<frames.frameCount).map { try #require(frames.frame(at: $0)) }
    }

    private func firstColumn(_ bitmap: Bitmap) -> Int? {
        bitmap.withUnsafeBytes { bytes in
            (0..<bitmap.width).first { x in
                (0..<bitmap.height).contains { bytes[$0 * bitmap.bytesPerRow + x * 4 + 3] > 0 }
            }
        }
    }

    @Test("Only margins that are empty in all frames are trimmed") func trimming() throws {
        let pictures = try frames(TrimmingImageProcessor())
        // From the left edge in the first frame to the right edge in the last one.
        #expect(pictures.allSatisfy { $0.width == 20 && $0.height == 4 })
        #expect(pictures.map(firstColumn) == [0, 8, 16])
    }

    @Test("The same window is cut out of all frames") func oneWindow() throws {
        let pictures = try frames(SmartCroppingImageProcessor(size: CGSize(width: 24, height: 10)))
        #expect(pictures.allSatisfy { $0.width == 24 && $0.height == 10 })
        let places = pictures.compactMap(firstColumn)
        // The square moves in the window as it does on the canvas, within the window's limits.
        for (one, next) in zip(places, places.dropFirst()) { #expect(next - one == 8) }
        #expect(places.count >= 2)
    }

    @Test("A chained processor examines the output of the previous one") func chainedProcessors() throws {
        let doubled = ResizingImageProcessor(referenceSize: CGSize(width: 80, height: 40), filter: .nearest)
        for chain in [
            doubled |> TrimmingImageProcessor(), CompositionImageProcessor([doubled, TrimmingImageProcessor()]),
        ] {
            let pictures = try frames(chain)
            #expect(pictures.allSatisfy { $0.width == 40 && $0.height == 8 })
            #expect(pictures.map(firstColumn) == [0, 16, 32])
        }
        let trimmedFirst = try frames(TrimmingImageProcessor() |> doubled)
        #expect(trimmedFirst.allSatisfy { $0.width == 80 && $0.height == 40 })
        #expect(trimmedFirst.map(firstColumn) == [0, 32, 64])
    }
}
