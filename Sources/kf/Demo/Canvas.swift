// Pixels to draw on, for the demo's pictures. Knows nothing of formats, and is no part of the library.

/// A rectangle of pixels: blue, green, red, alpha, eight bits each, premultiplied, rows from the top.
struct Canvas: Sendable {
    let width: Int
    let height: Int
    private(set) var bytes: [UInt8]

    /// A canvas whose pixels all start with one colour.
    init(width: Int, height: Int, color: Paint = .clear) {
        self.width = width
        self.height = height
        let pixel = color.bytes
        bytes = [UInt8](unsafeUninitializedCapacity: width * height * 4) { buffer, count in
            count = width * height * 4
            for place in 0..<count { buffer[place] = pixel[place & 3] }
        }
    }

    /// Pixels made by a function of place; x and y count from the top left corner.
    init(width: Int, height: Int, _ paint: (_ x: Int, _ y: Int) -> Paint) {
        self.init(width: width, height: height)
        for y in 0..<height {
            for x in 0..<width { self[x, y] = paint(x, y) }
        }
    }

    subscript(x: Int, y: Int) -> Paint {
        get { Paint(bytes: bytes[(y * width + x) * 4..<(y * width + x) * 4 + 4]) }
        set {
            let place = (y * width + x) * 4
            let pixel = newValue.bytes
            for channel in 0..<4 { bytes[place + channel] = pixel[channel] }
        }
    }

    /// Lays premultiplied pixels over these; what reaches over the edges is left out.
    ///
    /// `rows` is laid out as `bytes` is, with `stride` bytes from one row to the next.
    mutating func lay(_ rows: UnsafeRawBufferPointer, width: Int, height: Int, stride: Int, atX left: Int, y top: Int) {
        for y in max(0, -top)..<max(0, -top, min(height, self.height - top)) {
            for x in max(0, -left)..<max(0, -left, min(width, self.width - left)) {
                let from = y * stride + x * 4
                let to = ((top + y) * self.width + left + x) * 4
                let under = 255 - Int(rows[from + 3])
                for channel in 0..<4 {
                    let sum = Int(rows[from + channel]) + (Int(bytes[to + channel]) * under + 127) / 255
                    bytes[to + channel] = UInt8(min(255, sum))
                }
            }
        }
    }

    /// Fills a rectangle; what reaches over the edges is left out.
    mutating func fill(x: Range<Int>, y: Range<Int>, _ color: (_ x: Int, _ y: Int) -> Paint) {
        for row in y.clamped(to: 0..<height) {
            for column in x.clamped(to: 0..<width) { self[column, row] = color(column, row) }
        }
    }
}

/// A colour in floating point, channels from 0 to 1, not premultiplied.
struct Paint: Sendable {
    var red: Float
    var green: Float
    var blue: Float
    var alpha: Float = 1

    static let clear = Paint(red: 0, green: 0, blue: 0, alpha: 0)

    init(red: Float, green: Float, blue: Float, alpha: Float = 1) {
        self.red = red
        self.green = green
        self.blue = blue
        self.alpha = alpha
    }

    /// The colour of a number such as `0x2F6EA5`.
    init(_ hex: Int, alpha: Float = 1) {
        self.init(
            red: Float(hex >> 16 & 255) / 255,
            green: Float(hex >> 8 & 255) / 255,
            blue: Float(hex & 255) / 255,
            alpha: alpha
        )
    }

    fileprivate init(bytes: ArraySlice<UInt8>) {
        let start = bytes.startIndex
        let alpha = Float(bytes[start + 3])
        guard alpha > 0 else {
            self = .clear
            return
        }
        self.init(
            red: Float(bytes[start + 2]) / alpha,
            green: Float(bytes[start + 1]) / alpha,
            blue: Float(bytes[start]) / alpha,
            alpha: alpha / 255
        )
    }

    fileprivate var bytes: SIMD4<UInt8> {
        let channels = SIMD4(blue, green, red, 1).clamped(lowerBound: .zero, upperBound: .one)
        return SIMD4<UInt8>((channels * (min(max(alpha, 0), 1) * 255)).rounded(.toNearestOrEven))
    }

    /// The mixture with another colour; 0 is this one, 1 the other.
    func mixed(with other: Paint, _ part: Float) -> Paint {
        let part = min(max(part, 0), 1)
        return Paint(
            red: red + (other.red - red) * part,
            green: green + (other.green - green) * part,
            blue: blue + (other.blue - blue) * part,
            alpha: alpha + (other.alpha - alpha) * part
        )
    }

    /// Brighter, or darker with a negative amount.
    func lit(by amount: Float) -> Paint {
        Paint(red: red + amount, green: green + amount, blue: blue + amount, alpha: alpha)
    }

    /// This colour over another one, with the other one's opacity or more.
    func over(_ below: Paint) -> Paint {
        let rest = below.alpha * (1 - alpha)
        let sum = alpha + rest
        guard sum > 0 else { return .clear }
        return Paint(
            red: (red * alpha + below.red * rest) / sum,
            green: (green * alpha + below.green * rest) / sum,
            blue: (blue * alpha + below.blue * rest) / sum,
            alpha: sum
        )
    }
}
