// SSIMULACRA 2, a score for what is left of an image's quality as people judge it. For comparisons of images.

import Foundation

/// The score of SSIMULACRA 2.1 by Jon Sneyers, which was fitted to what people say of compressed photos.
///
/// 100 for equal images; no difference is seen from about 90 on, 70 is good, 50 is fair, and there is no lower end.
/// Both images are compared in six sizes, each half of the one before, in a colour space like the eye's: by the means
/// and variances of Gaussian windows, by edges that are new, and by edges that are gone.
enum PerceptualScore {
    /// Sizes below eight pixels a side say nothing.
    private static let (scaleCount, shortestSide) = (6, 8)

    /// The score of two bitmaps of one size; the lower one of those on dark and on light ground where pixels are
    /// see-through.
    ///
    /// - Throws: ``ImagingError/outOfMemory(bytes:)``.
    static func score(_ original: Bitmap, _ other: Bitmap) throws(ImagingError) -> Double {
        guard original.hasAlpha || other.hasAlpha else { return try score(original, other, ground: 0) }
        return min(try score(original, other, ground: 0.1), try score(original, other, ground: 0.9))
    }

    private static func score(_ original: Bitmap, _ other: Bitmap, ground: Double) throws(ImagingError) -> Double {
        var (one, two) = (try LightPlane(original, ground: ground), try LightPlane(other, ground: ground))
        var scales: [Differences] = []
        while scales.count < scaleCount, min(one.size.width, one.size.height) >= shortestSide {
            scales.append(try WindowedDifferences(one, two).mean())
            guard scales.count < scaleCount else { break }
            (one, two) = (try one.halved(), try two.halved())
        }
        return score(of: scales)
    }

    private static func score(of scales: [Differences]) -> Double {
        var (sum, place) = (0.0, 0)
        for channel in 0..<3 {
            for scale in scales {
                for norm in [scale.means, scale.peaks] {
                    for value in [norm.structure[channel], norm.newEdges[channel], norm.lostEdges[channel]] {
                        sum += weights[place] * abs(value)
                        place += 1
                    }
                }
            }
        }
        sum *= 0.9562382616834844
        sum = ((6.248496625763138e-05 * sum - 0.020884521182843837) * sum + 2.326765642916932) * sum
        return sum > 0 ? 100 - 10 * pow(sum, 0.6276336467831387) : 100
    }

    /// The published weights: for X, Y and B, each of the scales, means and peaks, of structure, new and lost edges.
    private static let weights: [Double] = [
        0, 0.0007376606707406586, 0, 0, 0.0007793481682867309, 0, 0, 0.0004371155730107379, 0, 1.1041726426657346,
        0.00066284834129271, 0.00015231632783718752, 0, 0.0016406437456599754, 0, 1.8422455520539298,
        11.441172603757666, 0, 0.0007989109436015163, 0.000176816438078653, 0, 1.8787594979546387, 10.94906990605142,
        0, 0.0007289346991508072, 0.9677937080626833, 0, 0.00014003424285435884, 0.9981766977854967,
        0.00031949755934435053, 0.0004550992113792063, 0, 0, 0.0013648766163243398, 0, 0, 0, 0, 0, 7.466890328078848,
        0, 17.445833984131262, 0.0006235601634041466, 0, 0, 6.683678146179332, 0.00037724407979611296,
        1.027889937768264, 225.20515300849274, 0, 0, 19.213238186143016, 0.0011401524586618361, 0.001237755635509985,
        176.39317598450694, 0, 0, 24.43300999870476, 0.28520802612117757, 0.0004485436923833408, 0, 0, 0,
        34.77906344483772, 44.835625328877896, 0, 0, 0, 0, 0, 0, 0, 0, 0.0008680556573291698, 0, 0, 0, 0, 0,
        0.0005313191874358747, 0, 0.00016533814161379112, 0, 0, 0, 0, 0, 0.0004179171803251336,
        0.0017290828234722833, 0, 0.0020827005846636437, 0, 0, 8.826982764996862, 23.19243343998926, 0,
        95.1080498811086, 0.9863978034400682, 0.9834382792465353, 0.0012286405048278493, 171.2667255897307,
        0.9807858872435379, 0, 0, 0, 0.0005130064588990679, 0, 0.00010854057858411537,
    ]
}

/// What differs in one size: means, and means that count large differences most.
private struct Differences {
    struct Norm {
        var structure = SIMD4<Double>.zero
        var newEdges = SIMD4<Double>.zero
        var lostEdges = SIMD4<Double>.zero
    }

