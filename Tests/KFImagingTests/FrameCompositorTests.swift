// Composed frames, against the simplest implementation, which composes all frames from the first one on every time.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import KFImaging

/// An animation of generated pixels.
private final class SyntheticDecoder: FrameDecoder {
    enum Damage: Sendable {
        case none
        /// The decoder fails after this number of rows.
        case after(Int)
        case noMemory
    }

    let canvas: PixelSize
    let frames: [FrameDescription]
    let loopCount: UInt = 0
    let damage: [Int: Damage]
    /// The number of times each frame was decoded.
    let decoded = Locked([Int: Int]())

    init(_ canvas: PixelSize, _ frames: [FrameDescription], damage: [Int: Damage] = [:]) {
        self.canvas = canvas
        self.frames = frames
        self.damage = damage
    }

    /// The premultiplied pixel of a frame at a position.
    static func pixel(_ frame: FrameDescription, _ index: Int, _ x: Int, _ y: Int) -> UInt32 {
        var generator = SeededGenerator(state: UInt64(index * 1_000_003 + y * 1009 + x))
        let word = UInt32(truncatingIfNeeded: generator.next())
        let alpha: UInt32 = frame.isOpaque ? 255 : [0, 255, 255, word >> 24][Int(word & 3)]
        let level = (word >> 8 & 0xFF) * alpha / 255
        return alpha << 24 | level << 16 | (level / 2) << 8 | level / 3
    }

    func decode(_ index: Int, row: (Int, UnsafePointer<UInt32>) -> Void) throws(ImagingError) {
        decoded.withLock { $0[index, default: 0] += 1 }
        let frame = frames[index]
        for y in 0..<frame.size.height {
            switch damage[index] ?? .none {
            case .after(y): throw .malformed(.gif, detail: "on purpose")
            case .noMemory: throw .outOfMemory(bytes: 1)
            default: break
            }
            let pixels = (0..<frame.size.width).map { Self.pixel(frame, index, $0, y) }
            pixels.withUnsafeBufferPointer { $0.baseAddress.map { row(y, $0) } }
        }
    }

    /// The expected pixels of a frame; nil when nothing of it can be decoded.
    func expected(_ index: Int) -> [UInt32]? {
        var canvas = [UInt32](repeating: 0, count: canvas.width * canvas.height)
        for (place, frame) in frames.enumerated().prefix(index + 1) {
            let before = canvas
            var rows = frame.size.height
            if case .after(let count) = damage[place] { rows = count }
            forEachPixel(of: frame, rows: rows) { at, x, y in
                let above = Self.pixel(frame, place, x, y)
                canvas[at] = frame.blend == .source ? above : Self.over(above, canvas[at])
            }
            if place == index { return rows == 0 ? nil : canvas }
            switch frame.disposal {
            case .keep: break
            case .clear: forEachPixel(of: frame, rows: frame.size.height) { at, _, _ in canvas[at] = 0 }
            case .restore: canvas = before
            }
        }
        return nil
    }

    private func forEachPixel(of frame: FrameDescription, rows: Int, _ body: (Int, Int, Int) -> Void) {
        for y in 0..<rows {
            for x in 0..<frame.size.width {
                let (column, line) = (frame.x + x, frame.y + y)
                guard (0..<canvas.width).contains(column), (0..<canvas.height).contains(line) else { continue }
                body(line * canvas.width + column, x, y)
            }
        }
    }

    static func over(_ above: UInt32, _ below: UInt32) -> UInt32 {
        let rest = 255 - above >> 24
        return [24, 16, 8, 0].reduce(0) { word, shift in
            let t = (below >> shift & 0xFF) * rest + 128
            return word | ((above >> shift & 0xFF) + (t + t >> 8) >> 8) << shift
        }
    }

