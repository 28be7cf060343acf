// BlurHash: a few letters that hold a very blurred image, by the published algorithm.

public import Foundation

/// Images as a few cosine waves, in letters that fit anywhere.
package enum BlurHash {
    /// The hash of an image, transparent parts laid over white.
    ///
    /// - Parameters:
    ///   - bitmap: The image; large ones are reduced to 128 pixels first.
    ///   - components: How many waves are kept on each axis, 1…9; other numbers return nil.
    /// - Returns: The letters.
    /// - Throws: ``ImagingError/outOfMemory(bytes:)``.
    package static func encode(_ bitmap: Bitmap, components: (x: Int, y: Int)) throws(ImagingError) -> String? {
        guard (1...9).contains(components.x), (1...9).contains(components.y) else { return nil }
        let small = try bitmap.resampled(to: Geometry.thumbnail(of: bitmap.size, limit: 128), filter: .bilinear)
        let waves = waves(in: small, components)
        let strongest = waves.dropFirst().map { max(abs($0.x), abs($0.y), abs($0.z)) }.max()
        let level = strongest.map { Int(min(max(($0 * 166 - 0.5).rounded(.down), 0), 82)) } ?? 0
        let limit = strongest == nil ? 1 : Double(level + 1) / 166
        var text = digits(components.x - 1 + (components.y - 1) * 9, count: 1) + digits(level, count: 1)
        let mean = SIMD3(SRGB.byte(waves[0].x), SRGB.byte(waves[0].y), SRGB.byte(waves[0].z))
        text += digits(mean.x << 16 | mean.y << 8 | mean.z, count: 4)
        for wave in waves.dropFirst() {
            func step(_ value: Double) -> Int {
                Int(min(max((signedPower(value / limit, 0.5) * 9 + 9.5).rounded(.down), 0), 18))
            }
            text += digits(step(wave.x) * 361 + step(wave.y) * 19 + step(wave.z), count: 2)
        }
        return text
    }

    /// The image that a hash stands for.
    ///
    /// - Parameters:
    ///   - hash: The letters.
    ///   - size: The size of the image.
    ///   - punch: Contrast; 1 is that of the original. Limited to 0…100, NaN counts as 1.
    /// - Returns: The image; nil when the letters are no BlurHash.
    /// - Throws: ``ImagingError/outOfMemory(bytes:)``.
    package static func decode(_ hash: String, size: PixelSize, punch: Double) throws(ImagingError) -> Bitmap? {
        let contrast = punch.isNaN ? 1 : min(max(punch, 0), 100)
        guard let (waves, columns) = waves(of: hash, punch: contrast) else { return nil }
        let lines = waves.count / columns
        let across = cosines(columns, over: size.width), down = cosines(lines, over: size.height)
        return try Bitmap(size, hasAlpha: false) { rows in
            for y in 0..<size.height {
                let row = (0..<columns).map { i in
                    (0..<lines).reduce(SIMD3<Double>.zero) { $0 + waves[$1 * columns + i] * down[$1][y] }
                }
                let target = rows.pixels(y)
                for x in 0..<size.width {
                    var light = SIMD3<Double>.zero
                    for i in 0..<columns { light += row[i] * across[i][x] }
                    let color = SIMD3(SRGB.byte(light.x), SRGB.byte(light.y), SRGB.byte(light.z))
                    target[x] = 0xFF00_0000 | UInt32(color.x << 16 | color.y << 8 | color.z)
                }
            }
        }
    }

    /// How much of each wave there is in linear light, row by row of waves.
    private static func waves(in bitmap: Bitmap, _ components: (x: Int, y: Int)) -> [SIMD3<Double>] {
        let across = cosines(components.x, over: bitmap.width), down = cosines(components.y, over: bitmap.height)
        var waves = [SIMD3<Double>](repeating: .zero, count: components.x * components.y)
        var light = [SIMD3<Double>](repeating: .zero, count: bitmap.width)
        bitmap.forEachRow { y, row in
            for x in 0..<bitmap.width {
                // Laid over white; components of a premultiplied pixel are at most its alpha.
                let pixel = Int(row[x] + (255 - row[x] >> 24) * 0x0101_0101)
                light[x] = SRGB.linear(pixel)
            }
            for i in 0..<components.x {
                var sum = SIMD3<Double>.zero
                for x in 0..<bitmap.width { sum += light[x] * across[i][x] }
                for j in 0..<components.y { waves[j * components.x + i] += sum * down[j][y] }
            }
        }
        let share = 1 / Double(bitmap.width * bitmap.height)
        return waves.enumerated().map { $0.element * ($0.offset == 0 ? share : 2 * share) }
    }

    /// The waves that a hash names, and how many there are in a row; nil when it is malformed.
    private static func waves(of hash: String, punch: Double) -> (waves: [SIMD3<Double>], columns: Int)? {
        let values = hash.utf8.map { valueOfDigit[Int($0)] }
        guard values.count >= 6, !values.contains(-1), values[0] < 81 else { return nil }
        let (columns, lines) = (values[0] % 9 + 1, values[0] / 9 + 1)
        guard values.count == 4 + 2 * columns * lines else { return nil }
        let mean = values[2..<6].reduce(0) { $0 * 83 + $1 }
        guard mean <= 0xFF_FFFF else { return nil }
        var waves = [SRGB.linear(mean)]
        let limit = Double(values[1] + 1) / 166 * punch
        for place in stride(from: 6, to: values.count, by: 2) {
            let value = values[place] * 83 + values[place + 1]
            guard value < 19 * 19 * 19 else { return nil }
            func strength(_ step: Int) -> Double { signedPower(Double(step - 9) / 9, 2) * limit }
            waves.append(SIMD3(strength(value / 361), strength(value / 19 % 19), strength(value % 19)))
        }
        return (waves, columns)
    }

    /// For each wave its height at each of `length` places.
    private static func cosines(_ count: Int, over length: Int) -> [[Double]] {
        (0..<count).map { i in (0..<length).map { cos(.pi * Double(i * $0) / Double(length)) } }
    }

    private static func signedPower(_ value: Double, _ exponent: Double) -> Double {
        let power = pow(abs(value), exponent)
        return value < 0 ? -power : power
    }

    private static let alphabet = Array(
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~"
    )

    /// The value of each byte as a digit; −1 for other bytes.
    private static let valueOfDigit: [Int] = {
        var values = [Int](repeating: -1, count: 256)
        for (value, letter) in alphabet.enumerated() {
            if let byte = letter.asciiValue { values[Int(byte)] = value }
        }
        return values
    }()

    private static func digits(_ value: Int, count: Int) -> String {
        var (rest, letters) = (value, [Character]())
        for _ in 0..<count {
            letters.append(alphabet[rest % 83])
            rest /= 83
        }
        return String(letters.reversed())
    }
}

