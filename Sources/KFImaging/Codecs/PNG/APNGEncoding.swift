// Writing animated PNG: the rectangles that change, and the chunks around their pixels. libpng compresses.

import Foundation

extension PNGCodec {
    /// Encodes frames without any loss.
    ///
    /// Delays are whole thousandths of a second, or whole seconds when they are longer than 65.
    static func encode(_ animation: AnimationToEncode, _ options: ImageEncodingOptions) throws(ImagingError) -> Data {
        var file = APNGFile(frameCount: animation.delays.count, loopCount: animation.loopCount)
        var shown: Bitmap?
        for (index, milliseconds) in animation.milliseconds.enumerated() {
            let bitmap = try animation.frame(index)
            let patch = try APNGPatch(from: shown, to: bitmap)
            // All frames have the same kind of pixels, and laying some over others takes transparency.
            let metadata = index == 0 ? options.metadata : EncodedMetadata()
            try file.add(encodeWithAlpha(patch.bitmap, metadata), patch, milliseconds: Int(milliseconds))
            shown = bitmap
        }
        return file.data
    }
}

/// The change that a frame makes to the one before it.
private struct APNGPatch {
    private(set) var x = 0
    private(set) var y = 0
    let bitmap: Bitmap
    /// Whether the pixels are laid over those below; they replace them otherwise.
    let isOver: Bool

    /// How many pixels in a row have to be unchanged so that leaving them out saves something.
    private static let shortestRun = 8

    init(from old: Bitmap?, to new: Bitmap) throws(ImagingError) {
        guard let old else {
            (bitmap, isOver) = (new, false)
            return
        }
        let (columns, lines) = Self.changes(from: old, to: new)
        (x, y) = (columns.lowerBound, lines.lowerBound)
        let size = PixelSize(columns.count, lines.count)
        let part = try new.part(x: x, y: y, size)
        isOver = !part.hasAlpha
        bitmap = isOver ? try Self.withoutUnchangedPixels(part, comparedTo: old.part(x: x, y: y, size)) : part
    }

    /// The smallest rectangle that holds all changes; one pixel when there are none.
    private static func changes(from old: Bitmap, to new: Bitmap) -> (columns: Range<Int>, lines: Range<Int>) {
        var (left, right, top, bottom) = (new.width, 0, new.height, 0)
        forEachRow(old, new) { y, old, new in
            guard let first = new.indices.first(where: { old[$0] != new[$0] }) else { return }
            let last = new.indices.last { old[$0] != new[$0] } ?? first
            (left, right) = (min(left, first), max(right, last + 1))
            (top, bottom) = (min(top, y), y + 1)
        }
        return left < right ? (left..<right, top..<bottom) : (0..<1, 0..<1)
    }

    /// An image whose pixels are transparent where another one has the same.
    private static func withoutUnchangedPixels(_ bitmap: Bitmap, comparedTo old: Bitmap) throws(ImagingError) -> Bitmap
    {
        try Bitmap(bitmap.size, hasAlpha: nil) { rows in
            forEachRow(old, bitmap) { y, old, new in
                let target = rows.pixels(y)
                var x = 0
                while x < new.count {
                    let start = x
                    while x < new.count, old[x] == new[x] { x += 1 }
                    if x - start >= shortestRun {
                        (target + start).update(repeating: 0, count: x - start)
                    } else {
                        x = min(x + 1, new.count)
                        for place in start..<x { target[place] = new[place] }
                    }
                }
            }
        }
    }

    /// Calls `body` with the rows of two images of one size.
    private static func forEachRow(
        _ one: Bitmap,
        _ other: Bitmap,
        _ body: (_ y: Int, UnsafeBufferPointer<UInt32>, UnsafeBufferPointer<UInt32>) -> Void
    ) {
        one.withUnsafeBytes { first in
            other.withUnsafeBytes { second in
                for y in 0..<one.height {
                    let row = y * one.bytesPerRow..<y * one.bytesPerRow + one.width * 4
                    body(
                        y,
                        UnsafeRawBufferPointer(rebasing: first[row]).bindMemory(to: UInt32.self),
                        UnsafeRawBufferPointer(rebasing: second[row]).bindMemory(to: UInt32.self)
                    )
                }
            }
        }
    }
}

/// An animated PNG, made of the PNG of each frame.
private struct APNGFile {
    private var bytes: [UInt8] = PNGFile.signature
    private let frameCount: Int
    private let loopCount: UInt
    /// The number of the next chunk that carries one.
    private var number = 0

    init(frameCount: Int, loopCount: UInt) {
        self.frameCount = frameCount
        self.loopCount = loopCount
    }

    /// Adds a frame, given as the PNG of its patch.
    mutating func add(_ png: Data, _ patch: APNGPatch, milliseconds: Int) {
        let isFirst = number == 0
        var isBegun = false
        PNGFile.forEachChunk(of: [UInt8](png)) { name, content in
            if name == "IDAT" {
                if !isBegun { addControl(patch, milliseconds) }
                isBegun = true
                if isFirst { bytes.appendPNGChunk(name, content) }
                if !isFirst { bytes.appendPNGChunk("fdAT", takeNumber() + content) }
            } else if isFirst, name != "IEND" {
                bytes.appendPNGChunk(name, content)
                guard name == "IHDR" else { return }
                // More than the file can hold is as good as endless.
                let loops = Int32(exactly: loopCount) ?? 0
                bytes.appendPNGChunk("acTL", .bigEndian(frameCount) + .bigEndian(Int(loops)))
            }
        }
    }

    private mutating func addControl(_ patch: APNGPatch, _ milliseconds: Int) {
        let (width, height) = (patch.bitmap.width, patch.bitmap.height)
        let places = [width, height, patch.x, patch.y].flatMap { [UInt8].bigEndian($0) }
        let seconds = (milliseconds + 500) / 1000
        let time = milliseconds < 1 << 16 ? milliseconds << 16 | 1000 : seconds << 16 | 1
        bytes.appendPNGChunk("fcTL", takeNumber() + places + .bigEndian(time) + [0, patch.isOver ? 1 : 0])
    }

    private mutating func takeNumber() -> [UInt8] {
        defer { number += 1 }
        return .bigEndian(number)
    }

    /// The whole file.
    var data: Data {
        var all = bytes
        all.appendPNGChunk("IEND", [])
        return Data(all)
    }
}
