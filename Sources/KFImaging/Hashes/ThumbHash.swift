// ThumbHash: some 25 bytes that hold a very blurred image, its shape and its transparency, by the published algorithm.

public import Foundation

/// Images as a few cosine waves of lightness, two colour differences and opacity.
public enum ThumbHash {
    /// The average colour of the image that a hash stands for; nil when it is no ThumbHash.
    ///
    /// - Parameter hash: The bytes.
    /// - Returns: The colour.
    public static func averageColor(of hash: Data) -> Color? {
        guard let header = ThumbHashHeader([UInt8](hash)) else { return nil }
        let color = header.mean.color
        return Color(red: color.x, green: color.y, blue: color.z, alpha: color.w)
    }

    /// The hash of an image.
    ///
    /// - Parameter bitmap: The image; larger ones are reduced to 100 pixels first.
    /// - Returns: The bytes.
    /// - Throws: ``ImagingError/outOfMemory(bytes:)``.
    static func encode(_ bitmap: Bitmap) throws(ImagingError) -> Data {
        let proportions = Geometry.thumbnail(of: bitmap.size, limit: 100)
        // Over fewer pixels than this the shortest waves look like longer ones, and the hash would be wrong.
        let small = try bitmap.resampled(
            to: PixelSize(max(8, proportions.width), max(8, proportions.height)),
            filter: .bilinear
        )
        let (width, height) = (small.width, small.height)
        var pixels: [SIMD4<Double>] = []
        pixels.reserveCapacity(width * height)
        small.forEachRow { _, row in
            for x in 0..<width {
                let pixel = row[x]
                let bytes = SIMD4(pixel >> 16 & 0xFF, pixel >> 8 & 0xFF, pixel & 0xFF, pixel >> 24)
                pixels.append(SIMD4<Double>(bytes) / 255)
            }
        }
        let sum = pixels.reduce(.zero, +)
        let hasAlpha = pixels.contains { $0.w < 1 }
        let mean = sum.w > 0 ? sum / sum.w : .zero
        // Where the image is transparent, it gets its mean colour.
        let waves = pixels.map { color -> LPQA in
            var filled = color + mean * (1 - color.w)
            filled.w = color.w
            return LPQA(color: filled)
        }
        func count(_ side: Int) -> Int {
            max(1, Int((Double((hasAlpha ? 5 : 7) * side) / Double(proportions.longerSide)).rounded()))
        }
        let shape = (x: count(proportions.width), y: count(proportions.height))
        func channel(_ part: KeyPath<LPQA, Double>, _ columns: Int, _ lines: Int) -> WaveChannel {
            WaveChannel(waves.map { $0[keyPath: part] }, width: width, height: height, columns, lines)
        }
        let light = channel(\.l, max(3, shape.x), max(3, shape.y))
        let (p, q) = (channel(\.p, 3, 3), channel(\.q, 3, 3))
        let isLandscape = proportions.width > proportions.height
        func bits(_ value: Double, _ limit: Double) -> Int { Int((value * limit).rounded()) }
        let first =
            bits(light.mean, 63) | bits(1 + p.mean, 31.5) << 6 | bits(1 + q.mean, 31.5) << 12
            | bits(light.scale, 31) << 18 | (hasAlpha ? 1 << 23 : 0)
        let across = isLandscape ? shape.y : shape.x
        let second = across | bits(p.scale, 63) << 3 | bits(q.scale, 63) << 9 | (isLandscape ? 1 << 15 : 0)
        var hash = [first, first >> 8, first >> 16, second, second >> 8].map { UInt8($0 & 0xFF) }
        var steps = [light, p, q].flatMap(\.steps)
        if hasAlpha {
            let alpha = channel(\.a, 5, 5)
            hash.append(UInt8(bits(alpha.mean, 15) | bits(alpha.scale, 15) << 4))
            steps += alpha.steps
        }
        for place in stride(from: 0, to: steps.count, by: 2) {
            hash.append(steps[place] | (place + 1 < steps.count ? steps[place + 1] << 4 : 0))
        }
        return Data(hash)
    }

