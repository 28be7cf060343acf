// A kingfisher on a transparent ground: an image with an alpha channel.

import Foundation

/// A small bird made of soft shapes on a transparent ground.
package struct Bird: Sendable {
    /// The turn of the plumage.
    private let shade: Float

    /// A bird.
    ///
    /// - Parameter shade: Turns the plumage a little; from 0 to 1.
    package init(shade: Float) { self.shade = shade }

    /// The bird in the middle of an image: the colour at each pixel.
    package func painting(width: Int, height: Int) -> (_ x: Int, _ y: Int) -> Paint {
        let side = Float(min(width, height))
        return { x, y in
            let place = SIMD2(Float(x) - Float(width) / 2, Float(y) - Float(height) / 2) / side
            return color(at: place, pixel: 1 / side)
        }
    }

    /// The colour at a place; the bird reaches from -0.5 to 0.5.
    private func color(at place: SIMD2<Float>, pixel: Float) -> Paint {
        let shadow = Paint(0x000000) * 0.28 * soft(ellipse(place - SIMD2(0, 0.40), 0.30, 0.045), 0.05)
        return shapes(at: place).reduce(shadow) { below, shape in
            (shape.color * soft(shape.distance, pixel)).over(below)
        }
    }

    private struct Shape {
        let distance: Float
        let color: Paint
    }

    private func shapes(at place: SIMD2<Float>) -> [Shape] {
        let blue = Paint(0x1386C4).mixed(with: Paint(0x10A59A), shade)
        let dark = blue.mixed(with: Paint(0x0A2E55), 0.6)
        let light = 0.25 * (0.2 - place.y)
        let head = place - SIMD2(0.06, -0.18)
        return [
            Shape(distance: wedge(place, from: SIMD2(-0.16, 0.16), to: SIMD2(-0.34, 0.40), 0.06, 0.02), color: dark),
            Shape(
                distance: wedge(place, from: SIMD2(0.14, -0.17), to: SIMD2(0.47, -0.13), 0.045, 0.004),
                color: Paint(0x2B2B30)
            ),
            Shape(distance: ellipse(turned(place - SIMD2(-0.03, 0.08), 0.5), 0.19, 0.27), color: blue.lit(by: light)),
            Shape(
                distance: ellipse(turned(place - SIMD2(0.06, 0.11), 0.35), 0.12, 0.21),
                color: Paint(0xE98A2B).lit(by: light)
            ),
            Shape(distance: ellipse(head, 0.155, 0.14), color: blue.lit(by: light)),
            Shape(distance: ellipse(place - SIMD2(0.11, -0.10), 0.07, 0.05), color: Paint(0xF7F3E8)),
            Shape(
                distance: ellipse(turned(place - SIMD2(-0.11, 0.08), 0.55), 0.10, 0.22),
                color: dark.lit(by: 0.06 * sin(place.y * 90) + light)
            ),
            Shape(distance: ellipse(place - SIMD2(0.115, -0.185), 0.028, 0.028), color: Paint(0x14141A)),
            Shape(distance: ellipse(place - SIMD2(0.124, -0.194), 0.009, 0.009), color: Paint(0xFFFFFF)),
        ]
    }

    private func soft(_ distance: Float, _ width: Float) -> Float { min(1, max(0, 0.5 - distance / width)) }

    private func turned(_ place: SIMD2<Float>, _ angle: Float) -> SIMD2<Float> {
        SIMD2(place.x * cos(angle) + place.y * sin(angle), place.y * cos(angle) - place.x * sin(angle))
    }

    /// The approximate distance of a place from an ellipse around the middle.
    private func ellipse(_ place: SIMD2<Float>, _ across: Float, _ down: Float) -> Float {
        let part = place / SIMD2(across, down)
        return ((part * part).sum().squareRoot() - 1) * min(across, down)
    }

    /// The distance of a place from a line that gets thinner.
    private func wedge(
        _ place: SIMD2<Float>,
        from start: SIMD2<Float>,
        to end: SIMD2<Float>,
        _ first: Float,
        _ last: Float
    ) -> Float {
        let along = end - start
        let part = min(1, max(0, ((place - start) * along).sum() / (along * along).sum()))
        let away = place - start - along * part
        return (away * away).sum().squareRoot() - (first + (last - first) * part)
    }
}
