// Fit, fill, anchor, canvas and thumbnail sizes; colours and identifier texts.

import Foundation
import KFImaging
import Testing

@Suite struct GeometryTests {
    @Test(
        "Fitting stays within the target",
        arguments: [
            (CGSize(width: 64, height: 64), CGSize(width: 100, height: 50), CGSize(width: 50, height: 50)),
            (CGSize(width: 100, height: 200), CGSize(width: 100, height: 100), CGSize(width: 50, height: 100)),
            (CGSize(width: 300, height: 200), CGSize(width: 100, height: 100), CGSize(width: 100, height: 67)),
            (CGSize(width: 3, height: 7), CGSize(width: 5, height: 5), CGSize(width: 2, height: 5)),
            (CGSize(width: 1000, height: 1), CGSize(width: 10, height: 10), CGSize(width: 10, height: 1)),
        ]
    )
    func aspectFit(size: CGSize, target: CGSize, expected: CGSize) {
        #expect(size.resized(to: target, for: .aspectFit) == expected)
    }

    @Test(
        "Filling covers the target",
        arguments: [
            (CGSize(width: 64, height: 64), CGSize(width: 100, height: 50), CGSize(width: 100, height: 100)),
            (CGSize(width: 100, height: 200), CGSize(width: 100, height: 100), CGSize(width: 100, height: 200)),
            (CGSize(width: 300, height: 200), CGSize(width: 100, height: 100), CGSize(width: 150, height: 100)),
            (CGSize(width: 3, height: 7), CGSize(width: 5, height: 5), CGSize(width: 5, height: 12)),
        ]
    )
    func aspectFill(size: CGSize, target: CGSize, expected: CGSize) {
        #expect(size.resized(to: target, for: .aspectFill) == expected)
    }

    @Test("The content mode none stretches to the target size") func modeNone() {
        let target = CGSize(width: 7, height: 90)
        #expect(CGSize(width: 30, height: 20).resized(to: target, for: .none) == target)
    }

    @Test("Resizing from or to an empty size gives a finite size of at least 1 × 1") func emptySizes() {
        let empty = CGSize(width: 0, height: 0)
        let target = CGSize(width: 10, height: 20)
        for size in [
            empty.constrained(target), empty.filling(target), target.constrained(empty), target.filling(empty),
        ] {
            #expect(size.width >= 1 && size.height >= 1 && size.width.isFinite && size.height.isFinite)
        }
    }

    @Test(
        "Anchors place a rectangle inside the image",
        arguments: [
            (CGSize(width: 20, height: 20), CGPoint(x: 0, y: 0), CGRect(x: 0, y: 0, width: 20, height: 20)),
            (CGSize(width: 20, height: 20), CGPoint(x: 0.5, y: 0), CGRect(x: 40, y: 0, width: 20, height: 20)),
            (CGSize(width: 20, height: 20), CGPoint(x: 1, y: 1), CGRect(x: 80, y: 80, width: 20, height: 20)),
            (CGSize(width: 120, height: 20), CGPoint(x: 0.5, y: 0.5), CGRect(x: 0, y: 40, width: 100, height: 20)),
            (CGSize(width: 20, height: 120), CGPoint(x: 1, y: 0), CGRect(x: 80, y: 0, width: 20, height: 100)),
            (CGSize(width: 120, height: 120), CGPoint(x: 0.3, y: 0.9), CGRect(x: 0, y: 0, width: 100, height: 100)),
            (CGSize(width: 20, height: 20), CGPoint(x: -1, y: 2), CGRect(x: 0, y: 80, width: 20, height: 20)),
        ]
    )
    func anchors(size: CGSize, anchor: CGPoint, expected: CGRect) {
        #expect(CGSize(width: 100, height: 100).constrainedRect(for: size, anchor: anchor) == expected)
    }

    @Test(
        "Crops with infinite sides end at the edges",
        arguments: [CGPoint(x: 0, y: 0), CGPoint(x: 0.5, y: 0.5), CGPoint(x: 1, y: 1), CGPoint(x: -1, y: 2)]
    )
    func infiniteCropSides(anchor: CGPoint) throws {
        let nine = CGSize(width: 9, height: 9)
        for size in [CGFloat.infinity, 1e308].map({ CGSize(width: $0, height: 2) }) {
            let rect = nine.constrainedRect(for: size, anchor: anchor)
            #expect(rect.origin.x == 0 && rect.size == CGSize(width: 9, height: 2))
            let image = Image(cgImage: .solid(0xFF12_3456, 9, 9))
            let part = try #require(image.cropped(toPoints: size, anchor: anchor))
            // Made integral outwards.
            #expect(part.size == CGSize(width: 9, height: anchor.y == 0.5 ? 3 : 2))
        }
    }

    @Test("Resizing to a side that is NaN gives nil", arguments: ContentMode.allCases)
    func nanSides(mode: ContentMode) {
        let image = Image(cgImage: .solid(0xFF12_3456, 9, 6))
        for target in [CGSize(width: CGFloat.nan, height: 30), CGSize(width: 30, height: CGFloat.nan)] {
            #expect(image.resized(toPoints: image.size.resized(to: target, for: mode)) == nil)
        }
    }

