// Zoom views as they are drawn, and their input.

#if canImport(CKFGTK4)
import CKFGTK
import CKFGTK4
import Foundation
import KFImaging
import Kingfisher
import KingfisherGTK
import KingfisherTestSupport

let zoomChecks = [
    Check(name: "zoomOfLongestImages") { stage in
        // Longer than the largest surface of Cairo, and than the largest of half the pixels.
        for width in [40_000, 70_000] {
            let view = ZoomView()
            view.mode = .actualSize
            view.image = Paint.halves(Paint.red, Paint.blue, width: width, height: 60)
            await stage.show(view)
            await stage.expect(view, 0.25, is: Paint.red)
            await stage.expect(view, 0.75, is: Paint.blue)
            stage.closeWindows()
        }
    },
    Check(name: "zoomModes") { stage in
        let view = ZoomView()
        view.image = Paint.halves(Paint.red, Paint.blue, width: 80, height: 20)
        await stage.show(view)  // 200 × 100 points
        await stage.expect(view, 0.45, is: Paint.red)
        await stage.expect(view, 0.55, is: Paint.blue)
        stage.expect(stage.color(view, 0.25, 0.2) == 0, "above an image that fits there is nothing")
        view.mode = .fill
        await stage.expect(view, 0.45, 0.02, is: Paint.red)
        await stage.expect(view, 0.55, 0.98, is: Paint.blue)
        view.mode = .actualSize
        let half = 40 / view.contentScaleFactor / 200
        await stage.expect(view, 0.5 - half + 0.02, is: Paint.red)
        await stage.expect(view, 0.5 + half - 0.02, is: Paint.blue)
        stage.expect(stage.color(view, 0.5 - half - 0.02) == 0, "as wide as its pixels")
        stage.expect(stage.color(view, 0.5 + half + 0.02) == 0, "as wide as its pixels")
        gtk_widget_set_size_request(view.rawWidget.assumingMemoryBound(to: GtkWidget.self), 300, 150)
        view.mode = .fit
        await stage.frames(of: view) { view.bounds.width >= 300 }
        await stage.expect(view, 0.02, is: Paint.red)
        await stage.expect(view, 0.98, is: Paint.blue)
    },
    Check(name: "zoomKeepsPoint") { stage in
        for orientation in [Orientation.up, .right, .down] {
            let view = ZoomView()
            let bitmap = Paint.dot(Paint.green, on: Paint.red, at: (450, 220), width: 800, height: 400).cgImage
            view.image = bitmap.map { Image(cgImage: $0, scale: 1, orientation: orientation) }
            await stage.show(view)
            // Where the dot is when all of the image is shown.
            let (x, y) = orientation == .up ? (450.0, 220.0) : orientation == .down ? (350, 180) : (180, 450)
            let size = view.originalSize
            let frame = view.geometry.frame
            let point = CGPoint(
                x: frame.minX + x / size.width * frame.width,
                y: frame.minY + y / size.height * frame.height
            )
            for factor in [1, 2.5, 8, 1.5] {
                view.zoom(to: factor * view.contentScaleFactor, around: point)
                await stage.expect(view, point.x / 200, point.y / 100, is: Paint.green)
            }
            view.mode = .fit
            stage.expect(view.geometry.frame == frame, "all of the image is shown again")
        }
    },
    Check(name: "zoomLoadsMore") { stage in
        let (server, options, _) = try await stage.network()
        guard let jpeg = Paint.plain(Paint.blue, width: 2_048, height: 1_024).jpegData(compressionQuality: 1) else {
            return
        }
        server.route("/large.jpg", .data(jpeg))
        let view = ZoomView()
        // Begun before there is a window, it waits for the layout.
        view.kf.setImage(with: server.url("/large.jpg"), options: options)
        await stage.show(view)
        @MainActor func width() -> Int { view.image?.pixelWidth ?? 0 }
        await stage.frames(of: view) { width() > 0 }
        let scale = Int(view.contentScaleFactor)
        let first = 224 * scale  // the next of the sizes that images have for views
        stage.expect(width() == first, "\(width()) pixels wide in \(view.bounds)")
        view.zoom = 0.4
        stage.expect(width() == first, "the present image stays")
        await stage.expect(view, 0.1, 0.1, is: 0x0000FE)
        await stage.frames(of: view) { width() == 1_024 }
        stage.expect(width() == 1_024, "\(width()) pixels wide at \(view.zoom)")
        view.mode = .actualSize
        await stage.frames(of: view) { width() == 2_048 }
        stage.expect(width() == 2_048, "\(width()) pixels wide in its own size")
        await stage.expect(view, 0.9, 0.9, is: 0x0000FE)
        stage.expect(server.count("/large.jpg") == 1, "one download")
    },
    Check(name: "zoomKeys") { stage in
        let view = ZoomView()
        view.image = Paint.halves(Paint.red, Paint.blue, width: 400, height: 200)
        await stage.show(view)
        let scale = view.contentScaleFactor
        guard let keys = controller(gtk_event_controller_key_get_type(), of: view) else {
            return stage.expect(false, "no keys")
        }
        @MainActor func press(_ key: Int32, _ modifiers: Int = 0) -> Bool {
            emit("key-pressed", of: keys, [.uint(UInt32(bitPattern: key)), .uint(0), .flags(UInt32(modifiers))])
        }
        stage.expect(!press(GDK_KEY_Right) && !press(GDK_KEY_a), "there is nothing to be moved")
        stage.expect(press(GDK_KEY_1) && view.mode == .actualSize && view.zoom == 1, "1: \(view.mode)")
        stage.expect(press(GDK_KEY_plus) && view.zoom == 1.25, "+: \(view.zoom)")
        stage.expect(press(GDK_KEY_KP_Subtract) && view.zoom == 1, "−: \(view.zoom)")
        view.zoom = 4 * scale
        stage.expect(press(GDK_KEY_Right) && press(GDK_KEY_Right) && press(GDK_KEY_Right), "right")
        await stage.expect(view, is: Paint.blue)
        stage.expect(press(GDK_KEY_Left) && press(GDK_KEY_Left), "left")
        for _ in 0..<4 { _ = press(GDK_KEY_Left) }
        await stage.expect(view, is: Paint.red)
        stage.expect(!press(GDK_KEY_Left, KF_CONTROL_MASK) && !press(GDK_KEY_Left, KF_ALT_MASK), "Alt and arrows")
        for _ in 0..<40 where press(GDK_KEY_Left) {}
        stage.expect(view.geometry.frame.minX == 0 && !press(GDK_KEY_Left), "at the edge the key is for others")
        stage.expect(press(GDK_KEY_0, KF_CONTROL_MASK) && view.mode == .fit, "0: \(view.mode)")
    },
    Check(name: "zoomPointer") { stage in
        let view = ZoomView()
        view.image = Paint.plain(Paint.red, width: 400, height: 200)
        await stage.show(view)
        guard let click = controller(gtk_gesture_click_get_type(), of: view),
            let drag = controller(gtk_gesture_drag_get_type(), of: view),
            let swipe = controller(gtk_gesture_swipe_get_type(), of: view),
            let pinch = controller(gtk_gesture_zoom_get_type(), of: view),
            let motion = controller(gtk_event_controller_motion_get_type(), of: view),
            let scroll = controller(gtk_event_controller_scroll_get_type(), of: view)
        else { return stage.expect(false, "a controller is missing") }
        stage.expect(!emit("scroll", of: scroll, [.double(0), .double(1)]), "what fits is not scrolled")
        let point = CGPoint(x: 150, y: 25)
        let before = view.geometry.imagePoint(at: point)
        emit("pressed", of: click, [.int(1), .double(point.x), .double(point.y)])
        stage.expect(view.mode == .fit, "one click does nothing")
        emit("pressed", of: click, [.int(2), .double(point.x), .double(point.y)])
        stage.expect(view.mode == .actualSize && isNear(view.geometry.imagePoint(at: point), before), "doubly")
        emit("motion", of: motion, [.double(point.x), .double(point.y)])
        emit("begin", of: pinch, [.sequence])
        emit("scale-changed", of: pinch, [.double(3)])
        let pinched = view.geometry.imagePoint(at: point)
        stage.expect(view.zoom == 3 && isNear(pinched, before), "pinched to \(view.zoom) around \(pinched)")
        @MainActor func x() -> CGFloat { view.geometry.frame.minX }
        let start = x()
        emit("drag-begin", of: drag, [.double(100), .double(50)])
        emit("drag-update", of: drag, [.double(2), .double(0)])
        stage.expect(x() == start, "a click is not a drag")
        emit("drag-update", of: drag, [.double(20), .double(0)])
        emit("drag-update", of: drag, [.double(30), .double(0)])
        stage.expect(abs(x() - start - 30) <= 1, "dragged from \(start) to \(x())")
        emit("swipe", of: swipe, [.double(200), .double(0)])
        await stage.frames(of: view) { x() >= start + 50 }
        stage.expect(x() >= start + 50, "it goes on by itself")
        emit("drag-begin", of: drag, [.double(100), .double(50)])
        let stopped = x()
        await stage.frames(5, of: view)
        stage.expect(x() == stopped, "until it is held")
        stage.expect(emit("scroll", of: scroll, [.double(0), .double(1)]) && x() == stopped, "scrolled down")
    },
    Check(name: "zoomClosed") { stage in
        let (server, options, _) = try await stage.network()
        server.route("/large.png", .data(try Paint.png(Paint.blue, width: 1_024, height: 1_024)))
        for round in 0..<4 {
            weak var known: ZoomView?
            do {
                let view = ZoomView()
                known = view
                view.kf.setImage(with: server.url("/large.png"), options: options)
                if round == 0 { view.zoom = 3 }
                await stage.show(view, size: CGSize(width: 64 + 16 * round, height: 64))
                if round > 1 { await stage.frames(of: view) { view.image != nil } }
                view.mode = .actualSize
                if round == 3 { view.fling(velocity: CGSize(width: 5_000, height: 300)) }
            }
            stage.closeWindows()
            let other = KFCrossPlatformView()
            await stage.show(other)
            await stage.frames(of: other) { known == nil }
            stage.expect(known == nil, "the view of round \(round) is gone with its window")
        }
    },
]

