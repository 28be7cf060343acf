// Images as planes of samples, their conversion in C, and its formula in double precision, for the tests of AVIF.

import CKFCodecs
import Testing

/// The resolution of chroma relative to luma.
enum ChromaLayout: CaseIterable {
    case whole, halvedColumns, halved, none
}

/// The kinds of transparency, and the way they are applied.
enum AlphaKind: CaseIterable {
    case opaque, straight, multiplied, divided, limited

    /// Whether the colours of the planes are premultiplied.
    var isPremultiplied: Bool { self == .divided || self == .limited }
    /// Whether the colours of the pixels are to be premultiplied.
    var premultiplies: Bool { self == .multiplied || self == .limited }
}

/// The format of samples.
struct SampleFormat {
    var layout = ChromaLayout.whole
    var depth = 8
    var alphaDepth = 8
    var isFullRange = true
    /// The weights of red and blue.
    var weights = SIMD2(0.299, 0.114)
    var alpha = AlphaKind.opaque
}

/// Weights of BT.601, BT.709, BT.2020, FCC and SMPTE 240.
let lumaWeights: [SIMD2<Double>] = [
    [0.299, 0.114], [0.2126, 0.0722], [0.2627, 0.0593], [0.3, 0.11], [0.212, 0.087],
]

/// An image whose samples come from a function of plane, column and row; luma is plane 0, alpha is 3.
struct PlanarImage {
    let width: Int, height: Int
    let kind: SampleFormat
    /// The offsets of planes in memory; nil for planes that the image does not have.
    private let offsets: [Int?]
    private let strides: [Int]
    private var memory: [UInt8]

    /// Makes an image; `padding` is the number of meaningless bytes between rows, which are set to `filler`.
    init(
        _ width: Int,
        _ height: Int,
        _ kind: SampleFormat,
        padding: Int = 0,
        filler: UInt8 = 0,
        sample: (_ plane: Int, _ x: Int, _ y: Int) -> Int
    ) {
        (self.width, self.height, self.kind) = (width, height, kind)
        var (offsets, strides, memory) = ([Int?](), [Int](), [UInt8]())
        for plane in 0..<4 {
            let isChroma = plane == 1 || plane == 2
            let bytes = (plane == 3 ? kind.alphaDepth : kind.depth) > 8 ? 2 : 1
            let columns = isChroma && kind.layout.halvesColumns ? (width + 1) / 2 : width
            let rows = isChroma && kind.layout.halvesRows ? (height + 1) / 2 : height
            let exists = isChroma ? kind.layout != .none : plane == 0 || kind.alpha != .opaque
            strides.append(columns * bytes + padding)
            offsets.append(exists ? memory.count : nil)
            guard exists else { continue }
            for y in 0..<rows {
                for x in 0..<columns {
                    let value = sample(plane, x, y)
                    memory.append(UInt8(truncatingIfNeeded: value))
                    if bytes == 2 { memory.append(UInt8(truncatingIfNeeded: value >> 8)) }
                }
                memory += repeatElement(filler, count: padding)
            }
            // Planes of words begin at even addresses.
            if memory.count % 2 == 1 { memory.append(filler) }
        }
        (self.offsets, self.strides, self.memory) = (offsets, strides, memory)
    }

