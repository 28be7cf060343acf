// The first of the steps in strips: the rows of a file, in sRGB, as its decoder makes them.

import Foundation

/// The rows that a decoder makes, a band at a time.
final class DecodedRows: ImageRows {
    private let file: any RowFile
    private let decoding: RowDecoding
    private let band: Buffer<UInt8>
    /// How many rows there is room for.
    private let bandHeight: Int
    /// The rows of the image that the band holds.
    private var held = 0..<0
    /// The row that is given next.
    private var position = 0
    /// Whether rows could not be decoded, and others stand in for them.
    private var lacksRows = false

    private let mapped: UnsafeRawBufferPointer?
    private var bandCount = 0

    /// - Parameters:
    ///   - file: A file whose decoding has begun.
    ///   - decoding: How its rows become sRGB; the size that they become is not looked at.
    ///   - mapped: The bytes of the file if they are mapped: pages that have been read do not stay.
    /// - Throws: ``ImagingError/outOfMemory(bytes:)``.
    init(
        _ file: any RowFile,
        _ decoding: RowDecoding,
        mapped: UnsafeRawBufferPointer? = nil
    ) throws(ImagingError) {
        (self.file, self.decoding, self.mapped) = (file, decoding, mapped)
        bandHeight = Resampler.band(of: decoding.source)
        band = try Buffer(bandHeight * decoding.source.width * 4)
    }

    var size: PixelSize { decoding.source }
    private var bytesPerRow: Int { size.width * 4 }

    /// Whether a part of the rows that were asked for is missing or could not be decoded.
    var isDamaged: Bool { lacksRows || file.isDamaged }

    func next() throws(ImagingError) -> UnsafePointer<UInt8> {
        if position == held.upperBound { try decode() }
        defer { position += 1 }
        return UnsafePointer(band.base + (position - held.lowerBound) * bytesPerRow)
    }

    /// Decodes what no step has asked for, since damage may lie there.
    func finish() throws(ImagingError) {
        while position < size.height { _ = try next() }
    }

    /// Drops all pages now and then; what is read of them again comes from the system's cache.
    private func dropPages() {
        bandCount += 1
        guard bandCount % 32 == 0, let mapped, let start = mapped.baseAddress else { return }
        madvise(UnsafeMutableRawPointer(mutating: start), mapped.count, MADV_DONTNEED)
    }

    private func decode() throws(ImagingError) {
        dropPages()
        let wanted = min(bandHeight, size.height - position)
        let count = lacksRows ? 0 : file.read(into: band.base, bytesPerRow: bytesPerRow, count: wanted)
        for y in 0..<count { decoding.conversion.apply(band.base + y * bytesPerRow, count: size.width) }
        held = position..<position + wanted
        guard count < wanted else { return }
        // Missing rows may be see-through, and then they are no opaque ones; without a first row there is no image.
        guard decoding.missing >> 24 == 255, position + count > 0 else { throw file.error }
        lacksRows = true
        UnsafeMutableRawPointer(band.base + count * bytesPerRow).assumingMemoryBound(to: UInt32.self)
            .update(repeating: decoding.missing, count: (wanted - count) * size.width)
    }
}