    static func random(_ seed: UInt64, count: Int = 12) -> SyntheticDecoder {
        var generator = SeededGenerator(state: seed)
        let frames = (0..<count).map { _ in
            var frame = FrameDescription(
                x: Int.random(in: -3...8, using: &generator),
                y: Int.random(in: -3...6, using: &generator),
                size: PixelSize(Int.random(in: 1...14, using: &generator), Int.random(in: 1...11, using: &generator)),
                delay: 0.1
            )
            if Int.random(in: 0..<4, using: &generator) == 0 {
                (frame.x, frame.y, frame.size) = (0, 0, PixelSize(9, 7))
            }
            frame.disposal = [.keep, .clear, .restore][Int.random(in: 0..<3, using: &generator)]
            frame.blend = Bool.random(using: &generator) ? .over : .source
            frame.isOpaque = Bool.random(using: &generator)
            return frame
        }
        return SyntheticDecoder(PixelSize(9, 7), frames)
    }
}

extension Bitmap {
    /// All pixels, row by row, without the padding between rows.
    var words: [UInt32] {
        withUnsafeBytes { bytes in
            (0..<height).flatMap { y in
                (0..<width).map { bytes.load(fromByteOffset: y * bytesPerRow + $0 * 4, as: UInt32.self) }
            }
        }
    }
}

@Suite struct FrameCompositorTests {
    @Test("Frames in order are composed correctly, and each is decoded once") func inOrder() throws {
        for seed in 0..<60 {
            let animation = SyntheticDecoder.random(UInt64(seed))
            var compositor = FrameCompositor(animation)
            for index in animation.frames.indices {
                let frame = try compositor.frame(at: index)
                #expect(frame.words == animation.expected(index), "animation \(seed), frame \(index)")
                #expect(frame.hasAlpha == frame.words.contains { $0 >> 24 < 255 })
            }
            #expect(animation.decoded.withLock { $0.values.allSatisfy { $0 == 1 } }, "animation \(seed)")
        }
    }

