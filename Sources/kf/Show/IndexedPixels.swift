// Pictures of a few colours: which of them stands at each place. Knows no terminal.

/// Up to 256 colours, and which of them stands at each place.
struct IndexedPixels: Equatable, Sendable {
    /// Stands for a place where nothing is drawn.
    static let nothing = -1

    let width: Int
    let height: Int
    /// The colours as `0xFFRRGGBB`.
    private(set) var palette: [UInt32]
    /// From the top left, row by row: places in the palette, or ``nothing``.
    private(set) var indices: [Int]

    /// Keeps the colours if there are few enough; otherwise finds some that serve, and spreads the difference.
    init(_ pixels: ShownPixels, limit: Int = 256) {
        width = pixels.width
        height = pixels.height
        (palette, indices) = ([], [])
        if !keepColors(of: pixels, limit: limit) {
            palette = MedianCut(pixels).colors(limit)
            diffuse(pixels)
        }
    }

    private mutating func keepColors(of pixels: ShownPixels, limit: Int) -> Bool {
        var places: [UInt32: Int] = [:]
        var last = (color: ShownPixels.nothing, index: Self.nothing)
        for color in pixels.colors {
            if color != last.color {
                guard color != ShownPixels.nothing else {
                    last = (color, Self.nothing)
                    indices.append(last.index)
                    continue
                }
                let index = places[color] ?? palette.count
                if index == palette.count {
                    guard palette.count < limit else {
                        (palette, indices) = ([], [])
                        return false
                    }
                    places[color] = index
                    palette.append(color)
                }
                last = (color, index)
            }
            indices.append(last.index)
        }
        return true
    }

    /// Floyd and Steinberg's error diffusion.
    private mutating func diffuse(_ pixels: ShownPixels) {
        var nearest = NearestColor(palette)
        indices.reserveCapacity(pixels.colors.count)
        // Errors of this row and the next one in sixteenths, with a place more at both ends.
        var errors = [SIMD3<Int32>](repeating: .zero, count: width + 2)
        for y in 0..<height {
            var below = [SIMD3<Int32>](repeating: .zero, count: width + 2)
            for x in 0..<width {
                let color = pixels.colors[y * width + x]
                guard color != ShownPixels.nothing else {
                    indices.append(Self.nothing)
                    continue
                }
                let wanted = (MedianCut.channels(color) &+ (errors[x + 1] &+ 8) / 16)
                    .clamped(lowerBound: .zero, upperBound: SIMD3(repeating: 255))
                let index = nearest.index(of: wanted)
                indices.append(index)
                let error = wanted &- MedianCut.channels(palette[index])
                errors[x + 2] &+= error &* 7
                below[x] &+= error &* 3
                below[x + 1] &+= error &* 5
                below[x + 2] &+= error
            }
            errors = below
        }
    }
}

/// Finds the nearest colour of a palette, and remembers what it found, by five bits a channel.
private struct NearestColor {
    private let colors: [SIMD3<Int32>]
    private var known = [Int16](repeating: -1, count: MedianCut.places)

    init(_ palette: [UInt32]) { colors = palette.map(MedianCut.channels) }

    mutating func index(of color: SIMD3<Int32>) -> Int {
        let place = MedianCut.place(of: color)
        if known[place] >= 0 { return Int(known[place]) }
        var best = (index: 0, distance: Int32.max)
        for (index, candidate) in colors.enumerated() {
            let away = candidate &- color
            // Eyes tell shades of green apart best.
            let distance = (away &* away &* SIMD3(3, 6, 1)).wrappedSum()
            if distance < best.distance { best = (index, distance) }
        }
        known[place] = Int16(best.index)
        return best.index
    }
}
