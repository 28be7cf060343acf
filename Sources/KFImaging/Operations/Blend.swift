// One image and one colour laid over one another, in every blend mode.

#if canImport(CKFCairo)
import CKFCairo

extension Bitmap {
    /// The image, its opacity reduced, laid over a colour in some blend mode.
    ///
    /// - Parameters:
    ///   - mode: How the two become one.
    ///   - alpha: The factor for all four components of the image, applied first, 0…1.
    ///   - background: The colour that the image is laid over; nil is no colour.
    /// - Returns: The new bitmap.
    /// - Throws: ``ImagingError/outOfMemory(bytes:)``, and for lines too long for Cairo
    ///   ``ImagingError/limitExceeded(limit:allowed:width:height:)``.
    func blended(_ mode: CGBlendMode, alpha: Double, background: Color?) throws(ImagingError) -> Bitmap {
        // Cairo's own alpha would mix the result with the background instead: wrong for the modes that clear.
        let source = alpha < 1 ? try faded(alpha) : self
        return try source.withUnsafeBytes { bytes throws(ImagingError) in
            try Bitmap(size, hasAlpha: nil) { rows throws(ImagingError) in
                rows.fill(with: background?.premultipliedPixel ?? 0)
                guard let base = bytes.baseAddress else { return }
                guard let cairo = mode.cairoOperator else {
                    return rows.addDarker(base, bytesPerRow: source.bytesPerRow)
                }
                try rows.forEachTile(side: CairoDrawing.longestSide) { x, y, tile throws(ImagingError) in
                    try CairoDrawing.paint(
                        base + y * source.bytesPerRow + x * 4,
                        size: tile.size,
                        bytesPerRow: source.bytesPerRow,
                        onto: tile
                    ) { context, source in
                        cairo_set_operator(context, cairo)
                        cairo_set_source_surface(context, source, 0, 0)
                        cairo_pattern_set_filter(cairo_get_source(context), CAIRO_FILTER_NEAREST)
                        cairo_paint(context)
                    }
                }
            }
        }
    }

    /// A colour laid over the image in some blend mode.
    ///
    /// - Parameters:
    ///   - color: The colour; its alpha counts.
    ///   - mode: How the two become one: the colour is the source, the image the destination.
    /// - Returns: The new bitmap.
    /// - Throws: ``ImagingError/outOfMemory(bytes:)``, and for lines too long for Cairo
    ///   ``ImagingError/limitExceeded(limit:allowed:width:height:)``.
    func tinted(with color: Color, _ mode: CGBlendMode) throws(ImagingError) -> Bitmap {
        let pixel = color.premultipliedPixel
        return try Bitmap(size, hasAlpha: nil) { rows throws(ImagingError) in
            forEachRow { y, row in rows.pixels(y).update(from: row, count: width) }
            guard let cairo = mode.cairoOperator else {
                // One row serves for all.
                let line = try Buffer<UInt32>(width)
                defer { withExtendedLifetime(line) {} }
                line.base.update(repeating: pixel, count: width)
                return rows.addDarker(line.base, bytesPerRow: 0)
            }
            let source = try Buffer<UInt32>(1)
            defer { withExtendedLifetime(source) {} }
            source.base.pointee = pixel
            try rows.forEachTile(side: CairoDrawing.longestSide) { _, _, tile throws(ImagingError) in
                try CairoDrawing.paint(source.base, size: PixelSize(1, 1), bytesPerRow: 4, onto: tile) {
                    context,
                    source in
                    cairo_set_operator(context, cairo)
                    cairo_set_source_surface(context, source, 0, 0)
                    cairo_pattern_set_extend(cairo_get_source(context), CAIRO_EXTEND_REPEAT)
                    cairo_paint(context)
                }
            }
        }
    }

    /// All components multiplied with a number in 0…1.
    private func faded(_ alpha: Double) throws(ImagingError) -> Bitmap {
        let bytes = (0...255).map { UInt8(Double($0) * alpha + 0.5) }
        return try redrawn(hasAlpha: nil) { _, source, target in
            source.withMemoryRebound(to: UInt8.self, capacity: width * 4) { from in
                target.withMemoryRebound(to: UInt8.self, capacity: width * 4) { to in
                    for i in 0..<width * 4 { to[i] = bytes[Int(from[i])] }
                }
            }
        }
    }
}