    @Test("Frames in any order are composed correctly") func anyOrder() throws {
        for seed in 100..<140 {
            let animation = SyntheticDecoder.random(UInt64(seed))
            var generator = SeededGenerator(state: UInt64(seed))
            var compositor = FrameCompositor(animation)
            for _ in 0..<30 {
                let index = Int.random(in: 0..<animation.frames.count, using: &generator)
                #expect(
                    try compositor.frame(at: index).words == animation.expected(index),
                    "animation \(seed), frame \(index)"
                )
            }
        }
    }

    @Test("After a jump, each frame that follows is decoded once") func continuesAfterJump() throws {
        for seed in 200..<240 {
            let animation = SyntheticDecoder.random(UInt64(seed), count: 20)
            var compositor = FrameCompositor(animation)
            _ = try compositor.frame(at: 10)
            animation.decoded.withLock { $0 = [:] }
            for index in 11..<20 { _ = try compositor.frame(at: index) }
            let most = animation.decoded.withLock { $0.values.max() ?? 0 }
            #expect(most == 1, "animation \(seed)")
        }
    }

    /// An animation in which every frame needs all before it.
    private static func changes(_ count: Int, on canvas: PixelSize = PixelSize(6, 6)) -> SyntheticDecoder {
        SyntheticDecoder(
            canvas,
            (0..<count).map { FrameDescription(x: $0 % 5, y: $0 % 4, size: PixelSize(2, 2), delay: 0.1) }
        )
    }

    @Test("Going backwards takes few decodings") func backwardsCost() throws {
        let animation = Self.changes(300)
        var compositor = FrameCompositor(animation)
        for index in 0..<300 { _ = try compositor.frame(at: index) }
        #expect(animation.decoded.withLock { $0.values.reduce(0, +) } == 300 && compositor.checkpoints.isEmpty)
        animation.decoded.withLock { $0 = [:] }
        for index in (0..<300).reversed() {
            let frame = try compositor.frame(at: index)
            if index % 29 == 0 { #expect(frame.words == animation.expected(index), "frame \(index)") }
            #expect(compositor.checkpoints.count <= 2)
        }
        // Composing each one from the first frame would take 45,150.
        #expect(animation.decoded.withLock { $0.values.reduce(0, +) } <= 15 * 300)
        // At the first frame no checkpoints are needed.
        #expect(compositor.checkpoints.isEmpty)
    }

    @Test("Going back and forth gives the same frames") func backAndForth() throws {
        for seed in 400..<430 {
            let animation = SyntheticDecoder.random(UInt64(seed), count: 40)
            var compositor = FrameCompositor(animation)
            let order = [Array((0..<40).reversed()), Array(20..<40), Array((5..<35).reversed()), Array(0..<40)]
            for index in order.joined() {
                #expect(
                    try compositor.frame(at: index).words == animation.expected(index),
                    "animation \(seed), frame \(index)"
                )
            }
        }
    }

    @Test("Large canvases are not kept as checkpoints") func noLargeCheckpoints() throws {
        // Three canvases take a little more than 16 MB, or a little less.
        for (width, most) in [(1399, 0), (1398, 2)] {
            var compositor = FrameCompositor(Self.changes(40, on: PixelSize(width, 1000)))
            for index in [39, 38] { _ = try compositor.frame(at: index) }
            #expect(compositor.checkpoints.count == most)
        }
    }

    @Test("The same frame again is the same bitmap") func sameBitmap() throws {
        var frame = FrameDescription(x: 0, y: 0, size: PixelSize(4, 4), delay: 0.1)
        frame.disposal = .clear
        var compositor = FrameCompositor(SyntheticDecoder(PixelSize(4, 4), [frame, frame]))
        #expect(try compositor.frame(at: 1) === compositor.frame(at: 1))
    }

    @Test("A jump starts at the nearest frame that depends on none before it") func jumpStartsAtKeyFrame() throws {
        var frames = (0..<40).map { _ in FrameDescription(x: 1, y: 1, size: PixelSize(2, 2), delay: 0.1) }
        (frames[30].x, frames[30].y, frames[30].size) = (-1, 0, PixelSize(9, 9))
        frames[30].isOpaque = true
        frames[33].disposal = .restore
        frames[34].disposal = .clear
        let animation = SyntheticDecoder(PixelSize(6, 6), frames)
        var compositor = FrameCompositor(animation)
        _ = try compositor.frame(at: 36)
        // Frames that are restored or cleared before the frame are not decoded.
        #expect(animation.decoded.withLock { $0 } == [30: 1, 31: 1, 32: 1, 35: 1, 36: 1])
    }

    @Test("Damaged frames show the rows that can be decoded") func damagedFrames() throws {
        var frame = FrameDescription(x: 0, y: 0, size: PixelSize(6, 6), delay: 0.1)
        frame.disposal = .keep
        let animation = SyntheticDecoder(
            PixelSize(6, 6),
            [frame, frame, frame, frame],
            damage: [1: .after(2), 2: .after(0)]
        )
        var compositor = FrameCompositor(animation)
        for order in [[0, 1, 3], [3, 0, 1], [1, 3, 0]] {
            for index in order { #expect(try compositor.frame(at: index).words == animation.expected(index)) }
        }
    }

    @Test("Frames that cannot be decoded are skipped") func skipsUndecodableFrames() {
        let frame = FrameDescription(x: 0, y: 0, size: PixelSize(6, 6), delay: 0.1)
        let animation = SyntheticDecoder(
            PixelSize(6, 6),
            Array(repeating: frame, count: 6),
            damage: [2: .after(0), 3: .after(0)]
        )
        let source = OnDemandFrameSource(animation, data: nil)
        let shown = (0..<6).map { source.frame(at: $0)?.words }
        #expect(shown == (0..<6).map { animation.expected($0) })
        #expect(shown[2] == nil && shown[3] == nil && shown[4] != nil)
    }

    @Test("Frames that cannot be decoded are tried once") func noRepeatedAttempts() {
        let frame = FrameDescription(x: 0, y: 0, size: PixelSize(2, 2), delay: 0.1)
        let damage = Dictionary(uniqueKeysWithValues: (1..<50).map { ($0, SyntheticDecoder.Damage.after(0)) })
        let animation = SyntheticDecoder(PixelSize(2, 2), Array(repeating: frame, count: 50), damage: damage)
        let source = OnDemandFrameSource(animation, data: nil)
        for index in 0..<50 { _ = source.frame(at: index) }
        #expect(animation.decoded.withLock { $0.values.reduce(0, +) } == 50)
    }

    @Test("Without memory for a frame there are no frames after it either") func outOfMemory() {
        let frame = FrameDescription(x: 0, y: 0, size: PixelSize(6, 6), delay: 0.1)
        let animation = SyntheticDecoder(PixelSize(6, 6), [frame, frame, frame], damage: [1: .noMemory])
        let source = OnDemandFrameSource(animation, data: nil)
        #expect(source.frame(at: 0) != nil && source.frame(at: 1) == nil && source.frame(at: 2) == nil)
    }

    @Test("Frames outside the canvas show nothing") func framesOutsideCanvas() throws {
        for (x, y) in [(10, 0), (0, 10), (-9, 0), (0, -9), (Int(UInt32.max), Int(UInt32.max))] {
            let frame = FrameDescription(x: x, y: y, size: PixelSize(4, 4), delay: 0.1)
            var compositor = FrameCompositor(SyntheticDecoder(PixelSize(6, 6), [frame]))
            #expect(try compositor.frame(at: 0).words.allSatisfy { $0 == 0 })
        }
    }

    @Test("No more than three bitmaps are alive at once, the shown one included") func boundedMemory() throws {
        for seed in 300..<320 {
            let animation = SyntheticDecoder.random(UInt64(seed), count: 30)
            let source = OnDemandFrameSource(animation, data: nil)
            var bitmaps: [WeakBitmap] = []
            var shown: Bitmap?
            for index in [Array(0..<30), Array((0..<30).reversed())].joined() {
                let frame = source.frame(at: index)
                bitmaps.append(WeakBitmap(bitmap: frame))
                // The frame shown before is still held, as by a view. A frame that leaves nothing behind is not kept.
                let alive = Set(bitmaps.compactMap { $0.bitmap.map { ObjectIdentifier($0) } })
                #expect(alive.count <= 3)
                shown = frame
            }
            #expect(shown != nil)
        }
    }
}