    var means = Norm()
    var peaks = Norm()
}

/// An image as amounts of light: red, green and blue of each pixel.
private struct LightPlane {
    let size: PixelSize
    let pixels: Buffer<SIMD4<Float>>

    /// See-through pixels lie on grey light.
    init(_ bitmap: Bitmap, ground: Double) throws(ImagingError) {
        let light = WorkingSpace.linear.valuesOfBytes().map(Float.init)
        let ground = Float(ground)
        (size, pixels) = (bitmap.size, try Buffer(bitmap.size.pixelCount))
        let base = pixels.base
        bitmap.forEachRow { y, row in
            for x in 0..<bitmap.width {
                let (word, alpha) = (row[x], row[x] >> 24)
                let share = Float(alpha) / 255
                func component(_ shift: UInt32) -> Float {
                    let value = word >> shift & 0xFF
                    guard alpha < 255 else { return light[Int(value)] }
                    guard alpha > 0 else { return ground }
                    return light[Int(min(255, (value * 255 + alpha / 2) / alpha))] * share + ground * (1 - share)
                }
                base[y * bitmap.width + x] = SIMD4(component(16), component(8), component(0), 0)
            }
        }
    }

    private init(_ size: PixelSize) throws(ImagingError) { (self.size, pixels) = (size, try Buffer(size.pixelCount)) }

    /// In half of the size, rounded up, of means of four pixels.
    func halved() throws(ImagingError) -> LightPlane {
        let half = try LightPlane(PixelSize((size.width + 1) / 2, (size.height + 1) / 2))
        for y in 0..<half.size.height {
            for x in 0..<half.size.width {
                let (columns, rows) = (2 * x..<min(2 * x + 2, size.width), 2 * y..<min(2 * y + 2, size.height))
                var sum = SIMD4<Float>.zero
                for row in rows { for column in columns { sum += pixels.base[row * size.width + column] } }
                half.pixels.base[y * half.size.width + x] = sum / Float(columns.count * rows.count)
            }
        }
        return half
    }

    /// A row in the colour space XYB, moved so that all numbers are positive.
    func writeXYB(row: Int, to output: UnsafeMutablePointer<SIMD4<Float>>) {
        let bias: Float = 0.0037930732552754493
        let root = cbrtf(bias)
        for x in 0..<size.width {
            let light = pixels.base[row * size.width + x]
            func cone(_ red: Float, _ green: Float, _ blue: Float) -> Float {
                cbrtf(max(0, red * light.x + green * light.y + blue * light.z + bias)) - root
            }
            let long = cone(0.3, 0.622, 0.078), middle = cone(0.23, 0.692, 0.078)
            let short = cone(0.24342268924547819, 0.20476744424496821, 0.5518098665095536)
            let (difference, sum) = ((long - middle) / 2, (long + middle) / 2)
            output[x] = SIMD4(difference * 14 + 0.42, sum + 0.01, short - sum + 0.55, 0)
        }
    }
}

/// Means over a window: of two images, of their squares, and of their product.
private struct Moments {
    var one = SIMD4<Float>.zero
    var two = SIMD4<Float>.zero
    var oneSquared = SIMD4<Float>.zero
    var twoSquared = SIMD4<Float>.zero
    var product = SIMD4<Float>.zero

    @inline(__always)
    mutating func add(_ first: SIMD4<Float>, _ second: SIMD4<Float>, share: Float) {
        let (weighed, other) = (first * share, second * share)
        one += weighed
        two += other
        oneSquared += weighed * first
        twoSquared += other * second
        product += weighed * second
    }

    @inline(__always)
    mutating func add(_ moments: Moments, share: Float) {
        one += moments.one * share
        two += moments.two * share
        oneSquared += moments.oneSquared * share
        twoSquared += moments.twoSquared * share
        product += moments.product * share
    }
}

/// The differences of two images in windows of 11 × 11 pixels, row by row.
private struct WindowedDifferences {
    private static let radius = 5
    /// A Gaussian with a standard deviation of 1.5 pixels.
    private static let taps: [Float] = {
        let shares = (-radius...radius).map { (place: Int) -> Double in exp(-Double(place * place) / (2 * 1.5 * 1.5)) }
        let sum = shares.reduce(0, +)
        return shares.map { Float($0 / sum) }
    }()

