// Nothing moves when images come: the places of everything in a window before and after.

#if canImport(CKFGTK4)
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
            let shown = grid.views.filter(\.isOnScreen)
            let before = Places(of: shown, in: grid.view)
            network.gate.open()
            await stage.frames(of: grid.view) { grid.successes(0) == 1 && !grid.factory.isLoading }
            await stage.frames(4, of: grid.view)
            let after = Places(of: shown, in: grid.view)
            stage.expect(shown.count >= 4 && after == before, "\(after.differences(from: before))")
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
        @MainActor func label(_ text: String) -> KFWidgetView {
            let widget: UnsafeMutablePointer<GtkWidget> = gtk_label_new(text)
            return KFWidgetView(UnsafeMutableRawPointer(widget))
        }
        @MainActor func append(_ child: KFCrossPlatformView, to box: UnsafeMutablePointer<GtkWidget>) {
            gtk_box_append(.init(OpaquePointer(box)), .init(child.widget))
        }
        for view in [fixed, filled] { append(view, to: sidebar) }
        let (below, beside) = (label("below"), label("beside"))
        append(below, to: sidebar)
        gtk_box_append(.init(OpaquePointer(row)), sidebar)
        append(beside, to: row)
        let window = KFWidgetView(row)
        await stage.show(window, size: CGSize(width: 600, height: 500))
        @MainActor func places() -> Places { Places(of: [fixed, filled, below, beside], in: window) }
        let before = places()
        let sizes = before.all.map(\.size)
        stage.expect(sizes[0].height == 48 && sizes[1] == CGSize(width: 80, height: 40), "\(sizes)")
        var shown = 0
        for (view, path) in [(fixed, "/wide.png"), (filled, "/tall.png")] {
            let sized: KingfisherOptionsInfo = view === filled ? [.sizedToView] : []
            view.kf.setImage(with: server.url(path), options: options + sized) { _ in shown += 1 }
        }
        await stage.frames(4, of: window)
        stage.expect(places() == before, "while images are loaded")
        gate.open()
        await stage.frames(of: window) { shown == 2 }
        await stage.frames(4, of: window)
        stage.expect(fixed.image != nil && filled.image != nil, "both are shown")
        stage.expect(places() == before, "\(places().differences(from: before))")
        await stage.expect(filled, is: Paint.red)
        // Without a size of its own, it wants to be as large as its image.
        @MainActor func naturalWidth() -> Int32 {
            var width: Int32 = 0
            gtk_widget_measure(.init(fixed.widget), GTK_ORIENTATION_HORIZONTAL, -1, nil, &width, nil, nil)
            return width
        }
        stage.expect(naturalWidth() == 64 && fixed.fixedSize?.width == 64, "\(naturalWidth()) points")
        fixed.fixedSize = nil
        stage.expect(naturalWidth() == 300, "\(naturalWidth()) points")
        // Neither if the image is loaded for the size of the view.
        fixed.kf.setImage(with: server.url("/wide.png"), options: options + [.sizedToView]) { _ in shown += 1 }
        await stage.frames(of: window) { shown == 3 }
        stage.expect(fixed.image != nil && naturalWidth() <= 1, "\(naturalWidth()) points with sizedToView")
    },
]

/// Where views are in another, in points.
@MainActor
private struct Places: Equatable {
    let all: [CGRect]

    init(of views: [KFCrossPlatformView], in root: KFCrossPlatformView) {
        all = views.map { view in
            var rect = graphene_rect_t()
            guard gtk_widget_compute_bounds(.init(view.widget), .init(root.widget), &rect) != 0 else { return .null }
            let (x, y) = (CGFloat(rect.origin.x), CGFloat(rect.origin.y))
            return CGRect(x: x, y: y, width: CGFloat(rect.size.width), height: CGFloat(rect.size.height))
        }
    }

    func differences(from others: Self) -> String {
        let moved = zip(others.all, all).filter { $0 != $1 }.prefix(3).map { "\($0) is now \($1)" }
        return "\(all.count) views: " + moved.joined(separator: ", ")
    }
}
#endif
