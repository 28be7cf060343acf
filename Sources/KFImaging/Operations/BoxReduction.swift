// The first step of large reductions: boxes of pixels become one pixel each, as rows arrive. For bitmaps and decoders.

import CKFCodecs

/// Reduces an image to the means of its boxes, and these to the target.
///
/// The kernel is six times as wide as a target pixel: for images that become a few pixels long it would be larger than
/// they are. So an axis that becomes at least 32 times as short is first divided into boxes of as many samples as leave
/// 16 to 32 times for the kernel. Of what the eye can see in the result, that changes nothing: frequencies that are
/// kept lose 0.2% at most. A reduction by less is left to the kernel alone.
///
/// Holds the sums of one row of boxes, and what a ``Resampler`` of the boxes holds.
struct BoxReduction {
    /// The size of a box in source pixels.
    private let box: PixelSize
    private let source: PixelSize
    private let sums: Buffer<UInt64>
    /// Pixels of a row as light; nil where bytes are added up.
    private let light: Buffer<Int16>?
    private var resampler: Resampler
    private var received = 0
    private var rowsInBox = 0

    /// Nil where the kernel alone is right.
    ///
    /// - Parameters:
    ///   - source: The size that the rows have.
    ///   - extent: How much of the bitmap is the image; nil when all of it is.
    ///   - target: The size to make.
    ///   - filter: The kernel of the second step.
    /// - Throws: ``ImagingError/outOfMemory(bytes:)``.
    init?(
        from source: PixelSize,
        extent: PixelExtent? = nil,
        to target: ScaledSize,
        _ filter: ResamplingFilter
    ) throws(ImagingError) {
        let extent = extent ?? PixelExtent(source)
        func length(_ extent: Double, _ target: Int) -> Int {
            let part = Int(extent / Double(target) / 16)
            return filter != .nearest && part > 1 ? part : 1
        }
        box = PixelSize(length(extent.width, target.size.width), length(extent.height, target.size.height))
        guard box.pixelCount > 1 else { return nil }
        self.source = source
        let boxes = PixelSize(
            (source.width + box.width - 1) / box.width,
            (source.height + box.height - 1) / box.height
        )
        sums = try Buffer(boxes.width * 4, isZeroed: true)
        light = target.space == .linear ? try Buffer(min(source.width, Self.partLength) * 4) : nil
        resampler = try Resampler(
            from: boxes,
            extent: PixelExtent(width: extent.width / Double(box.width), height: extent.height / Double(box.height)),
            to: target,
            filter
        )
    }

    /// Adds pixels of the next row, from a column on.
    func add(_ pixels: UnsafePointer<UInt8>, column: Int, count: Int) {
        guard let light else { return kf_box_add(pixels, column, count, box.width, sums.base) }
        for first in stride(from: 0, to: count, by: Self.partLength) {
            let length = min(Self.partLength, count - first)
            kf_light_of_pixels(pixels + first * 4, length, light.base)
            kf_box_add_light(light.base, column + first, length, box.width, sums.base)
        }
    }

    /// How many pixels become light at a time, which stay in the nearest cache.
    private static let partLength = 1024

    /// Ends a row of which all pixels have been added, and makes the target rows that are complete with it.
    mutating func endRow(to output: PixelRows) {
        received += 1
        rowsInBox += 1
        guard rowsInBox == box.height || received == source.height else { return }
        if let row = resampler.spaceForLight {
            kf_box_average_light(sums.base, source.width, box.width, rowsInBox, row)
        } else if let space = resampler.space {
            kf_box_average(sums.base, source.width, box.width, rowsInBox, space.rows)
        } else {
            return
        }
        rowsInBox = 0
        resampler.receiveWritten(1, to: output)
    }

    /// Adds a whole row.
    mutating func addRow(_ pixels: UnsafePointer<UInt8>, to output: PixelRows) {
        add(pixels, column: 0, count: source.width)
        endRow(to: output)
    }
}
