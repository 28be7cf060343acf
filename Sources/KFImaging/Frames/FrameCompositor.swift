// The one place where frames are laid over each other, whatever their format.

import CKFCodecs
import Foundation

/// Makes whole images of the frames of an animation.
///
/// It holds one image, from which the next one is made; so at any time there are two besides those that its callers
/// keep. Going on to the next frame takes one decoding, and so does going on over frames that leave nothing behind. Any
/// other frame takes the decoding of those since the nearest one that depends on none before it.
///
/// Going back would take all of these again for every frame. So where images are small, two more are kept on the way
/// to a frame that comes before the last one asked for: with them, going back over n frames takes some 2 n·∛n
/// decodings instead of n²/2. Going on past them leaves them where they are, until frames before them are asked for.
struct FrameCompositor: Sendable {
    /// How many bytes the images held here may have together for two to be kept for going back.
    static let maxCheckpointBytes = 16 << 20

    /// The canvas as it is before some frame is drawn.
    struct State {
        /// The pixels; nil is an empty canvas.
        var bitmap: Bitmap?
        /// The frame whose rectangle still has to become transparent.
        var cleared: Int?
        /// The first frame that has not been processed.
        var next: Int
        /// The frame whose image this is.
        var shown: Int?
    }

    let decoder: any FrameDecoder
    /// For each frame the nearest one, itself or before it, that depends on none before it.
    private let keys: [Int]
    private var state: State?
    /// The states kept for going back, two at most, and none beyond the frame asked for last while going back.
    private(set) var checkpoints: [State] = []
    /// The frame asked for last.
    private var last = 0
    /// Frames of which no pixel can be decoded.
    ///
    /// Playing goes on as if they had no pixels.
    private var broken: Set<Int> = []
    /// Whether a frame that has been decoded lacks pixels.
    private(set) var isDamaged = false

    init(_ decoder: any FrameDecoder) {
        self.decoder = decoder
        keys = Self.keys(of: decoder)
    }

    /// The image of a frame that exists.
    ///
    /// - Throws: ``ImagingError`` when nothing of the frame itself can be decoded.
    mutating func frame(at index: Int) throws(ImagingError) -> Bitmap {
        if let state, state.shown == index, let bitmap = state.bitmap { return bitmap }
        let isGoingBack = index < last
        last = index
        var before = State(next: keys[index])
        // Nothing before a key counts, whatever it was.
        for known in checkpoints + [state].compactMap({ $0 }) where known.next > before.next && known.next <= index {
            before = known
        }
        if isGoingBack { before = addCheckpoints(from: before, to: index) }
        if decoder.frames[index].disposal == .restore, keys[index] < index {
            // The next frame does not build on this one, but on the canvas before it.
            before = State(bitmap: try bitmap(before, upTo: index), next: index)
            state = before
        }
        let bitmap = try composed(before, upTo: index, showing: index)
        switch decoder.frames[index].disposal {
        case .keep: state = State(bitmap: bitmap, next: index + 1, shown: index)
        case .clear: state = State(bitmap: bitmap, cleared: index, next: index + 1, shown: index)
        case .restore: break
        }
        return bitmap
    }

    /// Goes on towards a frame, and keeps states that the frames before it will need when they are asked for.
    ///
    /// The first image that is kept serves as the beginning for those that come after it, the second one is replaced
    /// as often as frames before it are asked for.
    ///
    /// - Returns: The last image on the way.
    private mutating func addCheckpoints(from start: State, to index: Int) -> State {
        let key = keys[index]
        checkpoints.removeAll { $0.next > index || $0.next <= key }
        var before = start
        let distance = index - before.next
        guard distance > 4, decoder.canvas.pixelCount <= Self.maxCheckpointBytes / (3 * 4) else { return before }
        let steps: [Double] =
            switch checkpoints.count {
            case 0: [cbrt(Double(distance) * Double(distance)), cbrt(Double(distance))]
            case 1: [Double(distance).squareRoot()]
            default: []
            }
        for step in steps {
            let place = index - Int(step)
            do throws(ImagingError) {
                let bitmap = try bitmap(before, upTo: place)
                // Frames that have left nothing behind cost nothing the next time either.
                guard let bitmap, bitmap !== before.bitmap else { continue }
                before = State(bitmap: bitmap, next: place)
                checkpoints.append(before)
            } catch {
                return before
            }
        }
        return before
    }

    /// The canvas before a frame, which is nil while it is empty.
    private mutating func bitmap(_ before: State, upTo index: Int) throws(ImagingError) -> Bitmap? {
        let isUnchanged =
            before.cleared == nil && decoder.frames[before.next..<index].allSatisfy { $0.disposal == .restore }
        return isUnchanged ? before.bitmap : try composed(before, upTo: index, showing: nil)
    }

