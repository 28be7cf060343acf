// What a decoder answers: a few values, and pixels behind them. Made by the decoder's service.

import Foundation

/// An answer, to be written into the memory that a program reads it from.
package struct DecoderAnswer {
    /// The beginning of every answer.
    enum Kind: Int, CaseIterable {
        case done
        case failed
        /// There is no such animation (any more).
        case closed
    }

    private enum Pixels {
        case none
        case bitmap(Bitmap)
        case rows([UInt32])
    }

    private let body: [UInt8]
    private let pixels: Pixels

    private init(_ kind: Kind, _ pixels: Pixels = .none, _ write: (inout MessageWriter) -> Void = { _ in }) {
        var writer = MessageWriter()
        writer.add(kind.rawValue)
        write(&writer)
        (body, self.pixels) = (writer.bytes, pixels)
    }

    static let closed = DecoderAnswer(.closed)

    static func failed(_ error: ImagingError) -> Self { Self(.failed) { $0.add(error) } }

    static func done(_ write: (inout MessageWriter) -> Void) -> Self { Self(.done, .none, write) }

    static func image(_ image: DecodedImage) -> Self {
        Self(.done, .bitmap(image.bitmap)) { writer in
            writer.add(image.bitmap.width)
            writer.add(image.bitmap.height)
            writer.add(image.bitmap.hasAlpha)
            writer.add(image.orientation.rawValue)
            writer.add(image.frameCount) { $0.add($1) }
            writer.add(image.isDamaged)
        }
    }

    /// Rows of a frame: which ones, their pixels in the same order, and why there are no more.
    static func frame(rows: [Int], _ pixels: [UInt32], _ failure: ImagingError?) -> Self {
        Self(.done, .rows(pixels)) { writer in
            writer.add(rows.count)
            for row in rows { writer.add(row) }
            writer.add(failure) { $0.add($1) }
        }
    }

    /// Where the pixels of an answer begin: in the same place behind most bodies, so that they can be made there.
    static func pixelOffset(_ bodyCount: Int) -> Int { max(4096, (bodyCount + 63) & ~63) }

    /// Where in the memory for answers a bitmap is best made.
    static func memoryOfBitmap(in memory: UnsafeMutableRawBufferPointer) -> UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(rebasing: memory.dropFirst(pixelOffset(0)))
    }

    /// The header that announces it.
    package func header(_ number: Int) -> AnswerHeader {
        let pixelCount =
            switch pixels {
            case .none: 0
            case .bitmap(let bitmap): bitmap.bytesPerRow * bitmap.height
            case .rows(let pixels): pixels.count * 4
            }
        let count = pixelCount == 0 ? body.count : Self.pixelOffset(body.count) + pixelCount
        return AnswerHeader(number: number, bodyCount: body.count, count: count)
    }

    /// Writes it into memory that has room for it.
    package func write(to memory: UnsafeMutableRawBufferPointer) {
        memory.copyBytes(from: body)
        let pixelMemory = UnsafeMutableRawBufferPointer(rebasing: memory.dropFirst(Self.pixelOffset(body.count)))
        switch pixels {
        case .none: break
        case .bitmap(let bitmap):
            bitmap.withUnsafeBytes { bytes in
                if UnsafeRawPointer(pixelMemory.baseAddress) != bytes.baseAddress {
                    pixelMemory.copyMemory(from: bytes)
                }
            }
        case .rows(let pixels): pixels.withUnsafeBytes { pixelMemory.copyMemory(from: $0) }
        }
    }
}
