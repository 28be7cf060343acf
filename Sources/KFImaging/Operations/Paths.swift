// Rounded corners, drawn by Cairo. Knows pixels only; points are converted by the caller.

import CCairo
import Foundation

extension Bitmap {
    /// The picture inside a rectangle whose corners are rounded, over an optional background that fills the corners too.
    ///
    /// - Parameters:
    ///   - radius: In pixels; limited to half of the shorter side.
    ///   - corners: The corners to round; the others stay square.
    ///   - background: Laid under everything, corners included.
    /// - Returns: The picture, or nil when it is too large for Cairo (32,767 pixels a side) or for the memory.
    func roundingCorners(radius: Double, corners: RectCorner, background: Color?) -> Bitmap? {
        let limit = 32_767
        guard width <= limit, height <= limit else { return nil }
        let shorter = Double(min(width, height))
        let path = RoundedRectangle(
            width: Double(width),
            height: Double(height),
            radius: min(max(radius, 0), shorter / 2),
            corners: corners
        )
        var succeeded = false
        let result = try? Bitmap(size, hasAlpha: nil) { rows in
            rows.fill()
            succeeded = withUnsafeBytes { bytes in
                guard let base = bytes.baseAddress else { return false }
                return draw(base, into: rows, path, background)
            }
        }
        return succeeded ? result : nil
    }

    private func draw(
        _ pixels: UnsafeRawPointer,
        into rows: PixelRows,
        _ path: RoundedRectangle,
        _ background: Color?
    ) -> Bool {
        let (w, h) = (Int32(width), Int32(height))
        // Cairo only reads from the source surface; its interface does not say so.
        let borrowed = UnsafeMutablePointer(mutating: pixels.assumingMemoryBound(to: UInt8.self))
        let source = cairo_image_surface_create_for_data(borrowed, CAIRO_FORMAT_ARGB32, w, h, Int32(bytesPerRow))
        let target = cairo_image_surface_create_for_data(rows.base, CAIRO_FORMAT_ARGB32, w, h, Int32(rows.bytesPerRow))
        let context = cairo_create(target)
        defer {
            cairo_destroy(context)
            cairo_surface_destroy(target)
            cairo_surface_destroy(source)
        }
        if let background {
            cairo_set_source_rgba(context, background.red, background.green, background.blue, background.alpha)
            cairo_paint(context)
        }
        path.trace(context)
        cairo_set_source_surface(context, source, 0, 0)
        cairo_pattern_set_filter(cairo_get_source(context), CAIRO_FILTER_NEAREST)
        cairo_fill(context)
        cairo_surface_flush(target)
        return cairo_status(context) == CAIRO_STATUS_SUCCESS
    }
}

/// A rectangle from the origin with some corners rounded by quarter circles.
private struct RoundedRectangle {
    let width: Double
    let height: Double
    let radius: Double
    let corners: RectCorner

    /// Adds the outline to the context's path.
    func trace(_ context: OpaquePointer?) {
        corner(context, .topLeft, at: (0, 0), toCenter: (1, 1), from: .pi)
        corner(context, .topRight, at: (width, 0), toCenter: (-1, 1), from: 1.5 * .pi)
        corner(context, .bottomRight, at: (width, height), toCenter: (-1, -1), from: 0)
        corner(context, .bottomLeft, at: (0, height), toCenter: (1, -1), from: 0.5 * .pi)
        cairo_close_path(context)
    }

    private func corner(
        _ context: OpaquePointer?,
        _ corner: RectCorner,
        at point: (x: Double, y: Double),
        toCenter direction: (x: Double, y: Double),
        from angle: Double
    ) {
        guard corners.contains(corner), radius > 0 else {
            cairo_line_to(context, point.x, point.y)
            return
        }
        let center = (x: point.x + direction.x * radius, y: point.y + direction.y * radius)
        cairo_arc(context, center.x, center.y, radius, angle, angle + 0.5 * .pi)
    }
}
