// Images side by side on one canvas, for `kf sheet`.

import Foundation

/// The layout of a contact sheet: cells of one size, with gaps between and around them.
package struct ImageGrid: Sendable {
    /// The number of cells side by side.
    package let columns: Int
    /// The size of a cell.
    package let cell: PixelSize
    /// The width of the gaps in pixels.
    package let gap: Int
    /// The colour of the canvas.
    package let background: Color

    package init(columns: Int, cell: PixelSize, gap: Int, background: Color) {
        (self.columns, self.cell, self.gap, self.background) = (max(1, columns), cell, max(0, gap), background)
    }

    /// The size of the canvas for a number of images.
    package func size(of count: Int) -> PixelSize {
        let (across, down) = (min(columns, max(1, count)), (max(1, count) + columns - 1) / columns)
        return PixelSize(across * (cell.width + gap) + gap, down * (cell.height + gap) + gap)
    }

    /// The canvas with the images, each in the middle of its cell, row by row; what is larger than a cell is cut.
    ///
    /// - Throws: ``ImagingError/outOfMemory(bytes:)``.
    package func drawn(_ images: [Image]) throws(ImagingError) -> Image {
        let isOpaque = background.alpha >= 1
        let bitmap = try Bitmap(size(of: images.count), hasAlpha: isOpaque ? false : nil) { rows throws(ImagingError) in
            rows.fill(with: background.premultipliedPixel)
            for (index, image) in images.enumerated() {
                guard let part = try image.upright().cgImage?.placed(in: cell) else { continue }
                let left = gap + index % columns * (cell.width + gap)
                let top = gap + index / columns * (cell.height + gap)
                part.forEachRow { y, row in
                    let target = rows.pixels(top + y) + left
                    for x in 0..<cell.width { target[x] = Bitmap.mixed(row[x], 255, over: target[x]) }
                }
            }
        }
        return Image(cgImage: bitmap)
    }
}
