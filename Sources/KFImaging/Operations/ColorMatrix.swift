// Brightness, contrast, saturation and exposure: one mixture for every pixel.

import CKFCodecs
import Foundation

/// The changes to every colour, in this order: saturation, contrast, brightness, exposure.
package struct ColorAdjustment: Sendable, Equatable {
    /// Every component becomes own · itself + luma · Y + offset, Y being the colour's luminance.
    let own: Double
    let luma: Double
    let offset: Double
    let space: WorkingSpace

    /// The shares of red, green and blue in the luminance.
    static let lumaOfRGB = (red: 0.2126, green: 0.7152, blue: 0.0722)

    /// An adjustment; numbers that are NaN or infinite change nothing.
    ///
    /// - Parameters:
    ///   - brightness: Added to every component; 0 changes nothing.
    ///   - contrast: Distances from the middle are multiplied by it; 1 changes nothing.
    ///   - saturation: Distances from grey are multiplied by it; 1 changes nothing, 0 leaves greys.
    ///   - inputEV: Exposure: doubles the light so many times.
    ///   - space: The numbers that are multiplied and added.
    package init(
        brightness: Double,
        contrast: Double,
        saturation: Double,
        inputEV: Double,
        in space: WorkingSpace = .linear
    ) {
        self.space = space
        guard [brightness, contrast, saturation, inputEV].allSatisfy(\.isFinite) else {
            (own, luma, offset) = (1, 0, 0)
            return
        }
        // Beyond this, everything is black or white anyway, and the smaller numbers of the loops might overflow.
        func limited(_ number: Double, _ limit: Double) -> Double { min(max(number, -limit), limit) }
        let (brightness, contrast, saturation) = (
            limited(brightness, 1e6), limited(contrast, 1e6), limited(saturation, 1e6)
        )
        let gain = pow(2, limited(inputEV, 64))
        own = gain * contrast * saturation
        luma = gain * contrast * (1 - saturation)
        offset = gain * (0.5 + brightness - contrast / 2)
    }

    var isIdentity: Bool { own == 1 && luma == 0 && offset == 0 }

    /// Every component depends on itself only.
    fileprivate func table() -> [UInt8] {
        space.valuesOfBytes().map { space.byte(own * $0 + offset) }
    }

    fileprivate var mix: kf_color_mix {
        kf_color_mix(
            own: Float(own),
            red: Float(luma * Self.lumaOfRGB.red),
            green: Float(luma * Self.lumaOfRGB.green),
            blue: Float(luma * Self.lumaOfRGB.blue),
            offset: Float(offset),
            linear: space == .linear
        )
    }
}

extension Bitmap {
    /// This bitmap in adjusted colours; alpha stays as it is.
    ///
    /// - Throws: ``ImagingError/outOfMemory(bytes:)``.
    package func adjusted(_ adjustment: ColorAdjustment) throws(ImagingError) -> Bitmap {
        if adjustment.isIdentity { return self }
        if adjustment.luma == 0 {
            let table = adjustment.table()
            return try mapped(blue: table, green: table, red: table)
        }
        return try withUnsafePointer(to: adjustment.mix) { mix throws(ImagingError) in
            try recolored { source, target, count in kf_mix_colors(source, target, count, mix) }
        }
    }

    /// This bitmap with every straight component looked up in a table of 256 bytes.
    func mapped(blue: [UInt8], green: [UInt8], red: [UInt8]) throws(ImagingError) -> Bitmap {
        let tables = blue + green + red
        return try recolored { source, target, count in kf_map_bytes(source, target, count, tables) }
    }

    /// This bitmap with the colours that `body` makes out of rows of straight ones; it leaves alpha as it is, its two
    /// pointers may be the same, and several threads call it at once.
    private func recolored(
        _ body: (UnsafePointer<UInt32>, UnsafeMutablePointer<UInt32>, Int) -> Void
    ) throws(ImagingError) -> Bitmap {
        try withUnsafeBytes { bytes throws(ImagingError) in
            try Bitmap(size, hasAlpha: hasAlpha) { rows in
                guard let base = bytes.baseAddress else { return rows.fill() }
                ParallelRows.forEachBand(of: size) { band in
                    for y in band {
                        let source = (base + y * bytesPerRow).assumingMemoryBound(to: UInt32.self)
                        recolor(source, rows.pixels(y), body)
                    }
                }
            }
        }
    }

    private func recolor(
        _ source: UnsafePointer<UInt32>,
        _ target: UnsafeMutablePointer<UInt32>,
        _ body: (UnsafePointer<UInt32>, UnsafeMutablePointer<UInt32>, Int) -> Void
    ) {
        guard hasAlpha else { return body(source, target, width) }
        Alpha.unpremultiply(source, to: target, count: width)
        body(target, target, width)
        Alpha.premultiply(target, count: width)
    }
}
