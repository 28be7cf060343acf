// Randomness that is the same on every machine and in every run, for the landscapes and skies of `kf-demo`.

/// Smooth noise over the plane, made from a hash of whole coordinates.
package struct Noise: Sendable {
    let seed: UInt32

    package init(seed: UInt32) { self.seed = seed }

    /// A value from 0 to 1 for a whole place.
    package func hash(_ x: Int32, _ y: Int32) -> Float {
        var bits = seed &+ UInt32(bitPattern: x) &* 0x9E37_79B1 &+ UInt32(bitPattern: y) &* 0x85EB_CA77
        bits = (bits ^ bits >> 15) &* 0x2C1B_3C6D
        bits = (bits ^ bits >> 12) &* 0x297A_2D39
        bits ^= bits >> 15
        return Float(bits >> 8) / 16_777_216
    }

    /// A value from 0 to 1 that changes smoothly over a distance of one.
    func value(_ x: Float, _ y: Float) -> Float {
        let left = x.rounded(.down)
        let top = y.rounded(.down)
        let column = Int32(left)
        let row = Int32(top)
        let across = ease(x - left)
        let down = ease(y - top)
        let upper = mix(hash(column, row), hash(column &+ 1, row), across)
        let lower = mix(hash(column, row &+ 1), hash(column &+ 1, row &+ 1), across)
        return mix(upper, lower, down)
    }

    /// The sum of layers of noise, each twice as fine and half as strong; from 0 to 1.
    func layered(_ x: Float, _ y: Float, layers: Int) -> Float {
        var sum: Float = 0
        var strength: Float = 0.5
        var scale: Float = 1
        for _ in 0..<layers {
            sum += strength * value(x * scale, y * scale)
            strength /= 2
            scale *= 2
        }
        return sum / (1 - strength * 2)
    }

    private func ease(_ part: Float) -> Float { part * part * (3 - 2 * part) }
    private func mix(_ first: Float, _ second: Float, _ part: Float) -> Float { first + (second - first) * part }
}
