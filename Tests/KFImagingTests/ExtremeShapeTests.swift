// Images of one column or one row, and very tall ones, through every operation.

import Foundation
import Testing

@testable import KFImaging

@Suite struct ExtremeShapeTests {
    private static let shapes = [
        PixelSize(1, 30_000), PixelSize(30_000, 1), PixelSize(3, 20_011), PixelSize(20_011, 2),
    ]

    private typealias Operation = (name: String, work: (Image) -> Image?)

    private func box(_ mode: ThumbnailMode, _ anchor: ThumbnailAnchor = .center) -> Thumbnail {
        Thumbnail(width: 300, height: 300, mode: mode, anchor: anchor, enlarges: false)
    }

    /// Those that keep a single colour, or cover it with itself.
    private func operations(_ color: Color) -> [Operation] {
        [
            ("thumbnail, fit", { $0.thumbnail(box(.fit), scale: 1) }),
            ("thumbnail, fill", { $0.thumbnail(box(.fill), scale: 1) }),
            ("thumbnail, smart", { $0.thumbnail(box(.fill, .smart), scale: 1) }),
            ("thumbnail, exact", { $0.thumbnail(box(.exact), scale: 1) }),
            ("resized", { $0.resized(toPoints: CGSize(width: 40, height: 50)) }),
            ("resized to one pixel", { $0.resized(toPoints: CGSize(width: 1, height: 1)) }),
            ("downsampled", { $0.downsampled(toMaxPixelSize: 100, scale: 1) }),
            ("cropped", { $0.cropped(toPoints: CGSize(width: 100, height: 100), anchor: .zero) }),
            ("cropped smartly", { $0.smartCropped(toPoints: CGSize(width: 100, height: 100)) }),
            ("trimmed", { $0.trimmed(tolerance: 0) }),
            ("turned", { $0.rotated(by: .pi / 2, fits: true) }),
            ("flipped", { $0.flipped(horizontally: true, vertically: true) }),
            ("blurred", { $0.blurred(radius: 5) }),
            ("sharpened", { $0.sharpened(sigma: 1, amount: 1) }),
            ("blended", { $0.blended(.multiply, alpha: 1, background: .white) }),
            ("overlaid", { $0.overlaid(color, fraction: 0.5) }),
            ("overlaid with an image", { $0.overlaid(with: $0, anchor: .zero, opacity: 0.5) }),
            ("bordered", { $0.bordered(Border(color: color, lineWidth: 1)) }),
            ("placed", { $0.placed(onPoints: $0.size, mode: .aspectFit) }),
            ("upright", { $0.cgImage.map { Image(cgImage: $0, scale: 1, orientation: .left).normalized } }),
        ]
    }

    @Test("Every operation keeps a single colour", arguments: shapes)
    func singleColor(size: PixelSize) throws {
        let image = Image(cgImage: try Bitmap(size, hasAlpha: false) { $0.fill(with: 0xFF33_66CC) })
        let color = Color(red: 0.2, green: 0.4, blue: 0.8)
        for (name, work) in operations(color) {
            let result = try #require(work(image)?.cgImage, "\(name)")
            let isKept = result.words.allSatisfy { $0 == 0xFF33_66CC }
            #expect(isKept, "\(name): \(result.size)")
        }
    }

    @Test("Rounded corners, circles and slight turns give an image of the right size", arguments: shapes)
    func outlines(size: PixelSize) throws {
        let image = Image(cgImage: try Bitmap(size, hasAlpha: false) { $0.fill(with: 0xFF33_66CC) })
        let rounded = try #require(image.roundingCorners(radius: .point(0.25)))
        let turned = try #require(image.rotated(by: 0.001, fits: false))
        #expect(rounded.cgImage?.size == size && turned.cgImage?.size == size)
        let side = min(size.width, size.height)
        #expect(try #require(image.circled(border: nil)).cgImage?.size == PixelSize(side, side))
        #expect(rounded.cgImage?.words[size.width / 2 + size.height / 2 * size.width] ?? 0 > 0xFE00_0000)
    }
}