    private typealias Row = UnsafeMutablePointer<SIMD4<Float>>
    private let one: LightPlane
    private let two: LightPlane
    /// The last eleven rows of both images.
    private let pixels: Buffer<SIMD4<Float>>
    /// The means across of the same rows.
    private let moments: Buffer<Moments>
    /// A row of each image with five mirrored pixels at both ends.
    private let edges: Buffer<SIMD4<Float>>
    private var width: Int { one.size.width }

    init(_ one: LightPlane, _ two: LightPlane) throws(ImagingError) {
        (self.one, self.two) = (one, two)
        pixels = try Buffer(one.size.width * 2 * Self.taps.count)
        moments = try Buffer(one.size.width * Self.taps.count)
        edges = try Buffer((one.size.width + 2 * Self.radius) * 2)
    }

    func mean() -> Differences {
        let height = one.size.height
        var sums = Differences()
        for y in 0..<height + Self.radius {
            if y < height { addRow(y) }
            if y >= Self.radius { addDifferences(of: y - Self.radius, height, to: &sums) }
        }
        let count = Double(one.size.pixelCount)
        func root(_ sum: SIMD4<Double>) -> SIMD4<Double> { (sum / count).squareRoot().squareRoot() }
        let (means, peaks) = (sums.means, sums.peaks)
        sums.means = .init(
            structure: means.structure / count,
            newEdges: means.newEdges / count,
            lostEdges: means.lostEdges / count
        )
        sums.peaks = .init(
            structure: root(peaks.structure),
            newEdges: root(peaks.newEdges),
            lostEdges: root(peaks.lostEdges)
        )
        return sums
    }

    private func pixels(_ y: Int) -> Row { pixels.base + y % Self.taps.count * 2 * width }
    private func moments(_ y: Int) -> UnsafeMutablePointer<Moments> { moments.base + y % Self.taps.count * width }

    private func addRow(_ y: Int) {
        let (rows, moments) = (pixels(y), moments(y))
        one.writeXYB(row: y, to: rows)
        two.writeXYB(row: y, to: rows + width)
        let length = width + 2 * Self.radius
        for image in 0..<2 {
            let edge = edges.base + image * length
            for x in -Self.radius..<width + Self.radius {
                let mirrored = x < 0 ? -1 - x : x < width ? x : 2 * width - 1 - x
                edge[x + Self.radius] = rows[image * width + min(max(mirrored, 0), width - 1)]
            }
        }
        let (first, second) = (edges.base, edges.base + length)
        Self.taps.withUnsafeBufferPointer { taps in
            for x in 0..<width {
                var sum = Moments()
                for tap in 0..<taps.count { sum.add(first[x + tap], second[x + tap], share: taps[tap]) }
                moments[x] = sum
            }
        }
    }

    /// Beyond the first and the last row there is nothing.
    private func addDifferences(of y: Int, _ height: Int, to sums: inout Differences) {
        let center = pixels(y)
        let within = max(0, y - Self.radius)...min(height - 1, y + Self.radius)
        for x in 0..<width {
            var sum = Moments()
            for row in within { sum.add(moments(row)[x], share: Self.taps[row - y + Self.radius]) }
            let (a, b) = (sum.one, sum.two)
            let means = 1 - (a - b) * (a - b)
            let structure = 2 * (sum.product - a * b) + 0.0009
            let variances = (sum.oneSquared - a * a) + (sum.twoSquared - b * b) + 0.0009
            let difference = Self.positive(1 - means * structure / variances)
            let (edgeOne, edgeTwo) = (1 + Self.amount(center[x] - a), 1 + Self.amount(center[width + x] - b))
            let edge = edgeTwo / edgeOne - 1
            let (new, lost) = (Self.positive(edge), Self.positive(-edge))
            Self.add(difference, to: &sums.means.structure, &sums.peaks.structure)
            Self.add(new, to: &sums.means.newEdges, &sums.peaks.newEdges)
            Self.add(lost, to: &sums.means.lostEdges, &sums.peaks.lostEdges)
        }
    }

    private static func positive(_ value: SIMD4<Float>) -> SIMD4<Float> { value.replacing(with: 0, where: value .< 0) }
    private static func amount(_ value: SIMD4<Float>) -> SIMD4<Float> {
        value.replacing(with: -value, where: value .< 0)
    }

    private static func add(_ value: SIMD4<Float>, to mean: inout SIMD4<Double>, _ peak: inout SIMD4<Double>) {
        let value = SIMD4<Double>(value)
        mean += value
        peak += value * value * (value * value)
    }
}
