// Sharpening as the image server does it: in lightness, and only where an edge is. For URLs of imgproxy.

import Foundation

extension Bitmap {
    /// The image with its edges more pronounced; flat areas, grain, colours and transparency stay as they are.
    ///
    /// The lightness (L* of L*a*b*) is compared with the mean around it. A difference of up to two hundredths of the
    /// whole changes nothing; what is beyond is added three times, up to ten hundredths where that makes a pixel
    /// lighter, and up to twenty where darker. Beyond the edges the outermost pixels are repeated.
    ///
    /// - Parameter sigma: The standard deviation of the mean in pixels, before it ends at a tenth of its height; at
    ///   most 100 are used.
    /// - Returns: The new bitmap; the same bitmap where the blur leaves every pixel as it is.
    /// - Throws: ``ImagingError/outOfMemory(bytes:)``.
    func sharpenedInLightness(sigma: Double) throws(ImagingError) -> Bitmap {
        guard let bell = CutGaussian(sigma: min(sigma, 100), least: 0.1) else { return self }
        let blur = try RowBlur(size, weights: bell.weights, channels: 1)
        let own = try Buffer<Float>(min(width, RowBlur.mostColumns))
        return try withUnsafeBytes { bytes throws(ImagingError) in
            try Bitmap(size, hasAlpha: hasAlpha) { rows in
                guard let base = bytes.baseAddress else { return rows.fill() }
                func pixels(_ y: Int, _ left: Int) -> UnsafePointer<UInt8> {
                    (base + y * bytesPerRow + left * 4).assumingMemoryBound(to: UInt8.self)
                }
                for left in stride(from: 0, to: width, by: RowBlur.mostColumns) {
                    let columns = left..<min(left + RowBlur.mostColumns, width)
                    blur.start(columns)
                    for y in 0..<height {
                        let mean = blur.row(y) { y, columns, target in
                            Lightness.of(pixels(y, columns.lowerBound), columns.count, to: target)
                        }
                        let source = pixels(y, left)
                        Lightness.of(source, columns.count, to: own.base)
                        Lightness.sharpen(source, own.base, mean, columns.count, to: rows.row(y) + left * 4)
                    }
                }
            }
        }
    }
}

/// L* of pixels, and pixels whose L* is changed.
private enum Lightness {
    /// From linear red, green and blue to light, whose three amounts are 1 for white.
    private static let toLight = [
        SIMD3<Float>(0.4339563, 0.2126729, 0.0177573), SIMD3<Float>(0.3762145, 0.7151522, 0.1094763),
        SIMD3<Float>(0.1898291, 0.0721750, 0.8727665),
    ]
    private static let fromLight: [SIMD3<Float>] = {
        let matrix = LightMatrix.fromXYZ.scaled(by: LightMatrix.light(x: 0.3127, y: 0.3290))
        return [matrix.columns.0, matrix.columns.1, matrix.columns.2].map { SIMD3<Float>($0) }
    }()
    /// Linear light of bytes.
    private static let linear = WorkingSpace.linear.valuesOfBytes().map { Float($0) }
    /// (L* + 16) / 116 of luminances in equal steps from 0 to 1.
    private static let curve = (0...steps + 1).map { compressed(Float($0) / Float(steps)) }
    private static let steps = 4096

    /// The curve between light and L*a*b*: a cubic root, and a line near black.
    private static func compressed(_ light: Float) -> Float {
        light > 216.0 / 24_389 ? cbrt(light) : light * (841.0 / 108) + 4.0 / 29
    }

    private static func expanded(_ value: Float) -> Float {
        value > 6.0 / 29 ? value * value * value : (value - 4.0 / 29) * (108.0 / 841)
    }

    /// The lightness of some pixels, from 0 to 100.
    static func of(_ pixels: UnsafePointer<UInt8>, _ count: Int, to target: UnsafeMutablePointer<Float>) {
        let (red, green, blue) = (toLight[0].y, toLight[1].y, toLight[2].y)
        linear.withUnsafeBufferPointer { linear in
            curve.withUnsafeBufferPointer { curve in
                for index in 0..<count {
                    let pixel = pixels + index * 4
                    let light =
                        red * linear[Int(pixel[2])] + green * linear[Int(pixel[1])] + blue * linear[Int(pixel[0])]
                    let place = min(max(light, 0), 1) * Float(steps)
                    let step = Int(place)
                    let value = curve[step] + (curve[step + 1] - curve[step]) * (place - Float(step))
                    target[index] = 116 * value - 16
                }
            }
        }
    }

    /// Writes pixels of one row, sharpened by the lightness of them and by its means.
    static func sharpen(
        _ source: UnsafePointer<UInt8>,
        _ own: UnsafePointer<Float>,
        _ mean: UnsafePointer<Float>,
        _ count: Int,
        to target: UnsafeMutablePointer<UInt8>
    ) {
        target.update(from: source, count: count * 4)
        for index in 0..<count {
            let difference = own[index] - mean[index]
            let excess = (abs(difference) - 2) * 3
            guard excess > 0 else { continue }
            let change = difference > 0 ? min(excess, 10) : -min(excess, 20)
            let changed = min(max(own[index] + change, 0), 100)
            lighten(target + index * 4, by: (changed - own[index]) / 116)
        }
    }

    /// Adds to all three numbers that L*a*b* is made of: L* alone changes.
    private static func lighten(_ pixel: UnsafeMutablePointer<UInt8>, by change: Float) {
        var light = toLight[0] * linear[Int(pixel[2])]
        light += toLight[1] * linear[Int(pixel[1])]
        light += toLight[2] * linear[Int(pixel[0])]
        func changed(_ light: Float) -> Float { expanded(compressed(light) + change) }
        var result = fromLight[0] * changed(light.x)
        result += fromLight[1] * changed(light.y)
        result += fromLight[2] * changed(light.z)
        let places = result.clamped(lowerBound: .zero, upperBound: .one) * Float(LightBytes.steps) + 0.5
        pixel[2] = min(LightBytes.table[Int(places.x)], pixel[3])
        pixel[1] = min(LightBytes.table[Int(places.y)], pixel[3])
        pixel[0] = min(LightBytes.table[Int(places.z)], pixel[3])
    }
}