extension Paint {
    /// A dot of 17 × 17 pixels around a place, on a ground.
    fileprivate static func dot(
        _ color: UInt32,
        on ground: UInt32,
        at place: (x: Int, y: Int),
        width: Int,
        height: Int
    ) -> Image {
        let bitmap = Bitmap(width: width, height: height, hasAlpha: false) { buffer, bytesPerRow in
            for y in 0..<height {
                for x in 0..<width {
                    let isDot = abs(x - place.x) <= 8 && abs(y - place.y) <= 8
                    let pixel = 0xFF00_0000 | (isDot ? color : ground)
                    buffer.storeBytes(of: pixel, toByteOffset: y * bytesPerRow + x * 4, as: UInt32.self)
                }
            }
        }
        return Image(cgImage: bitmap)
    }
}

private func isNear(_ one: CGPoint, _ other: CGPoint) -> Bool {
    abs(one.x - other.x) < 0.01 && abs(one.y - other.y) < 0.01
}

/// An argument of a signal.
private enum Argument {
    case int(Int32)
    case uint(UInt32)
    case double(Double)
    case flags(UInt32)
    case sequence

    var value: GValue {
        var value = GValue()
        switch self {
        case .int(let number):
            g_value_init(&value, GType(6 << 2))
            g_value_set_int(&value, number)
        case .uint(let number):
            g_value_init(&value, GType(7 << 2))
            g_value_set_uint(&value, number)
        case .double(let number):
            g_value_init(&value, GType(15 << 2))
            g_value_set_double(&value, number)
        case .flags(let flags):
            g_value_init(&value, gdk_modifier_type_get_type())
            g_value_set_flags(&value, flags)
        case .sequence:
            g_value_init(&value, gdk_event_sequence_get_type())
        }
        return value
    }
}

