// What image views put on the clipboard, and what is dragged out of them.

#if canImport(CKFGTK4)
import CKFGTK4
import Foundation
import KFImaging
import Kingfisher
import KingfisherGTK
import KingfisherTestSupport

let contentChecks = [
    Check(name: "copiesPixels") { stage in
        let view = KFCrossPlatformImageView()
        await stage.show(view)
        stage.expect(!view.copy(), "there is nothing to be copied")
        for orientation in [Orientation.up, .right] {
            let image = Paint.shades(orientation)
            view.image = image
            stage.expect(view.copy(), "copied")
            stage.expect(Content.onClipboard(of: view)?.image?.bytes == image.kf.normalized.bytes, "other pixels")
        }
    },
    Check(name: "copiesOriginals") { stage in
        let (server, options, _) = try await stage.network()
        guard let jpeg = Paint.plain(Paint.blue).kf.jpegRepresentation(compressionQuality: 0.5) else { return }
        let gif = try Paint.gif([Paint.red, Paint.green])
        server.route("/blue.jpg", .data(jpeg))
        server.route("/two.gif", .data(gif))
        let view = AnimatedImageView()
        await stage.show(view)
        for (name, type, bytes) in [("/blue.jpg", "image/jpeg", jpeg), ("/two.gif", "image/gif", gif)] {
            await stage.load(server.url(name), into: view, options + [.waitForCache])
            stage.expect(view.copy(), "copied")
            await stage.frames(of: view) { Content.onClipboard(of: view)?.offers(type) == true }
            let content = Content.onClipboard(of: view)
            let copied = await content?.bytes(as: type)
            stage.expect(copied == bytes, "\(type): \(copied?.count ?? 0) of \(bytes.count) bytes")
            stage.expect(content?.image?.bytes == view.image?.bytes, "the pixels are there as well")
        }
        let processor = BlackWhiteProcessor()
        await stage.load(server.url("/blue.jpg"), into: view, options + [.waitForCache, .processor(processor)])
        stage.expect(view.copy(), "copied")
        await stage.frames(20, of: view)
        let content = Content.onClipboard(of: view)
        stage.expect(content?.offers("image/jpeg") == false, "the original of a processed image is not given away")
        stage.expect(content?.image?.bytes == view.image?.bytes, "but its pixels are")
    },
    Check(name: "copiesZoomed") { stage in
        let (server, options, _) = try await stage.network()
        let plain = Paint.plain(Paint.blue, width: 1_024, height: 512)
        guard let jpeg = plain.kf.jpegRepresentation(compressionQuality: 0.5) else { return }
        server.route("/blue.jpg", .data(jpeg))
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("kf-\(UUID().uuidString).jpg")
        try jpeg.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let view = ZoomView()
        await stage.show(view)
        for url in [server.url("/blue.jpg"), file] {
            await stage.load(url, into: view, options + [.waitForCache])
            stage.expect(view.image.map { $0.pixelWidth < 1_024 } ?? false, "decoded as large as the view")
            stage.expect(view.copy(), "copied")
            await stage.frames(of: view) { Content.onClipboard(of: view)?.offers("image/jpeg") == true }
            let content = Content.onClipboard(of: view)
            let copied = await content?.bytes(as: "image/jpeg")
            stage.expect(copied == jpeg, "\(copied?.count ?? 0) of \(jpeg.count) bytes of \(url)")
            stage.expect(content?.image?.pixelWidth == 1_024, "all pixels are there as well")
        }
    },
    Check(name: "dragsImages") { stage in
        let (server, options, _) = try await stage.network()
        guard let jpeg = Paint.plain(Paint.blue).kf.jpegRepresentation(compressionQuality: 0.5) else { return }
        server.route("/blue.jpg", .data(jpeg))
        let view = KFCrossPlatformImageView()
        await stage.show(view)
        stage.expect(!view.allowsDragging && dragSources(of: view).isEmpty, "not draggable at first")
        view.allowsDragging = true
        guard view.allowsDragging, let source = dragSources(of: view).first else {
            return stage.expect(false, "no drag source")
        }
        press(source)
        stage.expect(gtk_drag_source_get_content(source) == nil, "there is nothing to be dragged")
        await stage.load(server.url("/blue.jpg"), into: view, options + [.waitForCache])
        press(source)
        let pixels = gtk_drag_source_get_content(source).map { Content(provider: $0) }
        stage.expect(pixels?.image?.bytes == view.image?.bytes, "the pixels are there at once")
        await stage.frames(of: view) {
            gtk_drag_source_get_content(source).map { Content(provider: $0) }?.offers("image/jpeg") == true
        }
        let dragged = await gtk_drag_source_get_content(source).map { Content(provider: $0) }?.bytes(as: "image/jpeg")
        stage.expect(dragged == jpeg, "\(dragged?.count ?? 0) of \(jpeg.count) bytes")
        await stage.frames(20, of: view)  // GTK looks again at what was pressed, after a tenth of a second
        view.allowsDragging = false
        stage.expect(!view.allowsDragging && dragSources(of: view).isEmpty, "not draggable any more")
    },
]

