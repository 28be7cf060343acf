// Nothing moves when images come: the places of everything in a window before and after.

import CKFGTK4
import Foundation
import Kingfisher
import KingfisherGTK
import KingfisherTestSupport

let layoutChecks = [
    Check(name: "gridWithoutShifts") { stage in
        for isNarrow in [true, false] {
            let network = try await ListNetwork(stage, count: 20, side: 300)
            network.gate.close()
            let options = network.options + (isNarrow ? [.sizedToView] : [])
            let grid = ImageGrid(network.sources, options)
            // Each in the middle of its cell, as large as it wants to be.
            grid.onMake = { view in
                let widget = view.rawWidget.assumingMemoryBound(to: GtkWidget.self)
                gtk_widget_set_halign(widget, GTK_ALIGN_CENTER)
                gtk_widget_set_valign(widget, GTK_ALIGN_CENTER)
                view.contentMode = .scaleAspectFit
                // In a cell that has the size instead, the view has none.
                gtk_widget_set_size_request(widget, 60, isNarrow ? 60 : -1)
                if !isNarrow { gtk_widget_set_vexpand(widget, 1) }
            }
            await stage.show(grid.view, size: CGSize(width: 320, height: 200))
            let before = Places(in: grid.view)
            network.gate.open()
            await stage.frames(of: grid.view) { grid.successes(0) == 1 && !grid.factory.isLoading }
            await stage.frames(4, of: grid.view)
            stage.expect(before.all.count > 8, "\(before.all.count) widgets")
            stage.expect(Places(in: grid.view) == before, "\(Places(in: grid.view).differences(from: before))")
            stage.closeWindows()
        }
    },
    Check(name: "sidebarWithoutShifts") { stage in
        let (server, options, _) = try await stage.network()
        let gate = Gate()
        server.route("/wide.png", try Paint.png(Paint.blue, width: 300, height: 120), behind: gate)
        server.route("/tall.png", try Paint.png(Paint.red, width: 120, height: 300), behind: gate)
        // A sidebar with a fixed size, a filled view with a size request, and a label below; content beside it.
        let (fixed, filled) = (KFCrossPlatformImageView(), KFCrossPlatformImageView())
        fixed.fixedSize = CGSize(width: 64, height: 48)
        filled.contentMode = .scaleAspectFill
        gtk_widget_set_size_request(filled.rawWidget.assumingMemoryBound(to: GtkWidget.self), 80, 40)
        let sidebar: UnsafeMutablePointer<GtkWidget> = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0)
        let row: UnsafeMutablePointer<GtkWidget> = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0)
        func append(_ child: UnsafeMutablePointer<GtkWidget>?, to box: UnsafeMutablePointer<GtkWidget>) {
            gtk_box_append(UnsafeMutableRawPointer(box).assumingMemoryBound(to: GtkBox.self), child)
        }
        for view in [fixed, filled] { append(view.rawWidget.assumingMemoryBound(to: GtkWidget.self), to: sidebar) }
        append(gtk_label_new("below"), to: sidebar)
        append(sidebar, to: row)
        append(gtk_label_new("beside"), to: row)
        let window = KFWidgetView(row)
        await stage.show(window, size: CGSize(width: 600, height: 500))
        let before = Places(in: window)
        stage.expect(before.all.first { $0.width == 64 } == nil, "the view is as wide as the sidebar")
        stage.expect(
            fixed.bounds.height == 48 && filled.bounds.size == CGSize(width: 80, height: 40),
            "\(fixed.bounds)"
        )
        var shown = 0
        for (view, path) in [(fixed, "/wide.png"), (filled, "/tall.png")] {
            let sized: KingfisherOptionsInfo = view === filled ? [.sizedToView] : []
            view.kf.setImage(with: server.url(path), options: options + sized) { _ in shown += 1 }
        }
        await stage.frames(4, of: window)
        stage.expect(Places(in: window) == before, "while images are loaded")
        gate.open()
        await stage.frames(of: window) { shown == 2 }
        await stage.frames(4, of: window)
        stage.expect(fixed.image != nil && filled.image != nil, "both are shown")
        stage.expect(Places(in: window) == before, "\(Places(in: window).differences(from: before))")
        await stage.expect(filled, is: Paint.red)
        // Without a size of its own, it is as large as its image.
        fixed.fixedSize = nil
        await stage.frames(4, of: window)
        stage.expect(fixed.bounds.size == CGSize(width: 300, height: 120), "\(fixed.bounds)")
    },
]

/// Where all widgets below a view are, in points.
@MainActor
private struct Places: Equatable {
    private(set) var all: [CGRect] = []

    init(in view: KFCrossPlatformView) {
        let root = view.rawWidget.assumingMemoryBound(to: GtkWidget.self)
        add(root, root)
    }

    private mutating func add(_ widget: UnsafeMutablePointer<GtkWidget>, _ root: UnsafeMutablePointer<GtkWidget>) {
        // A scroll bar comes and goes by itself.
        if g_type_check_instance_is_a(
            UnsafeMutableRawPointer(widget).assumingMemoryBound(to: GTypeInstance.self),
            gtk_scrollbar_get_type()
        ) != 0 {
            return
        }
        var rect = graphene_rect_t()
        if gtk_widget_get_mapped(widget) != 0, gtk_widget_compute_bounds(widget, root, &rect) != 0 {
            let (x, y) = (CGFloat(rect.origin.x), CGFloat(rect.origin.y))
            all.append(CGRect(x: x, y: y, width: CGFloat(rect.size.width), height: CGFloat(rect.size.height)))
        }
        var child = gtk_widget_get_first_child(widget)
        while let next = child {
            add(next, root)
            child = gtk_widget_get_next_sibling(next)
        }
    }

    func differences(from others: Self) -> String {
        let moved = zip(others.all, all).filter { $0 != $1 }.prefix(3).map { "\($0) is now \($1)" }
        return "\(others.all.count) and \(all.count) widgets: " + moved.joined(separator: ", ")
    }
}
