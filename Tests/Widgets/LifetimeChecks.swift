// The lifetimes of widgets, views and loads.

#if canImport(CKFGTK4)
import CKFGTK
import CKFGTK4
import Foundation
import KFImaging
import Kingfisher
import KingfisherGTK
import KingfisherTestSupport

let lifetimeChecks = [
    Check(name: "widgetKeepsItsView") { stage in
        let container = KFCrossPlatformView()
        await stage.show(container)
        weak var weakView: KFCrossPlatformImageView?
        let overlay = container.widget
        let widget = makeView(in: overlay) { weakView = $0 }
        stage.expect(weakView != nil, "the widget keeps the view that nothing else keeps")
        weakView?.image = Paint.plain(Paint.red)
        gtk_overlay_remove_overlay(overlay, widget)
        stage.expect(weakView == nil, "without its container it is gone")
        stage.expect(GoneWidgets.count == 1, "and the widget, too")
    },
    Check(name: "viewKeepsItsWidget") { stage in
        GoneWidgets.count = 0
        var view: KFCrossPlatformImageView? = KFCrossPlatformImageView()
        GoneWidgets.watch(view?.rawWidget)
        view?.image = Paint.plain(Paint.red)
        stage.expect(GoneWidgets.count == 0, "there while the view is")
        view = nil
        stage.expect(GoneWidgets.count == 1, "gone with the view")
    },
    Check(name: "closedWindow") { stage in
        GoneWidgets.count = 0
        var window: KFWindow? = KFWindow(title: "check", content: KFCrossPlatformImageView())
        GoneWidgets.watch(window.map { UnsafeMutableRawPointer($0.widget) })
        var closings = 0
        window?.onClose = { closings += 1 }
        window?.present()
        window?.close()
        window?.close()
        window?.present()
        stage.expect(closings == 1, "closed \(closings) times")
        stage.expect(GoneWidgets.count == 0, "a closed window is there while its object is")
        window = nil
        stage.expect(GoneWidgets.count == 1, "and gone with it")
    },
    Check(name: "oneOfTwoWindows") { stage in
        let view = KFCrossPlatformView()
        await stage.show(view)
        weak var weakWindow: KFWindow?
        var isClosed = false
        for hasHandler in [false, true] {
            let window = KFWindow(title: "other", content: KFCrossPlatformView())
            if hasHandler { window.onClose = { isClosed = true } }
            window.present()
            weakWindow = window
        }
        stage.expect(weakWindow != nil, "a window keeps its object")
        for window in Toplevels.titled("other") { gtk_window_close(window) }
        // The check would not come to an end if that had ended the main loop.
        await stage.frames(of: view)
        stage.expect(isClosed && weakWindow == nil, "the user has closed the window, and its object is gone")
        stage.expect(view.isOnScreen, "the window before is there")
    },
    Check(name: "signals") { stage in
        let widget: UnsafeMutablePointer<GtkWidget> = gtk_button_new()
        g_object_ref_sink(UnsafeMutableRawPointer(widget))
        defer { g_object_unref(UnsafeMutableRawPointer(widget)) }
        weak var kept: Gate?
        var (flags, notifications) = ([UInt32](), 0)
        KFGTK.connect("notify::sensitive", of: widget) { _ in notifications += 1 }
        let handler = { (gate: Gate) in
            kept = gate
            return KFGTK.connect("state-flags-changed", of: widget) { argument in
                gate.open()
                flags.append(UInt32(truncatingIfNeeded: argument))
            }
        }(Gate())
        for isSensitive: gboolean in [0, 1, 0] {
            gtk_widget_set_sensitive(widget, isSensitive)
            if isSensitive == 1 { KFGTK.disconnect(handler, of: OpaquePointer(widget)) }
        }
        // The argument is the flags before.
        let insensitive = flags.map { Int($0) & KF_STATE_INSENSITIVE != 0 }
        stage.expect(insensitive == [false, true], "\(flags)")
        stage.expect(notifications == 3, "\(notifications) of 3 notifications")
        stage.expect(kept == nil, "a disconnected block is released")
    },
    Check(name: "destroyedInMidLoad") { stage in
        let (server, options, _) = try await stage.network()
        let gate = Gate()
        server.route("/blue.png", try Paint.png(Paint.blue), behind: gate)
        let container = KFCrossPlatformView()
        await stage.show(container)
        GoneWidgets.count = 0
        var results = 0
        weak var weakView: KFCrossPlatformImageView?
        weak var task: DownloadTask?
        for _ in 0..<20 {
            let view = KFCrossPlatformImageView()
            weakView = view
            view.kf.indicatorType = .activity
            container.addSubview(view)
            GoneWidgets.watch(view.rawWidget)
            task = view.kf.setImage(with: server.url("/blue.png"), options: options) { result in
                if case .failure(let error) = result, error.isNotCurrentTask { results += 1 }
            }
            await stage.frames(1, of: container)
            view.removeFromSuperview()
        }
        stage.expect(GoneWidgets.count >= 19, "\(GoneWidgets.count) of 20 widgets are gone during their loads")
        gate.open()
        await stage.frames(of: container) { results == 20 && task == nil }
        stage.expect(results == 20, "\(results) of 20 handlers were called")
        stage.expect(weakView == nil && GoneWidgets.count == 20, "\(GoneWidgets.count) of 20 widgets are gone")
        stage.expect(task == nil, "no task is left")
    },
]

/// Puts a view into an overlay and releases it.
@MainActor
private func makeView(
    in overlay: OpaquePointer,
    _ record: (KFCrossPlatformImageView) -> Void
) -> UnsafeMutablePointer<GtkWidget> {
    GoneWidgets.count = 0
    let view = KFCrossPlatformImageView()
    record(view)
    let widget = view.rawWidget.assumingMemoryBound(to: GtkWidget.self)
    GoneWidgets.watch(view.rawWidget)
    gtk_overlay_add_overlay(overlay, widget)
    return widget
}

/// The windows of the program.
@MainActor
private enum Toplevels {
    static func titled(_ title: String) -> [UnsafeMutablePointer<GtkWindow>] {
        guard let list = gtk_window_get_toplevels() else { return [] }
        return (0..<g_list_model_get_n_items(list)).compactMap { index in
            guard let item = g_list_model_get_item(list, index) else { return nil }
            g_object_unref(item)  // the list has a reference, too
            let window = item.assumingMemoryBound(to: GtkWindow.self)
            return gtk_window_get_title(window).map { String(cString: $0) } == title ? window : nil
        }
    }
}

/// The number of watched widgets that have been finalised.
@MainActor
enum GoneWidgets {
    static var count = 0

    static func watch(_ widget: UnsafeMutableRawPointer?) {
        guard let widget else { return }
        // Weak references are notified before, when a widget is disposed of.
        g_object_set_data_full(
            widget.assumingMemoryBound(to: GObject.self),
            "kf-watched",
            widget,
            { _ in MainActor.assumeIsolated { GoneWidgets.count += 1 } }
        )
    }
}
#endif
