// Images as textures and paintables in widgets that are not the library's.

#if canImport(CKFGTK4)
import CKFGTK4
import Foundation
import KFImaging
import Kingfisher
import KingfisherGTK
import KingfisherTestSupport

let paintableChecks = [
    Check(name: "texturesAndImages") { stage in
        let container = KFCrossPlatformView()
        await stage.show(container)
        GoneWidgets.count = 0
        for orientation in Orientation.allCases {
            let image = Paint.shades(orientation)
            guard let texture = image.gdkTexture, let back = Image(texture: texture.pointer, scale: 2) else {
                return stage.expect(false, "no texture, or no image of it")
            }
            GoneWidgets.watch(UnsafeMutableRawPointer(texture.pointer))
            stage.expect(back.bytes == image.kf.normalized.bytes, "\(orientation): other pixels")
            stage.expect(back.scale == 2 && back.hasAlpha, "scale \(back.scale)")
        }
        stage.expect(Image().gdkTexture == nil, "no texture of no pixels")
        let count = Orientation.allCases.count
        await stage.frames(of: container) { GoneWidgets.count == count }
        stage.expect(GoneWidgets.count == count, "\(GoneWidgets.count) of \(count) textures are gone")
    },
    Check(name: "paintables") { stage in
        guard let bitmap = Paint.halves(Paint.red, Paint.blue).cgImage else { return }
        let image = Image(cgImage: bitmap, scale: 2, orientation: .down)
        let (view, picture) = makePicture()
        // The object is gone before the pointer is used.
        gtk_picture_set_paintable(picture, image.paintable.pointer)
        await stage.show(view)
        await stage.expect(view, 0.2, is: Paint.blue)
        await stage.expect(view, 0.8, is: Paint.red)
        let paintable = gtk_picture_get_paintable(picture)
        let (width, height) = (
            gdk_paintable_get_intrinsic_width(paintable), gdk_paintable_get_intrinsic_height(paintable)
        )
        stage.expect(width == 20 && height == 10, "\(width) × \(height) points")
        GoneWidgets.count = 0
        GoneWidgets.watch(paintable.map { UnsafeMutableRawPointer($0) })
        gtk_picture_set_paintable(picture, image.gdkTexture?.pointer)
        stage.expect(GoneWidgets.count == 1, "the paintable is gone")
        await stage.expect(view, 0.2, is: Paint.blue)
    },
    Check(name: "paintableAnimations") { stage in
        let container = KFCrossPlatformView()
        let (view, picture) = makePicture()
        let colors = [Paint.red, Paint.green, Paint.blue]
        let provider = RawImageDataProvider(data: try Paint.gif(colors), cacheKey: UUID().uuidString)
        let paintable = KFPaintable.load(provider, options: [.cacheMemoryOnly])
        gtk_picture_set_paintable(picture, paintable.pointer)
        var changes = 0
        KFGTK.connect("invalidate-contents", of: UnsafeMutableRawPointer(paintable.pointer)) { _ in changes += 1 }
        container.addSubview(view)
        await stage.show(container)
        for color in colors + colors {
            await stage.frames(of: container) { stage.color(view) == color }
            stage.expect(stage.color(view) == color, "\(String(color, radix: 16)) is not shown")
        }
        view.isHidden = true
        await stage.frames(20, of: container)
        let before = changes
        await stage.frames(30, of: container)
        stage.expect(changes == before, "\(changes - before) frames that are not drawn")
        view.isHidden = false
        await stage.frames(of: container) { changes > before + 3 }
        stage.expect(changes > before + 3, "it goes on when it is drawn again")
        Desktop.wantsMotion = false
        await stage.frames(of: container) { stage.color(view) == Paint.red }
        let still = changes
        await stage.frames(30, of: container)
        stage.expect(changes == still, "\(changes - still) frames for a user who wants no motion")
        await stage.expect(view, is: Paint.red)
        Desktop.wantsMotion = true
    },
    Check(name: "paintableLoads") { stage in
        let (server, options, _) = try await stage.network()
        let gate = Gate()
        server.route("/blue.png", try Paint.png(Paint.blue), behind: gate)
        let (view, picture) = makePicture()
        var (sizes, found) = (0, CacheType?.none)
        let paintable = KFPaintable.load(server.url("/blue.png"), options: options) { result in
            found = try? result.get().cacheType
        }
        KFGTK.connect("invalidate-size", of: UnsafeMutableRawPointer(paintable.pointer)) { _ in sizes += 1 }
        gtk_picture_set_paintable(picture, paintable.pointer)
        await stage.show(view)
        stage.expect(gdk_paintable_get_intrinsic_width(paintable.pointer) == 0 && sizes == 0, "empty at first")
        gate.open()
        await stage.frames(of: view) { found != nil }
        await stage.expect(view, is: Paint.blue)
        stage.expect(gdk_paintable_get_intrinsic_width(paintable.pointer) == 40 && sizes == 1, "\(sizes) sizes")
        let second = KFPaintable.load(server.url("/blue.png"), options: options)
        stage.expect(gdk_paintable_get_intrinsic_width(second.pointer) == 40, "a memory hit is there at once")
    },
    Check(name: "releasedPaintable") { stage in
        let (server, options, _) = try await stage.network()
        let gate = Gate()
        server.route("/late.png", Data(), behind: gate)
        let container = KFCrossPlatformView()
        await stage.show(container)
        GoneWidgets.count = 0
        var failure: KingfisherError?
        var paintable: KFPaintable? = .load(server.url("/late.png"), options: options) { result in
            if case .failure(let error) = result { failure = error }
        }
        GoneWidgets.watch(paintable.map { UnsafeMutableRawPointer($0.pointer) })
        await stage.frames(of: container)
        stage.expect(failure == nil && GoneWidgets.count == 0, "it loads while there is a reference")
        paintable = nil
        await stage.frames(of: container) { failure != nil }
        stage.expect(GoneWidgets.count == 1, "the paintable is gone")
        guard case .imageSettingError(reason: .notCurrentSourceTask(_, let error?, _)) = failure else {
            return stage.expect(false, "\(String(describing: failure))")
        }
        stage.expect((error as? KingfisherError)?.isTaskCancelled == true, "\(error)")
        gate.open()
    },
]

/// A `GtkPicture` that is filled with its paintable, and its view.
@MainActor
private func makePicture() -> (KFWidgetView, OpaquePointer) {
    let widget: UnsafeMutablePointer<GtkWidget> = gtk_picture_new()
    let picture = OpaquePointer(widget)
    gtk_picture_set_content_fit(picture, GTK_CONTENT_FIT_FILL)
    return (KFWidgetView(picture), picture)
}

extension Paint {
    /// Six pixels of different colours, half of them transparent.
    static func shades(_ orientation: Orientation = .up) -> Image {
        let bitmap = Bitmap(width: 3, height: 2) { buffer, bytesPerRow in
            for index in 0..<6 {
                let pixel: UInt32 = (index % 2 == 0 ? 0x8000_0000 : 0xFF00_0000) + 0x11_0813 * UInt32(index)
                buffer.storeBytes(of: pixel, toByteOffset: index / 3 * bytesPerRow + index % 3 * 4, as: UInt32.self)
            }
        }
        return Image(cgImage: bitmap, scale: 1, orientation: orientation)
    }
}

extension Image {
    /// The bytes of the pixels as they are stored.
    var bytes: [UInt8] { cgImage.map { $0.withUnsafeBytes { Array($0) } } ?? [] }
}
#endif
