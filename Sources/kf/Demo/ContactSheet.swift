// Lays small pictures out on one large one. Knows nothing of where they come from.

import Foundation
import KFImaging

/// A grid of pictures with labels.
struct ContactSheet {
    /// One place of the grid.
    struct Cell {
        /// What stands below, one line or several.
        let label: String
        /// The picture, no larger than a cell; nil leaves a crossed-out place.
        let image: Image?
        /// Whether to show transparency on a chequered ground.
        var isTransparent = false
    }

    /// The largest size of a picture on the demo's sheet, in pixels.
    static let cellWidth = 280
    static let cellHeight = 210
    /// The radius of a picture's corners there, in pixels.
    static let radius = 14

    /// The largest size of a picture on this sheet, in pixels.
    var cellWidth = Self.cellWidth
    var cellHeight = Self.cellHeight
    /// The radius of the ground's corners below transparent pictures, in pixels.
    var radius = Self.radius
    /// How many pictures stand side by side; nil makes the sheet a little wider than high.
    var columns: Int?

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
    func drawn(title: String, cells: [Cell]) -> Canvas {
        let usual = Int((Double(cells.count) * 1.5).squareRoot().rounded(.up))
        let columns = max(1, min(cells.count, self.columns ?? usual))
        let rows = stride(from: 0, to: cells.count, by: columns).map { cells[$0..<min($0 + columns, cells.count)] }
        let heights = rows.map { cellHeight + labelHeight(of: $0) + Self.gap }
        let titleWidth = Lettering.width(title, dot: Self.dot * 2)
        var canvas = Canvas(
            width: 2 * Self.margin + max(columns * (cellWidth + Self.gap) - Self.gap, titleWidth),
            height: 2 * Self.margin + Self.headHeight + heights.reduce(0, +) - Self.gap,
            color: Self.paper
        )
        Lettering.draw(title, on: &canvas, x: Self.margin, y: Self.margin, dot: Self.dot * 2, color: Self.ink)
        var top = Self.margin + Self.headHeight
        for (row, height) in zip(rows, heights) {
            for (column, cell) in row.enumerated() {
                draw(cell, on: &canvas, left: Self.margin + column * (cellWidth + Self.gap), top: top)
            }
            top += height
        }
        return canvas
    }

    /// The room below a row of pictures, for the longest of their labels.
    private func labelHeight(of cells: ArraySlice<Cell>) -> Int {
        let lines = cells.map { $0.label.components(separatedBy: "\n").count }.max() ?? 1
        return Self.labelHeight + (lines - 1) * Self.lineHeight
    }

    private func draw(_ cell: Cell, on canvas: inout Canvas, left: Int, top: Int) {
        if let bitmap = cell.image?.orientedUp.cgImage {
            let x = left + (cellWidth - bitmap.width) / 2
            let y = top + (cellHeight - bitmap.height) / 2
            if cell.isTransparent {
                ground(on: &canvas, x: x, y: y, width: bitmap.width, height: bitmap.height) { x, y in
                    (x / 10 + y / 10).isMultiple(of: 2) ? Paint(0xFFFFFF) : Self.pale
                }
            }
            canvas.lay(bitmap, atX: x, y: y)
        } else {
            ground(on: &canvas, x: left, y: top, width: cellWidth, height: cellHeight) { x, y in
                // A thin cross, from corner to corner.
                let slope = Float(cellHeight) / Float(cellWidth)
                let down = abs(Float(y) - Float(x) * slope)
                let up = abs(Float(cellHeight - y) - Float(x) * slope)
                return Self.pale.mixed(with: Self.paper, max(0, 1 - max(0, min(down, up) - 2)))
            }
        }
        let first = top + cellHeight + (Self.labelHeight - Lettering.height(dot: Self.dot)) / 2 + 4
        for (line, text) in cell.label.components(separatedBy: "\n").enumerated() {
            let width = Lettering.width(text, dot: Self.dot)
            Lettering.draw(
                text,
                on: &canvas,
                x: left + max(0, cellWidth - width) / 2,
                y: first + line * Self.lineHeight,
                dot: Self.dot,
                color: Self.ink
            )
        }
    }

    /// Fills a rectangle with soft rounded corners; `color` gets places inside it.
    private func ground(
        on canvas: inout Canvas,
        x left: Int,
        y top: Int,
        width: Int,
        height: Int,
        _ color: (Int, Int) -> Paint
    ) {
        let tile = Canvas(width: width, height: height) { x, y in
            let radius = Float(self.radius)
            let across = max(radius - Float(x) - 0.5, Float(x) + 0.5 - Float(width) + radius, 0)
            let down = max(radius - Float(y) - 0.5, Float(y) + 0.5 - Float(height) + radius, 0)
            var paint = color(x, y)
            paint.alpha *= min(1, max(0, radius + 0.5 - (across * across + down * down).squareRoot()))
            return paint
        }
        canvas.lay(tile, atX: left, y: top)
    }
}