private struct WeakBitmap {
    weak var bitmap: Bitmap?
}

@Suite struct OnDemandFrameSourceTests {
    private static func animation(_ count: Int) -> SyntheticDecoder {
        SyntheticDecoder(
            PixelSize(8, 6),
            (0..<count).map { FrameDescription(x: $0, y: 0, size: PixelSize(2, 2), delay: 0.1) }
        )
    }

    @Test("Invalid indices have no frame") func invalidIndices() {
        let source = OnDemandFrameSource(Self.animation(3), data: nil)
        for index in [-1, 3, .max, .min] {
            #expect(source.frame(at: index) == nil && source.duration(at: index) == 0)
        }
        #expect(source.duration(at: 2) == 0.1 && source.frameCount == 3)
    }

    @Test("Frames are scaled down and never up") func downscalesOnly() throws {
        let source = OnDemandFrameSource(Self.animation(1), data: nil)
        func size(_ limit: CGSize?) -> PixelSize? { source.frame(at: 0, maxSize: limit)?.size }
        #expect(size(CGSize(width: 4, height: 1)) == PixelSize(4, 3))
        #expect(size(CGSize(width: 1, height: 4)) == PixelSize(4, 3))
        for none in [nil, CGSize.zero, CGSize(width: 90, height: 9), CGSize(width: -1, height: -1)] {
            #expect(size(none) == PixelSize(8, 6))
        }
        for nonsense in [CGFloat.nan, .infinity, 1e300] {
            #expect(size(CGSize(width: nonsense, height: nonsense)) == PixelSize(8, 6))
        }
    }

    @Test("Many threads get the same frames") func concurrentAccess() async {
        let animation = SyntheticDecoder.random(7, count: 20)
        let source = OnDemandFrameSource(animation, data: nil)
        await withTaskGroup(of: Bool.self) { tasks in
            for start in 0..<4 {
                let source = start.isMultiple(of: 2) ? source : source.copy()
                tasks.addTask {
                    (0..<40).allSatisfy { step in
                        let index = (start * 7 + step * 3) % 20
                        return source.frame(at: index)?.words == animation.expected(index)
                    }
                }
            }
            for await isRight in tasks { #expect(isRight) }
        }
    }
}
