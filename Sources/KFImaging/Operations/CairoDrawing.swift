// The way to Cairo: our pixels as its surfaces. Without its headers nothing can be drawn.

#if canImport(CKFCairo)
import CKFCairo
#endif

/// Drawing with Cairo.
enum CairoDrawing {
    #if canImport(CKFCairo)
    /// The longest side of a surface, in pixels, that is certainly drawn.
    ///
    /// Cairo permits twice as much and then draws nothing, without reporting an error: it looks up pixels through
    /// numbers of 16 bits.
    static let longestSide = 16_384

    /// Lets `draw` paint the pixels at `source` onto those of `rows`, which must be initialised.
    ///
    /// - Parameters:
    ///   - source: The first pixel; pixels are only read.
    ///   - size: How many pixels there are.
    ///   - bytesPerRow: The distance between the beginnings of two of their rows.
    ///   - rows: Where they are painted.
    ///   - draw: Gets the context and the source's surface.
    /// - Throws: ``ImagingError/outOfMemory(bytes:)``; ``ImagingError/limitExceeded(limit:allowed:width:height:)`` for
    ///   sides that Cairo cannot count.
    static func paint(
        _ source: UnsafeRawPointer,
        size: PixelSize,
        bytesPerRow: Int,
        onto rows: PixelRows,
        _ draw: (_ context: OpaquePointer?, _ source: OpaquePointer?) -> Void
    ) throws(ImagingError) {
        try check(size, bytesPerRow)
        try check(rows.size, rows.bytesPerRow)
        // Cairo only reads from the source surface; its interface does not say so.
        let borrowed = UnsafeMutablePointer(mutating: source.assumingMemoryBound(to: UInt8.self))
        let source = surface(borrowed, size, bytesPerRow)
        let target = surface(rows.base, rows.size, rows.bytesPerRow)
        let context = cairo_create(target)
        defer {
            cairo_destroy(context)
            cairo_surface_destroy(target)
            cairo_surface_destroy(source)
        }
        draw(context, source)
        cairo_surface_flush(target)
        guard cairo_status(context) == CAIRO_STATUS_SUCCESS else { throw .outOfMemory(bytes: nil) }
    }

    private static func surface(
        _ pixels: UnsafeMutablePointer<UInt8>,
        _ size: PixelSize,
        _ bytesPerRow: Int
    ) -> OpaquePointer? {
        cairo_image_surface_create_for_data(
            pixels,
            CAIRO_FORMAT_ARGB32,
            Int32(size.width),
            Int32(size.height),
            Int32(bytesPerRow)
        )
    }

    private static func check(_ size: PixelSize, _ bytesPerRow: Int) throws(ImagingError) {
        guard size.longerSide <= longestSide, bytesPerRow <= Int32.max else {
            throw .limitExceeded(limit: "side", allowed: longestSide, width: size.width, height: size.height)
        }
    }
    #endif
}
