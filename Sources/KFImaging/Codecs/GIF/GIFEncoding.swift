// Writing GIF: the changes that each frame makes, and its colours. cgif packs the pixels.

import CKFCodecs
import Foundation

extension GIFCodec {
    static func encode(_ bitmap: Bitmap, _ options: ImageEncodingOptions) throws(ImagingError) -> Data {
        try encode(AnimationToEncode(still: bitmap), options)
    }

    /// Encodes frames with at most 256 colours each.
    ///
    /// Pixels that are less than half opaque become transparent, the others opaque. A frame with more than 256 colours
    /// gets others that are near, without dithering: patterns make files larger, and move between frames.
    ///
    /// The quality says by how much colours may be off to make the file smaller: not at all at 1, by 16 in a channel at
    /// 0. A pixel is left unchanged while it differs by no more from the colour it was painted for, and frames get no
    /// more colours than that mean error takes. Nothing is lost, whatever the quality, where the colours are few and do
    /// not change. Frames are left out where there are more than players show, see ``GIFTiming``. An animation that
    /// plays more than 65,536 times plays endlessly.
    static func encode(_ animation: AnimationToEncode, _ options: ImageEncodingOptions) throws(ImagingError) -> Data {
        let tolerance = options.lossless ? 0 : Int32(((1 - options.quality) * 16).rounded())
        let canvas = try GIFCanvas(animation.size, tolerance: tolerance)
        let writer = try GIFWriter(canvas, loopCount: animation.loopCount)
        for frame in GIFTiming(animation.delays, keepsFrames: options.keepsFrames).frames {
            try writer.add(animation.frame(frame.index), delay: frame.delay)
        }
        return try writer.finish()
    }
}

/// The state of a GIF's canvas, and the changes that a frame is to make to it.
///
/// It holds 4 bytes a pixel, however many frames there are.
private struct GIFCanvas {
    let size: PixelSize
    /// By how much a channel may differ from its true value.
    let tolerance: Int32
    /// What each pixel was painted for: `0xFFRRGGBB` if the present frame paints it, `0x80RRGGBB` if it is left as an
    /// earlier frame painted it, 0 if it shows nothing.
    ///
    /// Not the colours of tables that stand for them: another table would change everything, and that would be seen.
    private let pixels: Buffer<UInt32>

    init(_ size: PixelSize, tolerance: Int32) throws(ImagingError) {
        self.size = size
        self.tolerance = tolerance
        try ImageDecodingLimits.default.check(working: 1, size)
        pixels = try Buffer(size.pixelCount, isZeroed: true)
    }

    /// The colours to be painted, `0xFFRRGGBB`; 0 for pixels that are not painted.
    var painted: LazyMapSequence<UnsafeBufferPointer<UInt32>, UInt32> {
        UnsafeBufferPointer(start: pixels.base, count: pixels.count).lazy.map { $0 >> 24 == 0xFF ? $0 : 0 }
    }

    /// Finds what has to be painted so that a frame is shown.
    ///
    /// - Returns: Whether everything has to be erased before, as some pixel that is painted has to become transparent.
    func change(to bitmap: Bitmap) throws(ImagingError) -> Bool {
        let pixels = pixels.base
        var place = 0
        let keepsAll = try forEachRow(of: bitmap) { row, count in
            defer { place += count }
            return (0..<count).allSatisfy { Self.color(row[$0]) != 0 || pixels[place + $0] == 0 }
        }
        place = 0
        var run = UnchangedRun()
        _ = try forEachRow(of: bitmap) { row, count in
            for x in 0..<count {
                let color = Self.color(row[x])
                if keepsAll, isNear(color, pixels[place + x]) {
                    run.add(color, at: place + x, in: pixels)
                } else {
                    run.end(at: place + x, in: pixels)
                    pixels[place + x] = color
                }
            }
            place += count
            return true
        }
        run.end(at: place, in: pixels)
        return !keepsAll
    }

    /// Calls `body` with the pixels of each row until it returns false.
    ///
    /// - Returns: The last result of `body`.
    private func forEachRow(
        of bitmap: Bitmap,
        _ body: (UnsafePointer<UInt32>, Int) -> Bool
    ) throws(ImagingError) -> Bool {
        try BitmapRows(bitmap, bitmap.hasAlpha ? .straight : .none).forEachBand { rows, bytesPerRow, count in
            (0..<count).allSatisfy { y in
                let row = UnsafeRawPointer(rows + y * bytesPerRow).assumingMemoryBound(to: UInt32.self)
                return body(row, size.width)
            }
        }
    }

    /// The colour to paint for a pixel; 0 for a pixel that is less than half opaque.
    private static func color(_ pixel: UInt32) -> UInt32 { pixel >> 31 == 0 ? 0 : pixel | 0xFF00_0000 }

    private func isNear(_ color: UInt32, _ shown: UInt32) -> Bool {
        if color == 0 || shown == 0 { return color == shown }
        if (color ^ shown) << 8 == 0 { return true }
        guard tolerance > 0 else { return false }
        let away = ColorTable.channels(color) &- ColorTable.channels(shown)
        return max(away.max(), -away.min()) <= tolerance
    }
}

/// Pixels in a row that a frame may leave as they are: it does where that makes the file smaller.
private struct UnchangedRun {
    /// How many pixels in a row have to be unchanged so that leaving them out saves something.
    private static let shortest = 8

    private var count = 0
    /// The colours of the first pixels, which are painted if the run ends early.
    private var colors = SIMD8<UInt32>()