    /// Processes the frames up to `index`, and draws `shown`.
    private mutating func composed(
        _ before: State,
        upTo index: Int,
        showing shown: Int?
    ) throws(ImagingError) -> Bitmap {
        let canvas = decoder.canvas
        let (decoder, known) = (decoder, broken)
        var found: Set<Int> = []
        var isWhole = true
        defer {
            broken.formUnion(found)
            isDamaged = isDamaged || !isWhole || !found.isEmpty
        }
        let staysOpaque = staysOpaque(before, upTo: index, showing: shown)
        return try Bitmap(canvas, hasAlpha: staysOpaque ? false : nil) { rows throws(ImagingError) in
            if let bitmap = before.bitmap { rows.copy(bitmap) } else { rows.fill() }
            if let cleared = before.cleared { decoder.frames[cleared].clear(rows) }
            for passed in before.next..<index {
                switch decoder.frames[passed].disposal {
                case .restore: break
                case .clear: decoder.frames[passed].clear(rows)
                case .keep:
                    guard !known.contains(passed) else { continue }
                    do throws(ImagingError) {
                        isWhole = try decoder.draw(passed, on: rows) && isWhole
                    } catch {
                        if case .outOfMemory = error { throw error }
                        found.insert(passed)
                    }
                }
            }
            guard let shown else { return }
            do throws(ImagingError) {
                isWhole = try decoder.draw(shown, on: rows) && isWhole
            } catch {
                if case .outOfMemory = error {} else { found.insert(shown) }
                throw error
            }
        }
    }

    /// Whether every pixel is known to be opaque, which spares looking at them.
    private func staysOpaque(_ before: State, upTo index: Int, showing shown: Int?) -> Bool {
        guard let bitmap = before.bitmap, !bitmap.hasAlpha, before.cleared == nil else { return false }
        return (before.next...index).allSatisfy { place in
            guard place < index || place == shown else { return true }
            let frame = decoder.frames[place]
            let isCovering = frame.blend == .over || frame.isOpaque
            return place == shown ? isCovering : frame.disposal == .restore || (frame.disposal == .keep && isCovering)
        }
    }

    private static func keys(of decoder: any FrameDecoder) -> [Int] {
        var keys: [Int] = []
        keys.reserveCapacity(decoder.frames.count)
        var isEmpty = true
        var key = 0
        for (index, frame) in decoder.frames.enumerated() {
            let covers = frame.covers(decoder.canvas)
            let isKey = isEmpty || (covers && (frame.isOpaque || frame.blend == .source))
            keys.append(isKey ? index : key)
            // A frame that leaves nothing behind is no beginning.
            if isKey, frame.disposal != .restore { key = index }
            switch frame.disposal {
            case .keep: isEmpty = false
            case .clear: isEmpty = isEmpty || covers
            case .restore: break
            }
        }
        return keys
    }
}

extension FrameDecoder {
    /// Draws as much of a frame as can be decoded.
    ///
    /// - Returns: Whether that is all of it.
    /// - Throws: ``ImagingError`` when that is nothing.
    fileprivate func draw(_ index: Int, on rows: PixelRows) throws(ImagingError) -> Bool {
        let frame = frames[index]
        let columns = frame.columns(in: rows.size)
        let visible = frame.lines(in: rows.size)
        let replaces = frame.isOpaque || frame.blend == .source
        var isAnything = false
        do throws(ImagingError) {
            try decode(index) { y, pixels in
                isAnything = true
                guard visible.contains(frame.y + y), !columns.isEmpty else { return }
                let target = rows.pixels(frame.y + y) + columns.lowerBound
                let source = pixels + (columns.lowerBound - frame.x)
                if replaces {
                    target.update(from: source, count: columns.count)
                } else {
                    kf_row_over(target, source, columns.count)
                }
            }
            return true
        } catch {
            if !isAnything { throw error }
            return false
        }
    }
}

extension FrameDescription {
    /// The columns of the canvas that the frame lies on.
    fileprivate func columns(in canvas: PixelSize) -> Range<Int> { (x..<x + size.width).clamped(to: 0..<canvas.width) }

    /// The rows of the canvas that the frame lies on.
    fileprivate func lines(in canvas: PixelSize) -> Range<Int> { (y..<y + size.height).clamped(to: 0..<canvas.height) }

    fileprivate func covers(_ canvas: PixelSize) -> Bool {
        columns(in: canvas).count == canvas.width && lines(in: canvas).count == canvas.height
    }

    /// Makes the frame's rectangle transparent.
    fileprivate func clear(_ rows: PixelRows) {
        let columns = columns(in: rows.size)
        for y in lines(in: rows.size) {
            (rows.pixels(y) + columns.lowerBound).update(repeating: 0, count: columns.count)
        }
    }
}

extension PixelRows {
    /// Copies an image of the same size.
    fileprivate func copy(_ bitmap: Bitmap) {
        bitmap.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return }
            UnsafeMutableRawPointer(base).copyMemory(
                from: start,
                byteCount: min(bytes.count, bytesPerRow * size.height)
            )
        }
    }
}
