// Drawing with a Cairo context of the caller, and reading its surface back.

#if canImport(CKFCairo)
import CKFCairo

extension Image {
    /// The stored pixels drawn with a context over the content of its surface, and that surface as an image.
    ///
    /// - Parameter context: A `cairo_t *`; its transformation does not count, its clip does.
    /// - Returns: An image of the whole surface with this image's scale and orientation; this image itself if it is
    ///   animated or empty, and when the surface is no image surface of 32 bits a pixel or has become invalid.
    package func drawn(on context: OpaquePointer) -> Image {
        guard !isAnimated, let bitmap = cgImage, let surface = cairo_get_target(context),
            cairo_surface_get_type(surface) == CAIRO_SURFACE_TYPE_IMAGE, bitmap.draw(with: context)
        else { return self }
        cairo_surface_flush(surface)
        guard let snapshot = Bitmap(imageSurface: surface) else { return self }
        return derived(snapshot, orientation: imageOrientation)
    }
}

extension Bitmap {
    /// Paints the pixels from the surface's corner; returns whether that succeeded.
    fileprivate func draw(with context: OpaquePointer) -> Bool {
        let limit = 32_767
        guard width <= limit, height <= limit else { return false }
        return withUnsafeBytes { bytes in
            guard let base = bytes.bindMemory(to: UInt8.self).baseAddress else { return false }
            let source = cairo_image_surface_create_for_data(
                UnsafeMutablePointer(mutating: base),  // Cairo only reads from a source; its interface does not say so
                CAIRO_FORMAT_ARGB32,
                Int32(width),
                Int32(height),
                Int32(bytesPerRow)
            )
            cairo_save(context)
            cairo_identity_matrix(context)
            cairo_set_source_surface(context, source, 0, 0)
            cairo_paint(context)
            // Restoring releases the source before the memory behind it may be freed.
            cairo_restore(context)
            cairo_surface_finish(source)
            cairo_surface_destroy(source)
            return cairo_status(context) == CAIRO_STATUS_SUCCESS
        }
    }

    /// A copy of the content of an image surface.
    fileprivate convenience init?(imageSurface surface: OpaquePointer) {
        let format = cairo_image_surface_get_format(surface)
        let size = PixelSize(
            Int(cairo_image_surface_get_width(surface)),
            Int(cairo_image_surface_get_height(surface))
        )
        let stride = Int(cairo_image_surface_get_stride(surface))
        guard format == CAIRO_FORMAT_ARGB32 || format == CAIRO_FORMAT_RGB24,
            cairo_image_surface_get_width(surface) > 0, let data = cairo_image_surface_get_data(surface)
        else { return nil }
        // Without alpha, the fourth byte may be anything.
        let alpha: UInt32 = format == CAIRO_FORMAT_RGB24 ? 0xFF00_0000 : 0
        let pixels = UnsafeRawPointer(data)
        try? self.init(size, hasAlpha: alpha == 0 ? nil : false) { rows in
            for y in 0..<size.height {
                let target = rows.pixels(y)
                let row = pixels + y * stride
                for x in 0..<size.width { target[x] = row.load(fromByteOffset: x * 4, as: UInt32.self) | alpha }
            }
        }
    }
}
#else
extension Image {
    /// This image: without Cairo there is no context to draw with.
    package func drawn(on context: OpaquePointer) -> Image { self }
}
#endif