    /// The image that a hash stands for, its longer side 32 pixels; nil when it is no ThumbHash.
    ///
    /// - Throws: ``ImagingError/outOfMemory(bytes:)``.
    static func decode(_ hash: Data) throws(ImagingError) -> Bitmap? {
        let bytes = [UInt8](hash)
        guard let header = ThumbHashHeader(bytes) else { return nil }
        let ratio = header.aspectRatio
        let size = PixelSize(
            Int((ratio > 1 ? 32 : 32 * ratio).rounded()),
            Int((ratio > 1 ? 32 / ratio : 32).rounded())
        )
        var steps = bytes.dropFirst(header.length).flatMap { [$0 & 15, $0 >> 4] }[...]
        func plane(_ shape: (x: Int, y: Int), mean: Double, scale: Double) -> [Double] {
            let waves = WaveShape(columns: shape.x, lines: shape.y)
            let strengths = steps.prefix(waves.count).map { (Double($0) / 7.5 - 1) * scale }
            steps = steps.dropFirst(waves.count)
            return waves.draw(strengths, mean: mean, on: size)
        }
        let l = plane(header.shape, mean: header.mean.l, scale: header.lightScale)
        // Colours lose strength by being rounded; a little more is given back.
        let p = plane((3, 3), mean: header.mean.p, scale: header.pScale * 1.25)
        let q = plane((3, 3), mean: header.mean.q, scale: header.qScale * 1.25)
        let a = header.hasAlpha ? plane((5, 5), mean: header.mean.a, scale: header.alphaScale) : nil
        return try Bitmap(size, hasAlpha: header.hasAlpha ? nil : false) { rows in
            for y in 0..<size.height {
                let target = rows.pixels(y)
                for x in 0..<size.width {
                    let i = y * size.width + x
                    let color = LPQA(l: l[i], p: p[i], q: q[i], a: a?[i] ?? 1).color
                    target[x] =
                        Color(red: color.x, green: color.y, blue: color.z, alpha: color.w).premultipliedPixel
                }
            }
        }
    }
}

/// A colour as lightness, yellow against blue, red against green, and opacity.
private struct LPQA {
    var l: Double
    var p: Double
    var q: Double
    var a: Double

    init(l: Double, p: Double, q: Double, a: Double) { (self.l, self.p, self.q, self.a) = (l, p, q, a) }

    /// From red, green, blue, alpha.
    init(color: SIMD4<Double>) {
        l = (color.x + color.y + color.z) / 3
        p = (color.x + color.y) / 2 - color.z
        q = color.x - color.y
        a = color.w
    }

    /// Red, green, blue, alpha; limited to 0…1.
    var color: SIMD4<Double> {
        let b = l - 2 / 3 * p
        let r = (3 * l - b + q) / 2
        return SIMD4(r, r - q, b, a).clamped(lowerBound: .zero, upperBound: SIMD4(repeating: 1))
    }
}

/// The first five or six bytes of a hash, taken apart.
private struct ThumbHashHeader {
    let mean: LPQA
    let lightScale: Double
    let pScale: Double
    let qScale: Double
    let alphaScale: Double
    let hasAlpha: Bool
    /// How many waves of lightness there are on each axis.
    let shape: (x: Int, y: Int)
    /// Width divided by height.
    let aspectRatio: Double
    /// How many bytes these are.
    var length: Int { hasAlpha ? 6 : 5 }