    @Test("Canvas sizes are rounded up and at least one pixel") func canvasRounding() {
        #expect(Geometry.canvas(points: CGSize(width: 10.25, height: 0.1), scale: 2) == PixelSize(21, 1))
        #expect(Geometry.canvas(points: CGSize(width: -5, height: 0), scale: 1) == PixelSize(1, 1))
    }

    @Test(
        "Canvas sizes that cannot exist are nil",
        arguments: [
            CGSize(width: CGFloat.infinity, height: 1), CGSize(width: CGFloat.nan, height: 1),
            CGSize(width: 1e30, height: 1), CGSize(width: 1e6, height: 1e6),
        ]
    )
    func impossibleCanvases(size: CGSize) {
        #expect(Geometry.canvas(points: size, scale: 1) == nil)
    }

    @Test(
        "Thumbnails limit the longer side",
        arguments: [
            (20.0, 40.0, 1.0, 40), (15, 15, 1, 15), (15, 15, 2, 30), (15, 15, 3, 45), (0, 0, 1, 64), (100, 100, 1, 64),
            (.nan, 1, 1, 64), (1, .nan, 1, 64), (0.2, 0, 1, 1), (-3, -3, 1, 64), (.infinity, 1, 1, 64),
            (5, 5, .nan, 64),
        ]
    )
    func thumbnailLimit(width: Double, height: Double, scale: Double, expected: Int) {
        let limit = Geometry.thumbnailLimit(points: CGSize(width: width, height: height), scale: scale)
        #expect(Geometry.thumbnail(of: PixelSize(64, 64), limit: limit) == PixelSize(expected, expected))
    }

    @Test("Thumbnails of narrow images keep their proportions") func narrowThumbnails() {
        #expect(Geometry.thumbnail(of: PixelSize(4000, 100), limit: 100) == PixelSize(100, 3))
        #expect(Geometry.thumbnail(of: PixelSize(10_000, 1), limit: 10) == PixelSize(10, 1))
    }

    @Test("Identifier texts are the shortest that convert back to the same number") func identifierTexts() {
        #expect(CGFloat(10).identifierText == "10.0")
        #expect(CGFloat(1e-7).identifierText == "1e-07")
        #expect(CGSize(width: 100, height: 50.5).identifierText == "(100.0, 50.5)")
        #expect(CGPoint(x: 0.5, y: 1).identifierText == "(0.5, 1.0)")
        #expect(Radius.widthFraction(0.5).identifierText == "w_frac_0.5")
        #expect(Radius.heightFraction(0.25).identifierText == "h_frac_0.25")
        #expect(Radius.point(8).identifierText == "8.0")
        #expect(RectCorner.all.identifierText.isEmpty)
        #expect(RectCorner([.topLeft, .bottomRight]).identifierText == "_corner(9)")
    }

    @Test("Radii are fractions of a side or points") func radii() {
        let size = CGSize(width: 40, height: 20)
        #expect(Radius.widthFraction(0.5).compute(with: size) == 20)
        #expect(Radius.heightFraction(0.5).compute(with: size) == 10)
        #expect(Radius.point(3).compute(with: size) == 3)
    }
}

@Suite struct ColorTests {
    @Test("Descriptions of colours have two decimals") func descriptions() {
        #expect(Color.red.rgbaDescription == "(1.00,0.00,0.00,1.00)")
        #expect(Color.orange.withAlphaComponent(0.25).description == "(1.00,0.50,0.00,0.25)")
    }

    @Test("Identifier texts distinguish colours with the same description") func similarColors() {
        let one = Color(white: 127.0 / 255)
        let two = Color(white: 128.0 / 255)
        #expect(one.rgbaDescription == two.rgbaDescription)
        #expect(one.identifierText != two.identifierText)
        #expect(one.identifierText.hasPrefix("(0.50,0.50,0.50,1.00)_0.498"))
        #expect(Color(red: 0.29, green: 0.57, blue: 0.58).identifierText == "(0.29,0.57,0.58,1.00)")
    }

    @Test("Display P3's green has components outside sRGB") func displayP3Green() {
        let color = Color(displayP3Red: 0, green: 1, blue: 0, alpha: 0.8)
        #expect(
            abs(color.red + 0.5116) < 0.001 && abs(color.green - 1.0183) < 0.001 && abs(color.blue + 0.3107) < 0.001
        )
        #expect(color.alpha == 0.8)
    }

    @Test("Greys of Display P3 are the same greys in sRGB") func displayP3Greys() {
        let color = Color(displayP3Red: 0.4, green: 0.4, blue: 0.4)
        #expect(abs(color.red - 0.4) < 1e-6 && abs(color.green - 0.4) < 1e-6 && abs(color.blue - 0.4) < 1e-6)
    }
}
