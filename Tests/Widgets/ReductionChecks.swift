// Images that are larger than they are drawn, after they have been made smaller.

#if canImport(CKFGTK4)
import CKFGTK4
import Foundation
import KFImaging
import Kingfisher
import KingfisherGTK
import KingfisherTestSupport

let reductionChecks = [
    Check(name: "zonePlate") { stage in
        let plate = Paint.zonePlate(width: 4_000, height: 3_000)
        var views: [KFCrossPlatformImageView] = [KFCrossPlatformImageView(), ZoomView()]
        // The pixels of the view: in another size there is another reduction.
        for (width, height) in [(640, 480), (800, 600)] {
            guard let expected = try plate.cgImage?.resampled(to: PixelSize(width, height), filter: .lanczos3)
            else { return }
            for view in views {
                view.image = plate
                if !view.isOnScreen { await stage.show(view, size: CGSize(width: 64, height: 48)) }
                let size = CGSize(width: width, height: height).divided(by: view.contentScaleFactor)
                let widget = view.rawWidget.assumingMemoryBound(to: GtkWidget.self)
                gtk_widget_set_size_request(widget, Int32(size.width), Int32(size.height))
                @MainActor func isReduced() -> Bool { stage.pixels(view).map { $0.agrees(with: expected) } ?? false }
                for _ in 0..<100 where !isReduced() { await stage.frames(10, of: view) }
                let psnr = stage.pixels(view).flatMap { ImageComparison.psnr($0, expected) }
                stage.expect((psnr ?? 0) >= 40, "\(psnr ?? 0) dB in \(view.bounds)")
            }
            views.removeLast()
        }
    },
    Check(name: "longestImages") { stage in
        // Longer than the largest surface of Cairo, and than the largest of half the pixels.
        for width in [40_000, 70_000] {
            let view = KFCrossPlatformImageView()
            view.contentMode = .scaleToFill
            view.image = Paint.halves(Paint.red, Paint.blue, width: width, height: 60)
            await stage.show(view)
            await stage.expect(view, 0.25, is: Paint.red)
            await stage.expect(view, 0.75, is: Paint.blue)
            stage.closeWindows()
        }
    },
]

extension Paint {
    /// Rings around the middle, narrower and narrower: where there are too few pixels for them, other rings appear.
    fileprivate static func zonePlate(width: Int, height: Int) -> Image {
        let waves = (0..<4_096).map { UInt32(127.5 + 127.5 * cos(2 * Double.pi * Double($0) / 4_096)) * 0x010101 }
        let bitmap = Bitmap(width: width, height: height, hasAlpha: false) { buffer, bytesPerRow in
            guard let base = buffer.baseAddress else { return }
            waves.withUnsafeBufferPointer { waves in
                // Written for builds that are not optimized; the lower half is that above, upside down.
                var y = 0
                while y <= height / 2 {
                    let row = (base + y * bytesPerRow).assumingMemoryBound(to: UInt32.self)
                    let dy = y - height / 2
                    var x = 0
                    while x < width {
                        let dx = x - width / 2
                        // At the left and right edges, rings are four pixels apart.
                        row[x] = 0xFF00_0000 | waves[((dx * dx + dy * dy) * 1_024 / width) & 4_095]
                        x += 1
                    }
                    if y > 0 { memcpy(base + (height - y) * bytesPerRow, row, width * 4) }
                    y += 1
                }
            }
        }
        return Image(cgImage: bitmap)
    }
}

extension Bitmap {
    /// Whether some of the pixels are nearly those of another bitmap of the same size.
    fileprivate func agrees(with other: Bitmap) -> Bool {
        guard size == other.size else { return false }
        return withUnsafeBytes { mine in
            other.withUnsafeBytes { others in
                stride(from: 5, to: height, by: 37).allSatisfy { y in
                    let x = (y * 17) % width * 4
                    return abs(Int(mine[y * bytesPerRow + x]) - Int(others[y * other.bytesPerRow + x])) <= 2
                }
            }
        }
    }
}

extension CGSize {
    fileprivate func divided(by scale: CGFloat) -> CGSize { CGSize(width: width / scale, height: height / scale) }
}
#endif
