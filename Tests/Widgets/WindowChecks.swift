// Every way in which a window ends: what was in it is released, whatever closes it.

#if canImport(CKFGTK4)
import CKFGTK4
import Foundation
import Kingfisher
import KingfisherGTK
import KingfisherTestSupport

let windowChecks = WindowEnd.allCases.map { end in
    Check(name: "window-\(end.rawValue)") { stage in
        let network = try await ListNetwork(stage, count: 8)
        let clock = KFCrossPlatformView()
        await stage.show(clock)
        GoneWidgets.count = 0
        let windows = WindowsWithLists(network, end)
        for number in 0..<WindowsWithLists.count {
            windows.open()
            if end.isShown { await stage.frames(of: clock) { windows.results >= number + 1 } }
            windows.end()
            await stage.frames(1, of: clock)
        }
        await stage.frames(of: clock) { windows.left == 0 && GoneWidgets.count == WindowsWithLists.count }
        stage.expect(windows.made > 8 * WindowsWithLists.count || !end.isShown, "\(windows.made) views")
        stage.expect(windows.left == 0, "\(windows.left) of \(windows.made) views and windows are left")
        stage.expect(GoneWidgets.count == WindowsWithLists.count, "\(GoneWidgets.count) windows are gone")
        let expected = end.isShown ? WindowsWithLists.count : 0
        stage.expect(windows.closings == expected, "\(windows.closings) closings")
        stage.expect(clock.isOnScreen, "another window stays")
    }
}

/// How a window ends.
enum WindowEnd: String, CaseIterable {
    /// By `close()`, while the program has its object.
    case closed
    case destroyed
    case destroyedWithParent
    case closedWithParent
    /// As the window manager asks for it.
    case closedByUser
    case neverShown

    var isShown: Bool { self != .neverShown }
}

/// Windows with a list and a zoomed image in each, one after the other.
@MainActor
private final class WindowsWithLists {
    /// `KF_WINDOWS=200` opens more.
    static let count = Int(ProcessInfo.processInfo.environment["KF_WINDOWS"] ?? "") ?? 4

    private let network: ListNetwork
    private let way: WindowEnd
    private var views: [Weak] = []
    private var current: KFWindow?
    private var parent: UnsafeMutablePointer<GtkWindow>?
    private var parentWindow: KFWindow?
    /// What the functions of the list need.
    private var grid: ImageGrid?
    private(set) var results = 0
    private(set) var closings = 0

    private struct Weak { weak var object: AnyObject? }

    init(_ network: ListNetwork, _ end: WindowEnd) { (self.network, way) = (network, end) }

    /// How many views and windows were made, and how many are left.
    var made: Int { views.count }
    var left: Int { views.count { $0.object != nil } }

    func open() {
        let content: UnsafeMutablePointer<GtkWidget> = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0)
        let grid = ImageGrid(network.sources, network.options)
        grid.onMake = { [weak self] in self?.views.append(Weak(object: $0)) }
        var isFirst = true
        grid.factory.onResult = { [weak self] _, _, _ in
            self?.results += isFirst ? 1 : 0
            isFirst = false
        }
        let zoom = ZoomView()
        zoom.kf.setImage(with: network.sources[0], options: network.options)
        for view in [grid.view, zoom] as [KFCrossPlatformView] {
            let widget = view.rawWidget.assumingMemoryBound(to: GtkWidget.self)
            gtk_widget_set_vexpand(widget, 1)
            gtk_box_append(UnsafeMutableRawPointer(content).assumingMemoryBound(to: GtkBox.self), widget)
        }
        let window = KFWindow(title: "closing", content: KFWidgetView(content), size: CGSize(width: 220, height: 300))
        window.onClose = { [weak self] in self?.closings += 1 }
        views += ([grid.view, grid, zoom, window] as [AnyObject]).map { Weak(object: $0) }
        GoneWidgets.watch(UnsafeMutableRawPointer(window.widget))
        setParent(of: UnsafeMutablePointer(window.widget))
        if way.isShown { window.present() }
        (current, self.grid) = (window, grid)
    }

    private func setParent(of window: UnsafeMutablePointer<GtkWindow>) {
        switch way {
        case .destroyedWithParent: parent = UnsafeMutablePointer(OpaquePointer(gtk_window_new()))
        case .closedWithParent:
            let window = KFWindow(title: "parent", content: KFCrossPlatformView())
            window.onClose = {}
            (parentWindow, parent) = (window, UnsafeMutablePointer(window.widget))
        case .closed, .destroyed, .closedByUser, .neverShown: return
        }
        gtk_window_present(parent)
        gtk_window_set_transient_for(window, parent)
        gtk_window_set_destroy_with_parent(window, 1)
    }

    func end() {
        let window = current.map { UnsafeMutablePointer<GtkWindow>($0.widget) }
        grid = nil
        // By `close()`, all is released but the object itself, which the program may keep.
        if way != .closed { current = nil }
        switch way {
        case .closed: current?.close()
        case .destroyed: gtk_window_destroy(window)
        case .destroyedWithParent: gtk_window_destroy(parent)
        case .closedWithParent: parentWindow?.close()
        case .closedByUser: gtk_window_close(window)
        case .neverShown: break
        }
        current = nil
    }
}
#endif