extension Stage {
    /// Loads an image into a view and waits until it is shown.
    fileprivate func load(_ url: URL, into view: KFCrossPlatformImageView, _ options: KingfisherOptionsInfo) async {
        var isShown: Bool?
        view.kf.setImage(with: url, options: options) { result in
            isShown = (try? result.get()) != nil
        }
        await frames(of: view) { isShown != nil }
        expect(isShown == true, "\(url.lastPathComponent) is not shown")
    }
}

/// What a clipboard or a drag source offers.
@MainActor
private struct Content {
    let provider: UnsafeMutablePointer<GdkContentProvider>

    static func onClipboard(of view: KFCrossPlatformView) -> Content? {
        let clipboard = gtk_widget_get_clipboard(view.rawWidget.assumingMemoryBound(to: GtkWidget.self))
        return gdk_clipboard_get_content(clipboard).map { Content(provider: $0) }
    }

    /// The image of the texture that is offered.
    var image: Image? {
        var value = GValue()
        g_value_init(&value, gdk_texture_get_type())
        defer { g_value_unset(&value) }
        guard gdk_content_provider_get_value(provider, &value, nil) != 0, let texture = g_value_get_object(&value)
        else { return nil }
        return Image(texture: OpaquePointer(texture))
    }

    /// Whether bytes of a media type are offered as they are, without GDK making them of the texture.
    func offers(_ type: String) -> Bool {
        let formats = gdk_content_provider_ref_formats(provider)
        defer { gdk_content_formats_unref(formats) }
        return gdk_content_formats_contain_mime_type(formats, type) != 0
    }

    func bytes(as type: String) async -> Data? {
        guard let stream = g_memory_output_stream_new_resizable() else { return nil }
        defer { g_object_unref(stream) }
        await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
            gdk_content_provider_write_mime_type_async(
                provider,
                type,
                stream,
                0,
                nil,
                { _, _, waiter in
                    guard let waiter else { return }
                    Unmanaged<Waiter>.fromOpaque(waiter).takeRetainedValue().continuation.resume()
                },
                Unmanaged.passRetained(Waiter(done)).toOpaque()
            )
        }
        let memory = UnsafeMutableRawPointer(stream).assumingMemoryBound(to: GMemoryOutputStream.self)
        guard let bytes = g_memory_output_stream_get_data(memory) else { return nil }
        return Data(bytes: bytes, count: Int(g_memory_output_stream_get_data_size(memory)))
    }
}

/// The drag sources of a view's widget.
@MainActor
private func dragSources(of view: KFCrossPlatformView) -> [OpaquePointer] {
    let widget = view.rawWidget.assumingMemoryBound(to: GtkWidget.self)
    guard let list = gtk_widget_observe_controllers(widget) else { return [] }
    defer { g_object_unref(UnsafeMutableRawPointer(list)) }
    return (0..<g_list_model_get_n_items(list)).compactMap { index in
        guard let item = g_list_model_get_item(list, index) else { return nil }
        g_object_unref(item)  // the widget has a reference, too
        let instance = item.assumingMemoryBound(to: GTypeInstance.self)
        return g_type_check_instance_is_a(instance, gtk_drag_source_get_type()) != 0 ? OpaquePointer(item) : nil
    }
}

/// Has a drag source believe that the button was pressed.
@MainActor
private func press(_ source: OpaquePointer) {
    let signal = g_signal_lookup("begin", gtk_gesture_get_type())
    var values = [GValue(), GValue()]
    g_value_init(&values[0], gtk_drag_source_get_type())
    g_value_set_object(&values[0], UnsafeMutableRawPointer(source))
    g_value_init(&values[1], gdk_event_sequence_get_type())
    g_signal_emitv(&values, signal, 0, nil)
    for index in values.indices { g_value_unset(&values[index]) }
}
#endif