/// Between 8-bit sRGB and linear light.
private enum SRGB {
    private static let linear: [Double] = (0...255).map {
        let value = Double($0) / 255
        return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
    }

    /// The light of a colour 0xRRGGBB.
    static func linear(_ color: Int) -> SIMD3<Double> {
        SIMD3(linear[color >> 16 & 0xFF], linear[color >> 8 & 0xFF], linear[color & 0xFF])
    }

    static func byte(_ light: Double) -> Int {
        // NaN is black.
        let light = light > 0 ? min(light, 1) : 0
        let encoded: Double = light <= 0.0031308 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055
        return Int(encoded * 255 + 0.5)
    }
}

extension Image {
    /// The blurred image that a BlurHash stands for: something to look at while the real one is loaded.
    ///
    /// Nil when the letters are no BlurHash, and for sizes no bitmap can have. It makes sense to ask for few pixels, 32
    /// or so, and to let the view enlarge them.
    ///
    /// - Parameters:
    ///   - hash: The letters of the hash.
    ///   - size: The size in pixels; the scale is 1.
    ///   - punch: The contrast; 1 is that of the original. Limited to 0…100, NaN counts as 1.
    public convenience init?(blurHash hash: String, size: CGSize, punch: CGFloat = 1) {
        guard size.width > 0, size.height > 0, let canvas = Geometry.canvas(points: size, scale: 1),
            let bitmap = (try? BlurHash.decode(hash, size: canvas, punch: Double(punch))) ?? nil
        else { return nil }
        self.init(cgImage: bitmap)
    }

    /// The BlurHash of the displayed image, transparent parts laid over white.
    ///
    /// - Parameter components: How many waves are kept on each axis, 1…9.
    /// - Returns: nil for the empty image, for other numbers, and when there is not enough memory.
    package func blurHash(components: (x: Int, y: Int)) -> String? {
        guard let bitmap = (try? upright())?.cgImage else { return nil }
        return (try? BlurHash.encode(bitmap, components: components)) ?? nil
    }
}
