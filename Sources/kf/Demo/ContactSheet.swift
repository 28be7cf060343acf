// Lays small pictures out on one large one. Knows nothing of where they come from.

import KFImaging

/// A grid of pictures with labels.
struct ContactSheet {
    /// One place of the grid.
    struct Cell {
        let label: String
        /// The picture, no larger than a cell; nil leaves a crossed-out place.
        let image: Image?
        /// Whether to show transparency on a chequered ground.
        var isTransparent = false
    }

    /// The largest size of a picture on the sheet, in pixels.
    static let cellWidth = 280
    static let cellHeight = 210
    /// The radius of a place's corners, in pixels.
    static let radius = 14

    private static let gap = 28
    private static let labelHeight = 34
    private static let margin = 44
    private static let headHeight = 62
    private static let dot = 2

    private static let paper = Paint(0xF5F2EB)
    private static let ink = Paint(0x3A3F45)
    private static let pale = Paint(0xE4DFD3)

    /// Draws the sheet.
    static func drawn(title: String, cells: [Cell]) -> Canvas {
        let columns = max(1, min(cells.count, Int((Double(cells.count) * 1.5).squareRoot().rounded(.up))))
        let rows = (cells.count + columns - 1) / columns
        let widest = max(columns * (cellWidth + gap) - gap, Lettering.width(title, dot: dot * 2))
        var canvas = Canvas(
            width: 2 * margin + widest,
            height: 2 * margin + headHeight + rows * (cellHeight + labelHeight + gap) - gap,
            color: paper
        )
        Lettering.draw(title, on: &canvas, x: margin, y: margin, dot: dot * 2, color: ink)
        for (index, cell) in cells.enumerated() {
            let left = margin + index % columns * (cellWidth + gap)
            let top = margin + headHeight + index / columns * (cellHeight + labelHeight + gap)
            draw(cell, on: &canvas, left: left, top: top)
        }
        return canvas
    }

    private static func draw(_ cell: Cell, on canvas: inout Canvas, left: Int, top: Int) {
        if let bitmap = cell.image?.normalized.cgImage {
            let x = left + (cellWidth - bitmap.width) / 2
            let y = top + (cellHeight - bitmap.height) / 2
            if cell.isTransparent {
                ground(on: &canvas, x: x, y: y, width: bitmap.width, height: bitmap.height) { x, y in
                    (x / 10 + y / 10).isMultiple(of: 2) ? Paint(0xFFFFFF) : pale
                }
            }
            canvas.lay(bitmap, atX: x, y: y)
        } else {
            ground(on: &canvas, x: left, y: top, width: cellWidth, height: cellHeight) { x, y in
                // A thin cross, from corner to corner.
                let slope = Float(cellHeight) / Float(cellWidth)
                let down = abs(Float(y) - Float(x) * slope)
                let up = abs(Float(cellHeight - y) - Float(x) * slope)
                return pale.mixed(with: paper, max(0, 1 - max(0, min(down, up) - 2)))
            }
        }
        let width = Lettering.width(cell.label, dot: dot)
        Lettering.draw(
            cell.label,
            on: &canvas,
            x: left + max(0, cellWidth - width) / 2,
            y: top + cellHeight + (labelHeight - Lettering.height(dot: dot)) / 2 + 4,
            dot: dot,
            color: ink
        )
    }

    /// Fills a rectangle with soft rounded corners; `color` gets places inside it.
    private static func ground(
        on canvas: inout Canvas,
        x left: Int,
        y top: Int,
        width: Int,
        height: Int,
        _ color: (Int, Int) -> Paint
    ) {
        let tile = Canvas(width: width, height: height) { x, y in
            let radius = Float(Self.radius)
            let across = max(radius - Float(x) - 0.5, Float(x) + 0.5 - Float(width) + radius, 0)
            let down = max(radius - Float(y) - 0.5, Float(y) + 0.5 - Float(height) + radius, 0)
            var paint = color(x, y)
            paint.alpha *= min(1, max(0, radius + 0.5 - (across * across + down * down).squareRoot()))
            return paint
        }
        canvas.lay(tile, atX: left, y: top)
    }
}
