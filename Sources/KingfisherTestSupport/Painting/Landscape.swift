// Photo-like landscapes: sky, clouds, sun, hills in haze, water.

import Foundation

/// A landscape made from a number, 0 or more: the same number draws the same image at any size.
package struct Landscape: Sendable {
    private let mood: Mood
    private let noise: Noise
    private let sun: SIMD2<Float>
    private let horizon: Float
    private let hasWater: Bool

    /// The colours of a time of day.
    private struct Mood: Sendable {
        let zenith, skyline, sun, far, near: Paint

        init(_ zenith: Int, _ skyline: Int, _ sun: Int, _ far: Int, _ near: Int) {
            self.zenith = Paint(zenith)
            self.skyline = Paint(skyline)
            self.sun = Paint(sun)
            self.far = Paint(far)
            self.near = Paint(near)
        }

        static let all = [
            Mood(0x2F6EA5, 0xCFE3EE, 0xFFFBE8, 0x8FB0BF, 0x2E5A2C),
            Mood(0x2B3A67, 0xF7A76C, 0xFFE3A3, 0x9A6A7A, 0x2A2333),
            Mood(0x0C1430, 0x33507A, 0xF2F4FF, 0x2B4263, 0x0A1220),
            Mood(0x6AA7C8, 0xFBEBD0, 0xFFF4D0, 0xC79A6B, 0x8A3F1D),
            Mood(0x8FA3AD, 0xE4E8E6, 0xFFFFFF, 0xAEBBBE, 0x42524A),
            Mood(0x3D2C5E, 0xF28FA0, 0xFFD0C0, 0x8C5C86, 0x1F1A33),
        ]
    }

    package init(seed: Int) {
        noise = Noise(seed: UInt32(truncatingIfNeeded: seed &* 7919 &+ 17))
        mood = Mood.all[seed % Mood.all.count]
        sun = SIMD2(0.15 + 0.7 * noise.hash(1, 0), 0.16 + 0.25 * noise.hash(2, 0))
        horizon = 0.52 + 0.12 * noise.hash(3, 0)
        hasWater = noise.hash(4, 0) > 0.45
    }

    /// The image at a size in pixels: the colour at each of them.
    package func painting(width: Int, height: Int) -> (_ x: Int, _ y: Int) -> Paint {
        let scale = 1 / Float(max(width, height))
        let tall = Float(height) * scale
        let ridges = (0..<4).map { layer in
            (0..<width).map { ridge(layer, x: Float($0) * scale) * tall }
        }
        let shore = hasWater ? (horizon + 0.22) * tall : .infinity
        return { column, row in
            let x = Float(column) * scale
            let y = Float(row) * scale
            var color = y > shore ? water(column, x, y, shore, tall, ridges) : land(column, x, y, tall, ridges)
            // Grain like a sensor's, and the corners of a lens.
            color = color.lit(by: (noise.hash(Int32(column), Int32(row)) - 0.5) * 0.03)
            let away = SIMD2(x - Float(width) * scale / 2, y - tall / 2)
            return color.lit(by: -0.12 * (away * away).sum())
        }
    }

    /// The height of a row of hills at a position, from 0 at the top to 1 at the bottom.
    private func ridge(_ layer: Int, x: Float) -> Float {
        let offset = Float(layer) * 31.7
        let roughness = [2.2, 2.8, 3.5, 4.5][layer] as Float
        let swing = [0.34, 0.24, 0.20, 0.22][layer] as Float
        let base = horizon + [0.0, 0.07, 0.16, 0.33][layer] as Float
        return base - swing * (noise.layered(x * roughness + offset, offset, layers: 6) - 0.4)
    }

    private func land(_ column: Int, _ x: Float, _ y: Float, _ tall: Float, _ ridges: [[Float]]) -> Paint {
        // The nearest hill that is this high hides the others.
        let layers = hasWater ? 0..<3 : 0..<4
        for layer in layers.reversed() where y >= ridges[layer][column] {
            return hill(layer, depth: (y - ridges[layer][column]) / tall, x, y)
        }
        return sky(x, y, tall)
    }

    private func hill(_ layer: Int, depth: Float, _ x: Float, _ y: Float) -> Paint {
        let nearness = Float(layer) / 3
        let haze = mood.far.mixed(with: mood.skyline, 0.35 - 0.1 * nearness)
        let ground = haze.mixed(with: mood.near, 0.12 + 0.88 * nearness)
        let grain = 40 + 60 * nearness
        let texture = noise.layered(x * grain, y * grain * 1.6, layers: 4) - 0.5
        let light = (0.10 + 0.14 * nearness) * texture + 0.10 * max(0, 0.25 - depth)
        return ground.lit(by: light).mixed(with: mood.skyline, 0.25 * (1 - nearness) * min(1, depth * 4))
    }

    private func sky(_ x: Float, _ y: Float, _ tall: Float) -> Paint {
        let height = min(1, y / tall / (horizon + 0.05))
        var color = mood.zenith.mixed(with: mood.skyline, height * height * (1.6 - 0.6 * height))
        let away = SIMD2(x - sun.x, y - sun.y * tall)
        let distance = (away * away).sum().squareRoot()
        color = color.mixed(with: mood.sun, 0.75 * exp(-distance * 7))
        color = color.mixed(with: mood.sun, 1 - min(1, max(0, (distance - 0.035) / 0.004)))
        let cloud = noise.layered(x * 4 + 90, y * 11 + 90, layers: 5) - 0.52
        return color.mixed(with: Paint(0xFFFFFF).mixed(with: mood.skyline, 0.4), min(0.75, max(0, cloud * 4)))
    }

    private func water(
        _ column: Int,
        _ x: Float,
        _ y: Float,
        _ shore: Float,
        _ tall: Float,
        _ ridges: [[Float]]
    ) -> Paint {
        // The reflection of the shore: upside down, moved by waves that grow towards the viewer.
        let depth = (y - shore) / tall
        let wave = noise.layered(x * 14, y * 130 / (0.4 + depth * 3), layers: 3) - 0.5
        let moved = min(max(column + Int(wave * depth * 260), 0), ridges[0].count - 1)
        let mirrored = max(0, shore - (y - shore) * 1.35 + wave * 0.02)
        let image = land(moved, x, mirrored, tall, ridges)
        return image.mixed(with: mood.zenith, 0.22 + 0.25 * depth).lit(by: wave * 0.10)
    }
}