    mutating func add(_ color: UInt32, at place: Int, in pixels: UnsafeMutablePointer<UInt32>) {
        if count < Self.shortest { colors[count] = color }
        count += 1
        guard count >= Self.shortest else { return }
        for left in (count == Self.shortest ? place - count + 1 : place)...place where pixels[left] != 0 {
            pixels[left] = pixels[left] & 0x00FF_FFFF | 0x8000_0000
        }
    }

    /// Ends the run before a place.
    mutating func end(at place: Int, in pixels: UnsafeMutablePointer<UInt32>) {
        if count < Self.shortest {
            for index in 0..<count { pixels[place - count + index] = colors[index] }
        }
        count = 0
    }
}

/// An unfinished GIF.
private final class GIFWriter {
    private let canvas: GIFCanvas
    private let loopCount: UInt32
    private let indices: Buffer<UInt8>
    /// The colours of the first frame, which later ones share where these serve them.
    private var shared = ColorTable([], limit: 1)
    /// How far shared colours may be from the right ones.
    private var tolerableError = 0.0
    /// Nil before the first frame.
    private var handle: OpaquePointer?
    private var message = kf_message()

    init(_ canvas: GIFCanvas, loopCount: UInt) throws(ImagingError) {
        self.canvas = canvas
        // The file has the number of repetitions, in 16 bits.
        self.loopCount = loopCount > 1 << 16 ? 0 : UInt32(loopCount)
        indices = try Buffer(canvas.size.pixelCount)
    }

    deinit { kf_gif_writer_close(handle) }

    /// Adds a frame that is shown for so many hundredths of a second.
    func add(_ bitmap: Bitmap, delay: UInt16) throws(ImagingError) {
        var frame = kf_gif_frame()
        frame.erases = try canvas.change(to: bitmap)
        frame.delay = delay
        let pixels = canvas.painted
        let hasHoles = pixels.contains(0)
        // Nothing is lost where colours are few; where they are not, one is left for pixels that later frames leave as
        // they are.
        let exact = ColorTable(exactly: pixels, limit: hasHoles ? 255 : 256)
        guard handle != nil else {
            shared = exact ?? table(for: pixels)
            tolerableError = 1.5 * paint(pixels, with: &shared)
            try open()
            return try write(&frame, shared, hasHoles: hasHoles, isShared: true)
        }
        // A first frame without a visible pixel has no colours.
        let isUsable = !shared.colors.isEmpty && (!hasHoles || shared.colors.count < 256)
        let error = isUsable ? paint(pixels, with: &shared) : .infinity
        if error <= (exact == nil ? tolerableError : 0) {
            return try write(&frame, shared, hasHoles: hasHoles, isShared: true)
        }
        var own = exact ?? table(for: pixels)
        _ = paint(pixels, with: &own)
        try write(&frame, own, hasHoles: hasHoles, isShared: false)
    }

    /// Colours that are good enough.
    private func table(for pixels: some Sequence<UInt32>) -> ColorTable {
        ColorTable(pixels, limit: 255, tolerance: Float(canvas.tolerance))
    }

    /// Fills the indices.
    ///
    /// - Returns: How far the colours are from the right ones: the mean of the squares.
    private func paint(_ pixels: some Sequence<UInt32>, with table: inout ColorTable) -> Double {
        var (sum, count) = (0, 1)
        for (place, color) in pixels.enumerated() {
            // The index of pixels that are not painted is the one after those of the colours.
            let index = color == 0 ? table.colors.count : table.index(of: color)
            indices.base[place] = UInt8(index)
            guard color != 0 else { continue }
            let away = ColorTable.channels(color) &- ColorTable.channels(table.colors[index])
            sum += Int((away &* away).wrappedSum())
            count += 1
        }
        return Double(sum) / Double(count)
    }

    private func open() throws(ImagingError) {
        let (width, height) = (UInt16(canvas.size.width), UInt16(canvas.size.height))
        handle = Self.withBytes(of: shared) { kf_gif_writer_open(width, height, $0, loopCount, &message) }
        if handle == nil { throw message.error(encoding: .gif) }
    }

    private func write(
        _ frame: inout kf_gif_frame,
        _ table: ColorTable,
        hasHoles: Bool,
        isShared: Bool
    ) throws(ImagingError) {
        frame.indices = UnsafePointer(indices.base)
        frame.transparent = hasHoles ? Int32(table.colors.count) : -1
        let status = Self.withBytes(of: table) { colors in
            if !isShared { frame.colors = colors }
            return kf_gif_writer_add(handle, &frame, &message)
        }
        guard status == KF_OK else { throw message.error(encoding: .gif) }
    }

    /// Calls `body` with the colours and, if there is room, one more for pixels that are not painted.
    private static func withBytes<Result>(of table: ColorTable, _ body: (kf_gif_colors) -> Result) -> Result {
        let bytes = (table.colors + [0]).prefix(256).flatMap { color in
            [16, 8, 0].map { UInt8(truncatingIfNeeded: color >> $0) }
        }
        return bytes.withUnsafeBufferPointer { body(kf_gif_colors(bytes: $0.baseAddress, count: UInt16($0.count / 3))) }
    }

    func finish() throws(ImagingError) -> Data {
        var result = CBytes()
        guard kf_gif_writer_finish(handle, &result.bytes, &result.count, &message) == KF_OK else {
            throw message.error(encoding: .gif)
        }
        return result.takeData()
    }
}