extension PixelRows {
    /// Goes through parts of the rows no side of which is longer than some number of pixels.
    fileprivate func forEachTile(
        side: Int,
        _ body: (_ x: Int, _ y: Int, _ tile: PixelRows) throws(ImagingError) -> Void
    ) throws(ImagingError) {
        for y in stride(from: 0, to: size.height, by: side) {
            for x in stride(from: 0, to: size.width, by: side) {
                let part = PixelSize(min(side, size.width - x), min(side, size.height - y))
                try body(x, y, PixelRows(base: row(y) + x * 4, bytesPerRow: bytesPerRow, size: part))
            }
        }
    }

    /// Sums less one, which Cairo cannot do: max(0, α − (αₛ − cₛ) − (α_b − c_b)).
    ///
    /// α is min(1, αₛ + α_b).
    fileprivate func addDarker(_ source: UnsafeRawPointer, bytesPerRow: Int) {
        for y in 0..<size.height {
            let from = (source + y * bytesPerRow).assumingMemoryBound(to: UInt32.self)
            let to = pixels(y)
            for x in 0..<size.width {
                let (s, b) = (from[x], to[x])
                let alpha = Int32(min(255, s >> 24 + b >> 24))
                let missing = Int32(s >> 24) + Int32(b >> 24)
                func sum(_ shift: UInt32) -> UInt32 {
                    let colors = Int32(s >> shift & 0xFF) + Int32(b >> shift & 0xFF)
                    return UInt32(max(0, alpha - missing + colors)) << shift
                }
                to[x] = UInt32(alpha) << 24 | sum(16) | sum(8) | sum(0)
            }
        }
    }
}

extension CGBlendMode {
    /// The mode in Cairo's terms; nil for the one it does not have.
    fileprivate var cairoOperator: cairo_operator_t? {
        switch self {
        case .normal: CAIRO_OPERATOR_OVER
        case .multiply: CAIRO_OPERATOR_MULTIPLY
        case .screen: CAIRO_OPERATOR_SCREEN
        case .overlay: CAIRO_OPERATOR_OVERLAY
        case .darken: CAIRO_OPERATOR_DARKEN
        case .lighten: CAIRO_OPERATOR_LIGHTEN
        case .colorDodge: CAIRO_OPERATOR_COLOR_DODGE
        case .colorBurn: CAIRO_OPERATOR_COLOR_BURN
        case .softLight: CAIRO_OPERATOR_SOFT_LIGHT
        case .hardLight: CAIRO_OPERATOR_HARD_LIGHT
        case .difference: CAIRO_OPERATOR_DIFFERENCE
        case .exclusion: CAIRO_OPERATOR_EXCLUSION
        case .hue: CAIRO_OPERATOR_HSL_HUE
        case .saturation: CAIRO_OPERATOR_HSL_SATURATION
        case .color: CAIRO_OPERATOR_HSL_COLOR
        case .luminosity: CAIRO_OPERATOR_HSL_LUMINOSITY
        case .clear: CAIRO_OPERATOR_CLEAR
        case .copy: CAIRO_OPERATOR_SOURCE
        case .sourceIn: CAIRO_OPERATOR_IN
        case .sourceOut: CAIRO_OPERATOR_OUT
        case .sourceAtop: CAIRO_OPERATOR_ATOP
        case .destinationOver: CAIRO_OPERATOR_DEST_OVER
        case .destinationIn: CAIRO_OPERATOR_DEST_IN
        case .destinationOut: CAIRO_OPERATOR_DEST_OUT
        case .destinationAtop: CAIRO_OPERATOR_DEST_ATOP
        case .xor: CAIRO_OPERATOR_XOR
        case .plusLighter: CAIRO_OPERATOR_ADD
        case .plusDarker: nil
        }
    }
}
#else
extension Bitmap {
    /// Throws ``ImagingError/notBuiltIn(_:package:)``: it takes Cairo.
    func blended(_ mode: CGBlendMode, alpha: Double, background: Color?) throws(ImagingError) -> Bitmap {
        throw .notBuiltIn("blending", package: BuiltInLibrary.cairo.package)
    }

    /// Throws ``ImagingError/notBuiltIn(_:package:)``: it takes Cairo.
    func tinted(with color: Color, _ mode: CGBlendMode) throws(ImagingError) -> Bitmap {
        throw .notBuiltIn("blending", package: BuiltInLibrary.cairo.package)
    }
}
#endif
