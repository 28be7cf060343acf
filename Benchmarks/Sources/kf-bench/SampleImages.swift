// Generated images that compress like photographs, for all benchmarks.

import Foundation
import Kingfisher

/// Photo-like JPEGs: soft shapes, some detail at every size, and grain.
enum SampleImages {
    /// The bytes of a JPEG at quality 85, with halved chroma as cameras and web sites write it.
    static func jpeg(width: Int, height: Int) throws -> Data {
        let image = Image(cgImage: photo(width: width, height: height))
        guard let data = image.jpegData(compressionQuality: 0.85) else {
            throw BenchmarkError("no JPEG could be encoded")
        }
        return data
    }

    /// A JPEG of which the same part is seen again and again.
    static func hugeJPEG(width: Int = 8192, height: Int = 6144) throws -> Data {
        let part = photo(width: 2048, height: 1536)
        let bitmap = part.withUnsafeBytes { source in
            Bitmap(width: width, height: height, hasAlpha: false) { memory, bytesPerRow in
                for y in 0..<height {
                    for x in stride(from: 0, to: width, by: part.width) {
                        let row = UnsafeRawBufferPointer(rebasing: source[(y % part.height * part.bytesPerRow)...])
                        let place = y * bytesPerRow + x * 4
                        let count = min(part.width, width - x) * 4
                        memory[place..<place + count].copyBytes(from: row.prefix(count))
                    }
                }
            }
        }
        guard let data = Image(cgImage: bitmap).jpegData(compressionQuality: 0.85) else {
            throw BenchmarkError("no JPEG could be encoded")
        }
        return data
    }

    /// Pixels that look like those of a photograph.
    static func photo(width: Int, height: Int) -> Bitmap {
        Bitmap(width: width, height: height, hasAlpha: false) { memory, bytesPerRow in
            // Lattices of 4, 8, 16 … cells over the longer side, down to a few pixels a cell.
            let side = max(width, height)
            let levels = (2...).prefix { side >> $0 >= 3 }.map { Octave(cells: 1 << $0, side: side) }
            for y in 0..<height {
                let row = memory.baseAddress.map { $0 + y * bytesPerRow }
                for x in 0..<width {
                    row?.storeBytes(of: pixel(x, y, levels), toByteOffset: x * 4, as: UInt32.self)
                }
            }
        }
    }

    private static func pixel(_ x: Int, _ y: Int, _ levels: [Octave]) -> UInt32 {
        var light: Float = 0
        var weight: Float = 0.5
        for level in levels {
            light += weight * level.value(x, y)
            weight *= 0.62
        }
        let warmth = levels.first?.value(y, x) ?? 0
        let grain = (hash(UInt32(truncatingIfNeeded: x), UInt32(truncatingIfNeeded: y), 99) - 0.5) * 7
        func byte(_ value: Float) -> UInt32 { UInt32(min(max(value + grain, 0), 255)) }
        let base = light * 200
        return byte(base * (1.2 - warmth * 0.6)) | byte(base) << 8 | byte(base * (0.7 + warmth * 0.6)) << 16 | 0xFF
            << 24
    }

    /// Smooth noise on a lattice.
    private struct Octave {
        let cells: Int
        let scale: Float

        init(cells: Int, side: Int) {
            self.cells = cells
            scale = Float(cells) / Float(side)
        }

        func value(_ x: Int, _ y: Int) -> Float {
            let (column, row) = (Float(x) * scale, Float(y) * scale)
            let (left, top) = (UInt32(column), UInt32(row))
            let (right, down) = (smooth(column - Float(left)), smooth(row - Float(top)))
            let seed = UInt32(cells)
            let upper = mix(hash(left, top, seed), hash(left + 1, top, seed), right)
            let lower = mix(hash(left, top + 1, seed), hash(left + 1, top + 1, seed), right)
            return mix(upper, lower, down)
        }

        private func smooth(_ t: Float) -> Float { t * t * (3 - 2 * t) }
        private func mix(_ a: Float, _ b: Float, _ t: Float) -> Float { a + (b - a) * t }
    }

    /// A number in 0…1 that looks random and is always the same.
    private static func hash(_ x: UInt32, _ y: UInt32, _ seed: UInt32) -> Float {
        var bits = x &* 0x9E37_79B1 ^ y &* 0x85EB_CA77 ^ seed &* 0xC2B2_AE3D
        bits = (bits ^ bits >> 15) &* 0x2C1B_3C6D
        bits = (bits ^ bits >> 12) &* 0x297A_2D39
        return Float((bits ^ bits >> 15) >> 8) / 16_777_216
    }
}