/// Emits a signal as input would; returns what its handlers return.
@MainActor
@discardableResult
private func emit(_ signal: String, of object: OpaquePointer, _ arguments: [Argument]) -> Bool {
    // GTK looks at the events of gestures, and complains that there are none.
    let fatal = g_log_set_always_fatal(GLogLevelFlags(rawValue: .init(KF_LOG_ERROR)))
    defer { g_log_set_always_fatal(fatal) }
    // An instance begins with its class, and that with its type.
    let type = UnsafePointer<UnsafePointer<GType>>(object).pointee.pointee
    var values = [GValue()] + arguments.map(\.value)
    g_value_init(&values[0], type)
    g_value_set_object(&values[0], UnsafeMutableRawPointer(object))
    var result = GValue()
    g_value_init(&result, GType(5 << 2))
    let hasResult = ["scroll", "key-pressed"].contains(signal)
    if hasResult {
        g_signal_emitv(&values, g_signal_lookup(signal, type), 0, &result)
    } else {
        g_signal_emitv(&values, g_signal_lookup(signal, type), 0, nil)
    }
    for index in values.indices { g_value_unset(&values[index]) }
    return hasResult && g_value_get_boolean(&result) != 0
}

/// The controller of a type that a view's widget has; of exactly this type, as one gesture's class may be another's.
@MainActor
private func controller(_ type: GType, of view: KFCrossPlatformView) -> OpaquePointer? {
    let widget = view.rawWidget.assumingMemoryBound(to: GtkWidget.self)
    guard let list = gtk_widget_observe_controllers(widget) else { return nil }
    defer { g_object_unref(UnsafeMutableRawPointer(list)) }
    return (0..<g_list_model_get_n_items(list)).lazy.compactMap { index -> OpaquePointer? in
        guard let item = g_list_model_get_item(list, index) else { return nil }
        g_object_unref(item)  // the widget has a reference, too
        return item.load(as: UnsafePointer<GType>.self).pointee == type ? OpaquePointer(item) : nil
    }.first
}
#endif