    /// The image as rows of BGRA with `padding` bytes of 0xA5 between them; nil when it cannot be converted.
    func converted(_ loops: kf_yuv_loops = kf_yuv_best_loops(), padding: Int = 0) -> [UInt8]? {
        let stride = width * 4 + padding
        var rows = [UInt8](repeating: 0xA5, count: stride * height)
        let status = memory.withUnsafeBytes { bytes in
            // SAFETY: planes lie within the memory, which stays where it is while the call lasts.
            let planes = offsets.map { offset in
                offset.flatMap { bytes.bindMemory(to: UInt8.self).baseAddress?.advanced(by: $0) }
            }
            var image = kf_yuv()
            (image.width, image.height) = (UInt32(width), UInt32(height))
            (image.depth, image.alpha_depth) = (UInt32(kind.depth), UInt32(kind.alphaDepth))
            image.planes = (planes[0], planes[1], planes[2], planes[3])
            image.strides = (strides[0], strides[1], strides[2], strides[3])
            image.halves_columns = kind.layout.halvesColumns
            image.halves_rows = kind.layout.halvesRows
            image.is_full_range = kind.isFullRange
            (image.kr, image.kb) = (kind.weights[0], kind.weights[1])
            image.is_premultiplied = kind.alpha.isPremultiplied
            return kf_yuv_to_bgra(&image, loops, kind.alpha.premultiplies, &rows, stride)
        }
        return status == KF_OK ? rows : nil
    }
}

// MARK: - The formula

extension ChromaLayout {
    var halvesColumns: Bool { self == .halvedColumns || self == .halved }
    var halvesRows: Bool { self == .halved }
}

extension PlanarImage {
    private func sample(_ plane: Int, _ x: Int, _ y: Int) -> Double {
        let depth = plane == 3 ? kind.alphaDepth : kind.depth
        guard let offset = offsets[plane] else { return plane == 3 ? 255 : Double(1 << (depth - 1)) }
        let row = offset + y * strides[plane]
        if depth == 8 { return Double(memory[row + x]) }
        let word = Int(memory[row + 2 * x]) | Int(memory[row + 2 * x + 1]) << 8
        return Double(min(word, 1 << depth - 1))
    }

    /// The place of chroma that is next to a place of luma, and the one that is next but one.
    private func neighbours(_ place: Int, _ count: Int, isHalved: Bool) -> (Int, Int) {
        guard isHalved else { return (place, place) }
        let other = place / 2 + (place % 2 == 0 ? -1 : 1)
        return (place / 2, min(max(other, 0), (count - 1) / 2))
    }

    private func chroma(_ plane: Int, _ x: Int, _ y: Int) -> Double {
        let (left, right) = neighbours(x, width, isHalved: kind.layout.halvesColumns)
        let (near, far) = neighbours(y, height, isHalved: kind.layout.halvesRows)
        let upper = 3 * sample(plane, left, near) + sample(plane, right, near)
        let lower = 3 * sample(plane, left, far) + sample(plane, right, far)
        return (3 * upper + lower) / 16
    }

    /// Blue, green, red and alpha of a pixel, rounded half up.
    func exact(_ x: Int, _ y: Int) -> SIMD4<Double> {
        let one = Double(1 << (kind.depth - 8)), largest = 256 * one - 1
        let black = kind.isFullRange ? 0 : 16 * one
        let (light, difference) = kind.isFullRange ? (largest, largest) : (219 * one, 224 * one)
        let luma = (sample(0, x, y) - black) / light
        let cb = (chroma(1, x, y) - 128 * one) / difference, cr = (chroma(2, x, y) - 128 * one) / difference
        let (kr, kb) = (kind.weights[0], kind.weights[1])
        let (red, blue) = (luma + 2 * (1 - kr) * cr, luma + 2 * (1 - kb) * cb)
        var colors = SIMD3(blue, (luma - kr * red - kb * blue) / (1 - kr - kb), red)
        colors.clamp(lowerBound: .zero, upperBound: .one)
        let alpha = sample(3, x, y) / Double(1 << kind.alphaDepth - 1)
        switch kind.alpha {
        case .opaque: return SIMD4((colors * 255 + 0.5).rounded(.down), 255)
        case .straight: break
        case .multiplied: colors *= alpha
        case .divided: colors = alpha > 0 ? (colors / alpha).clamped(lowerBound: .zero, upperBound: .one) : .zero
        case .limited: colors.clamp(lowerBound: .zero, upperBound: SIMD3(repeating: alpha))
        }
        return (SIMD4(colors, alpha) * 255 + 0.5).rounded(.down)
    }
}
