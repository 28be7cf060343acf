// Photographs of Debian's wallpapers in the sizes that rows need. For the rows of linear light and of equal scores.

import Foundation
import Kingfisher

/// Parts of photographs, three pixels wide for two high.
enum Photographs {
    private static let files: [String] = {
        let mate = ["Garden", "LadyBird", "TwoWings", "Wood", "YellowFlower"]
        let plasma = [
            "BytheWater", "ColdRipple", "ColorfulCups", "EveningGlow", "FallenLeaf", "Kite", "OneStandsOut", "Path",
        ]
        return mate.map { "/usr/share/backgrounds/mate/nature/\($0).jpg" }
            + plasma.map { "/usr/share/wallpapers/\($0)/contents/images/2560x1600.jpg" }
    }()

    /// The width that every photograph has at least.
    private static let leastWidth = 2560

    /// Images of so many pixels: a part of each photograph, or, where these are not as wide, parts of four.
    static func images(width: Int) throws -> [Image] {
        let photos = try files.map(bitmap)
        let side = width <= leastWidth ? 1 : 2
        return stride(from: 0, to: photos.count - side * side + 1, by: side * side).map { first in
            Image(cgImage: composed(Array(photos[first..<first + side * side]), side: side, width: width))
        }
    }

    private static func bitmap(_ path: String) throws -> Bitmap {
        guard let data = try? Data(contentsOf: URL(fileURLWithPath: path)), let bitmap = Image(data: data)?.cgImage
        else {
            throw BenchmarkError("\(path) is missing (apt: mate-backgrounds, plasma-workspace-wallpapers)")
        }
        return bitmap
    }

    /// The middle of each bitmap, `side` of them beside each other and as many below.
    private static func composed(_ bitmaps: [Bitmap], side: Int, width: Int) -> Bitmap {
        let part = (width: width / side, height: width * 2 / 3 / side)
        return Bitmap(width: width, height: part.height * side, hasAlpha: false) { memory, bytesPerRow in
            for (index, bitmap) in bitmaps.enumerated() {
                let (column, row) = (index % side * part.width, index / side * part.height)
                let (left, top) = ((bitmap.width - part.width) / 2, (bitmap.height - part.height) / 2)
                bitmap.withUnsafeBytes { source in
                    for y in 0..<part.height {
                        let from = (top + y) * bitmap.bytesPerRow + left * 4
                        let place = (row + y) * bytesPerRow + column * 4
                        memory[place..<place + part.width * 4]
                            .copyBytes(from: source[from..<from + part.width * 4])
                    }
                }
            }
        }
    }
}
