// Where a zoomed image lies in its view, and how it goes on moving.

import Foundation
import Testing

@testable import Kingfisher

@Suite struct ZoomGeometryTests {
    /// An image of 800 × 400 pixels in a view of 200 × 200 points.
    private func geometry(_ mode: ZoomView.Mode = .fit, scale: CGFloat = 1) -> ZoomGeometry {
        var geometry = ZoomGeometry()
        geometry.image = CGSize(width: 800, height: 400)
        (geometry.view, geometry.scale, geometry.mode) = (CGSize(width: 200, height: 200), scale, mode)
        return geometry
    }

    private func isNear(_ one: CGPoint, _ other: CGPoint, _ tolerance: CGFloat = 1e-6) -> Bool {
        abs(one.x - other.x) <= tolerance && abs(one.y - other.y) <= tolerance
    }

    @Test(
        "All of the image fits, the view is covered, or a pixel is a pixel, on screens of any scale",
        arguments: [1, 2] as [CGFloat]
    )
    func modes(scale: CGFloat) {
        #expect(geometry(.fit, scale: scale).frame == CGRect(x: 0, y: 50, width: 200, height: 100))
        #expect(geometry(.fit, scale: scale).zoom == 0.25 * scale)
        #expect(geometry(.fill, scale: scale).frame == CGRect(x: -100, y: 0, width: 400, height: 200))
        #expect(geometry(.fill, scale: scale).zoom == 0.5 * scale)
        let actual = geometry(.actualSize, scale: scale)
        #expect(actual.zoom == 1 && actual.frame.size == CGSize(width: 800 / scale, height: 400 / scale))
        #expect(actual.frame.midX == 100 && actual.frame.midY == 100)
        var small = geometry(scale: scale)
        small.image = CGSize(width: 20, height: 10)
        #expect(small.frame == CGRect(x: 0, y: 50, width: 200, height: 100))
    }

    @Test("What is at the point that is zoomed around stays there, in and out")
    func zoomAroundPoint() {
        var geometry = geometry(.factor(1))
        for (factor, point) in [(2, CGPoint(x: 150, y: 60)), (4, CGPoint(x: 20, y: 190)), (1.5, CGPoint(x: 99, y: 3))] {
            let before = geometry.imagePoint(at: point)
            geometry.setMode(.factor(factor), around: point)
            #expect(geometry.zoom == factor && isNear(geometry.imagePoint(at: point), before))
            // The drawn rectangle agrees, within the pixel that its corner is moved to.
            let corner = CGPoint(x: point.x - before.x * factor, y: point.y - before.y * factor)
            #expect(isNear(geometry.frame.origin, corner, 0.5))
        }
    }

    @Test("An edge of the image is never within the view when the image is larger, nor beside its middle when smaller")
    func clamping() {
        var geometry = geometry(.factor(1))
        let moved = geometry.pan(by: CGSize(width: 1_000, height: 10))
        #expect(moved == CGSize(width: 300, height: 10) && geometry.frame.minX == 0 && geometry.frame.minY == -90)
        #expect(geometry.pan(by: CGSize(width: 5, height: 0)) == .zero)
        #expect(geometry.pan(by: CGSize(width: -1_000, height: -1_000)).width == -600)
        #expect(geometry.frame.maxX == 200 && geometry.frame.maxY == 200)
        // Zooming out around a corner has the edges move in.
        geometry.setMode(.factor(0.5), around: CGPoint(x: 200, y: 200))
        #expect(geometry.frame == CGRect(x: -200, y: 0, width: 400, height: 200))
        geometry.setMode(.factor(0.25), around: .zero)
        #expect(geometry.frame == CGRect(x: 0, y: 50, width: 200, height: 100) && !geometry.isPannable)
        #expect(geometry.pan(by: CGSize(width: 50, height: 50)) == .zero)
    }