    /// Nil when there are not exactly the bytes that a hash of this kind has.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= 6 else { return nil }
        let first = Int(bytes[0]) | Int(bytes[1]) << 8 | Int(bytes[2]) << 16
        let second = Int(bytes[3]) | Int(bytes[4]) << 8
        func part(_ word: Int, _ shift: Int, _ limit: Int) -> Double { Double(word >> shift & limit) / Double(limit) }
        hasAlpha = first >> 23 == 1
        mean = LPQA(
            l: part(first, 0, 63),
            p: part(first, 6, 63) * 2 - 1,
            q: part(first, 12, 63) * 2 - 1,
            a: hasAlpha ? part(Int(bytes[5]), 0, 15) : 1
        )
        lightScale = part(first, 18, 31)
        pScale = part(second, 3, 63)
        qScale = part(second, 9, 63)
        alphaScale = part(Int(bytes[5]), 4, 15)
        let (shorter, longer) = (second & 7, hasAlpha ? 5 : 7)
        guard shorter > 0 else { return nil }
        let isLandscape = second >> 15 == 1
        aspectRatio = isLandscape ? Double(longer) / Double(shorter) : Double(shorter) / Double(longer)
        shape = isLandscape ? (max(3, longer), max(3, shorter)) : (max(3, shorter), max(3, longer))
        let small = WaveShape(columns: 3, lines: 3).count
        let steps =
            WaveShape(columns: shape.x, lines: shape.y).count + 2 * small
            + (hasAlpha ? WaveShape(columns: 5, lines: 5).count : 0)
        guard bytes.count == length + (steps + 1) / 2 else { return nil }
    }
}

/// The waves that are kept: a triangle, without the mean.
private struct WaveShape {
    let columns: Int
    let lines: Int

    /// The waves in their order in the hash.
    var waves: [(x: Int, y: Int)] {
        (0..<lines).flatMap { y in
            (0..<columns).filter { x in (x > 0 || y > 0) && x * lines < columns * (lines - y) }.map { ($0, y) }
        }
    }

    var count: Int { waves.count }

    /// The sum of the waves at every pixel.
    func draw(_ strengths: [Double], mean: Double, on size: PixelSize) -> [Double] {
        let across = Self.cosines(columns, over: size.width), down = Self.cosines(lines, over: size.height)
        var plane = [Double](repeating: mean, count: size.pixelCount)
        for (wave, strength) in zip(waves, strengths) {
            for y in 0..<size.height {
                let height = 2 * strength * down[wave.y][y]
                for x in 0..<size.width { plane[y * size.width + x] += height * across[wave.x][x] }
            }
        }
        return plane
    }

    static func cosines(_ count: Int, over length: Int) -> [[Double]] {
        (0..<count).map { wave in
            let step: Double = .pi / Double(length) * Double(wave)
            return (0..<length).map { (place: Int) -> Double in cos(step * (Double(place) + 0.5)) }
        }
    }
}

/// One component of an image as waves.
private struct WaveChannel {
    let mean: Double
    /// The strength of the strongest wave.
    let scale: Double
    /// The strength of each wave: 0 is −scale, 15 is scale.
    let steps: [UInt8]

    init(_ plane: [Double], width: Int, height: Int, _ columns: Int, _ lines: Int) {
        let across = WaveShape.cosines(columns, over: width), down = WaveShape.cosines(lines, over: height)
        func strength(_ wave: (x: Int, y: Int)) -> Double {
            var sum = 0.0
            for y in 0..<height {
                var row = 0.0
                for x in 0..<width { row += plane[y * width + x] * across[wave.x][x] }
                sum += row * down[wave.y][y]
            }
            return sum / Double(width * height)
        }
        let strengths = WaveShape(columns: columns, lines: lines).waves.map(strength)
        let scale = strengths.map { abs($0) }.max() ?? 0
        mean = strength((0, 0))
        self.scale = scale
        steps = strengths.map { UInt8(((scale > 0 ? 0.5 + 0.5 / scale * $0 : 0) * 15).rounded()) }
    }
}

extension Image {
    /// The blurred image that a ThumbHash stands for: something to look at while the real one is loaded.
    ///
    /// Its longer side has 32 pixels; its proportions are about those of the original. Nil when the bytes are no
    /// ThumbHash.
    ///
    /// - Parameter hash: The bytes of the hash.
    public convenience init?(thumbHash hash: Data) {
        guard let bitmap = (try? ThumbHash.decode(hash)) ?? nil else { return nil }
        self.init(cgImage: bitmap)
    }

    /// The ThumbHash of the displayed image.
    ///
    /// - Returns: nil for the empty image, and when there is not enough memory.
    package func thumbHash() -> Data? {
        guard let bitmap = (try? upright())?.cgImage else { return nil }
        return try? ThumbHash.encode(bitmap)
    }
}
