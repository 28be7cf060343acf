// Lays small images out on one large one, for both commands of `kf-demo`.

import Foundation
import KFImaging
import KingfisherTestSupport

/// A grid of images with labels.
struct ContactSheet {
    /// One place of the grid.
    struct Cell: Sendable {
        /// The text below the image.
        let label: String
        /// The image, no larger than a cell; nil leaves a crossed-out place.
        let image: Image?
    }

    /// The largest size of an image, in pixels.
    let cellWidth: Int
    let cellHeight: Int
    /// The number of images side by side.
    let columns: Int
    /// The radius of the corners of the ground below transparent images, in pixels.
    var radius: Float = 0

    private static let gap = 28
    private static let labelHeight = 34
    private static let lineHeight = 20
    private static let margin = 44
    private static let headHeight = 62
    private static let dot = 2

    private static let paper = Paint(0xF5F2EB)
    private static let ink = Paint(0x3A3F45)
    private static let pale = Paint(0xD9D3C5)

    /// Draws the sheet.
    func drawn(title: String, cells: [Cell]) -> Image {
        let rows = stride(from: 0, to: cells.count, by: columns).map { first in
            cells[first..<min(first + columns, cells.count)].map { ($0.image, lines(of: $0.label)) }
        }
        let heights = rows.map { row in
            cellHeight + Self.labelHeight + ((row.map(\.1.count).max() ?? 1) - 1) * Self.lineHeight + Self.gap
        }
        let wide = max(columns * (cellWidth + Self.gap) - Self.gap, Lettering.width(title, dot: Self.dot * 2))
        var canvas = Canvas(
            width: 2 * Self.margin + wide,
            height: 2 * Self.margin + Self.headHeight + heights.reduce(0, +) - Self.gap,
            color: Self.paper
        )
        Lettering.draw(title, on: &canvas, x: Self.margin, y: Self.margin, dot: Self.dot * 2, color: Self.ink)
        var top = Self.margin + Self.headHeight
        for (row, height) in zip(rows, heights) {
            for (column, (image, label)) in row.enumerated() {
                let left = Self.margin + column * (cellWidth + Self.gap)
                draw(image, on: &canvas, left: left, top: top)
                draw(label, on: &canvas, left: left, top: top + cellHeight)
            }
            top += height
        }
        return canvas.image
    }

    private func draw(_ image: Image?, on canvas: inout Canvas, left: Int, top: Int) {
        guard let image, let bitmap = image.cgImage else {
            canvas.lay(x: left, y: top, width: cellWidth, height: cellHeight, cross)
            return
        }
        let (width, height) = (bitmap.width, bitmap.height)
        let (x, y) = (left + (cellWidth - width) / 2, top + (cellHeight - height) / 2)
        if image.hasAlpha {
            canvas.lay(x: x, y: y, width: width, height: height) { x, y in
                let square = (x / 10 + y / 10).isMultiple(of: 2) ? Paint.one : Self.pale
                return square * coverage(x: x, y: y, width: width, height: height)
            }
        }
        canvas.lay(x: x, y: y, bitmap)
    }

    private func draw(_ label: [String], on canvas: inout Canvas, left: Int, top: Int) {
        let first = top + (Self.labelHeight - Lettering.height(dot: Self.dot)) / 2 + 4
        for (line, text) in label.enumerated() {
            let x = left + max(0, cellWidth - Lettering.width(text, dot: Self.dot)) / 2
            let y = first + line * Self.lineHeight
            Lettering.draw(text, on: &canvas, x: x, y: y, dot: Self.dot, color: Self.ink)
        }
    }

    /// The lines of a label, with as many words as fit below a cell; words end after a separator.
    private func lines(of label: String) -> [String] {
        var lines = [""]
        var word = ""
        for (place, letter) in label.enumerated() {
            word.append(letter)
            guard ",>( ".contains(letter) || place == label.count - 1 else { continue }
            let longer = lines[lines.count - 1] + word
            if longer == word || Lettering.width(longer, dot: Self.dot) <= cellWidth {
                lines[lines.count - 1] = longer
            } else {
                lines.append(word)
            }
            word = ""
        }
        return lines
    }

    /// A thin cross, from corner to corner.
    private func cross(_ x: Int, _ y: Int) -> Paint {
        let slope = Float(cellHeight) / Float(cellWidth)
        let down = abs(Float(y) - Float(x) * slope)
        let up = abs(Float(cellHeight - y) - Float(x) * slope)
        let color = Self.pale.mixed(with: Self.paper, 1 - max(0, min(down, up) - 2))
        return color * coverage(x: x, y: y, width: cellWidth, height: cellHeight)
    }

    /// The part of a pixel inside a rectangle with rounded corners, from 0 to 1.
    private func coverage(x: Int, y: Int, width: Int, height: Int) -> Float {
        let across = max(radius - Float(x) - 0.5, Float(x) + 0.5 - Float(width) + radius, 0)
        let down = max(radius - Float(y) - 0.5, Float(y) + 0.5 - Float(height) + radius, 0)
        return min(1, max(0, radius + 0.5 - (across * across + down * down).squareRoot()))
    }
}
