// The lifetimes of widgets, views and loads.

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
        weak var weakView: ImageView?
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
        var view: ImageView? = ImageView()
        GoneWidgets.watch(view?.rawWidget)
        view?.image = Paint.plain(Paint.red)
        stage.expect(GoneWidgets.count == 0, "there while the view is")
        view = nil
        stage.expect(GoneWidgets.count == 1, "gone with the view")
    },
    Check(name: "closedWindow") { stage in
        GoneWidgets.count = 0
        var window: Window? = Window(title: "check", content: ImageView())
        GoneWidgets.watch(window.map { UnsafeMutableRawPointer($0.widget) })
        window?.present()
        window?.close()
        window?.close()
        stage.expect(GoneWidgets.count == 0, "a closed window is there while its object is")
        window = nil
        stage.expect(GoneWidgets.count == 1, "and gone with it")
    },
    Check(name: "destroyedInMidLoad") { stage in
        let (server, options, _) = try await stage.network()
        let gate = Gate()
        let data = try Paint.png(Paint.blue)
        server.route("/blue.png") { _ in
            await gate.wait()
            return .data(data)
        }
        let container = KFCrossPlatformView()
        await stage.show(container)
        GoneWidgets.count = 0
        var results = 0
        weak var weakView: ImageView?
        weak var task: DownloadTask?
        for _ in 0..<20 {
            let view = ImageView()
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
private func makeView(in overlay: OpaquePointer, _ record: (ImageView) -> Void) -> UnsafeMutablePointer<GtkWidget> {
    GoneWidgets.count = 0
    let view = ImageView()
    record(view)
    let widget = view.rawWidget.assumingMemoryBound(to: GtkWidget.self)
    GoneWidgets.watch(view.rawWidget)
    gtk_overlay_add_overlay(overlay, widget)
    return widget
}

/// The number of watched widgets that have been finalised.
@MainActor
enum GoneWidgets {
    static var count = 0

    static func watch(_ widget: UnsafeMutableRawPointer?) {
        guard let widget else { return }
        g_object_weak_ref(
            widget.assumingMemoryBound(to: GObject.self),
            { _, _ in MainActor.assumeIsolated { GoneWidgets.count += 1 } },
            nil
        )
    }
}