    @Test("Factors are limited; all of the image can be seen, but a small one need not be enlarged")
    func limits() {
        var geometry = geometry()
        geometry.limits = 0.5...3
        #expect(geometry.zoom == 0.25)  // fitting has no limits
        for (wanted, found) in [(0.1, 0.5), (100, 3), (1, 1), (.infinity, 3), (-1, 0.5), (.nan, 1)]
            as [(CGFloat, CGFloat)]
        {
            geometry.setMode(.factor(wanted), around: .zero)
            #expect(geometry.zoom == found && geometry.mode == .factor(found))
        }
        geometry.limits = 0.01...0.1
        #expect(geometry.range == 0.25...0.25)
        geometry.image = CGSize(width: 10, height: 10)
        #expect(geometry.range == 1...1)
    }

    @Test("What is in the middle stays there while the view's size changes, and is there again afterwards")
    func resizing() {
        var geometry = geometry(.factor(2))
        geometry.pan(by: CGSize(width: 300, height: 100))
        let (frame, middle) = (geometry.frame, geometry.imagePoint(at: CGPoint(x: 100, y: 100)))
        geometry.view = CGSize(width: 400, height: 100)
        #expect(isNear(geometry.imagePoint(at: CGPoint(x: 200, y: 50)), middle))
        for side in [1, 5_000, 0, 300] as [CGFloat] { geometry.view = CGSize(width: side, height: side) }
        geometry.view = CGSize(width: 200, height: 200)
        #expect(geometry.frame == frame)
    }

    @Test(
        "Without an image or a view there is nothing, whatever is done to it",
        arguments: [CGSize.zero, CGSize(width: -1, height: 5), CGSize(width: CGFloat.nan, height: .infinity)]
    )
    func nothing(size: CGSize) {
        var without = [geometry(), geometry()]
        without[0].image = size
        without[1].view = size
        for var geometry in without {
            #expect(geometry.isEmpty && geometry.frame == .zero && geometry.zoom == 1 && !geometry.isPannable)
            geometry.setMode(.factor(3), around: CGPoint(x: 1, y: 1))
            #expect(geometry.pan(by: CGSize(width: 1, height: 1)) == .zero && geometry.frame == .zero)
        }
    }

    @Test("What is no number moves nothing") func noNumbers() {
        var geometry = geometry(.factor(1))
        let frame = geometry.frame
        #expect(geometry.pan(by: CGSize(width: CGFloat.nan, height: 1)) == .zero)
        geometry.setMode(.factor(1), around: CGPoint(x: CGFloat.infinity, y: 0))
        #expect(geometry.frame == frame)
    }

    @Test(
        "An image is decoded at the least half, quarter and so on that has enough pixels",
        arguments: [(0.05, 50), (0.125, 100), (0.126, 200), (0.3, 400), (0.5, 400), (0.51, 800), (1, 800), (8, 800)]
    )
    func decodedSize(zoom: CGFloat, width: CGFloat) {
        var geometry = geometry(.factor(zoom))
        geometry.view = CGSize(width: 10, height: 10)
        #expect(geometry.decodedSize == CGSize(width: width, height: width / 2))
    }

    @Test("A movement slows down, covers one distance however often the clock ticks, and ends at the edge")
    func inertia() {
        var distances: [CGFloat] = []
        for ticks in [15, 60, 144] {
            var (inertia, distance) = (ZoomInertia(velocity: CGSize(width: 800, height: -400)), CGSize.zero)
            var last = CGFloat.infinity
            for _ in 0..<ticks {
                let step = inertia.advance(by: 1 / TimeInterval(ticks))
                #expect(step.width < last && abs(step.height + step.width / 2) < 1e-9)
                last = step.width
                distance = CGSize(width: distance.width + step.width, height: distance.height + step.height)
            }
            distances.append(distance.width)
            #expect(!inertia.isAtRest)
            _ = inertia.advance(by: 1)
            #expect(inertia.isAtRest)
        }
        #expect(distances.allSatisfy { abs($0 - distances[0]) < 1e-6 } && distances[0] > 150 && distances[0] < 200)
        var blocked = ZoomInertia(velocity: CGSize(width: 800, height: 400))
        blocked.stop(wanted: CGSize(width: 10, height: 5), moved: CGSize(width: 3, height: 5))
        #expect(blocked.advance(by: 0.1).width == 0 && blocked.advance(by: 0.1).height > 0)
        #expect(ZoomInertia(velocity: CGSize(width: CGFloat.nan, height: 0)).isAtRest)
    }
}
