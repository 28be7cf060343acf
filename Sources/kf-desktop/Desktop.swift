// The window: its contents, and the actions of its buttons.

import CKFGTK4
import Foundation
import KFDemoServer
import Kingfisher
import KingfisherGTK

/// The window of the demonstration.
@MainActor
final class Desktop {
    /// The error that ends the program, if any.
    private(set) var failure: (any Error)?

    private let loading: Loading
    private let grid: GridView
    private let detail: DetailView
    private let toolbar = Toolbar()
    private let statistics: StatisticsPanel
    private let stack: Widget = gtk_stack_new()
    private let window: KFWindow
    private var server: DemoServer?
    /// The image that is shown alone; nil while it is the grid that is shown.
    private var opened: Int?

    init(cache: ImageCache) {
        Style.apply()
        loading = Loading(cache: cache)
        grid = GridView(loading)
        detail = DetailView(loading)
        statistics = StatisticsPanel(cache)
        let spinner: Widget = gtk_spinner_new()
        gtk_spinner_start(spinner.opaque)
        gtk_widget_set_size_request(spinner, 32, 32)
        gtk_widget_set_halign(spinner, GTK_ALIGN_CENTER)
        gtk_widget_set_valign(spinner, GTK_ALIGN_CENTER)
        gtk_stack_add_named(stack.opaque, spinner, "spinner")
        gtk_stack_add_named(stack.opaque, grid.widget, "grid")
        gtk_stack_add_named(stack.opaque, detail.widget, "detail")
        gtk_stack_set_transition_type(stack.opaque, GTK_STACK_TRANSITION_TYPE_CROSSFADE)
        let content = KFWidgetView(Widget.box(GTK_ORIENTATION_VERTICAL, [stack, statistics.widget]).opaque)
        window = KFWindow(title: "Kingfisher", content: content, size: CGSize(width: 1160, height: 800))
        gtk_window_set_titlebar(UnsafeMutablePointer(window.widget), toolbar.widget)
        connect()
    }

    /// Shows the images; if a screenshot is asked for, writes it and ends the main loop.
    func run(_ command: DesktopCommand, _ addresses: [String]) async {
        window.present()
        do {
            let images = try await images(command, addresses)
            grid.show(images)
            gtk_stack_set_visible_child_name(stack.opaque, "grid")
            if let number = command.open, images.indices.contains(number - 1) { open(number - 1) }
            statistics.refreshEverySecond(server)
            guard let path = command.screenshot else { return }
            try await Screenshot(path: path).write(window) { [grid, detail] in grid.isComplete && detail.isComplete }
            KFMainLoop.quit()
        } catch is CancellationError {
        } catch {
            failure = error
            KFMainLoop.quit()
        }
    }

    private func images(_ command: DesktopCommand, _ addresses: [String]) async throws -> [GalleryImage] {
        guard addresses.isEmpty else {
            toolbar.hideSlowNetwork()
            let images = await Task.detached { GalleryImage.all(at: addresses) }.value
            guard !images.isEmpty else { throw NoImages(addresses: addresses) }
            return images
        }
        let server = try await DemoServer.start(count: command.count)
        server.isSlow = toolbar.isSlow
        self.server = server
        return server.images.map { GalleryImage(source: $0.source, title: $0.title, placeholder: $0.placeholder) }
    }

    private func connect() {
        grid.onOpen = { [weak self] in self?.open($0) }
        detail.onMove = { [weak self] in self?.move(by: $0) }
        let shown = UnsafeMutableRawPointer(window.widget)
        connectSignal("notify::fullscreened", of: shown) { [weak self] _ in
            let isFull = gtk_window_is_fullscreen(shown.assumingMemoryBound(to: GtkWindow.self)) != 0
            self?.detail.showDetails(!isFull)
        }
        toolbar.onBack = { [weak self] in self?.back() }
        toolbar.onClear = { [weak self] in
            guard let self else { return }
            Task {
                await self.loading.cache.clearCache()
                self.grid.reload()
                self.statistics.refresh()
            }
        }
        toolbar.onShortMemory = { [weak self] in
            ImageCache.handleMemoryPressureInAllCaches(.critical)
            self?.statistics.refresh()
        }
        toolbar.onSlow = { [weak self] in self?.server?.isSlow = $0 }
        toolbar.onOffline = { [weak self] isOffline in
            self?.loading.isOffline = isOffline
            self?.grid.reload()
        }
    }

    private func open(_ index: Int) {
        opened = index
        detail.show(grid.images[index], preview: grid.image(at: index))
        toolbar.showsBack = true
        gtk_stack_set_visible_child_name(stack.opaque, "detail")
        detail.focus()
    }

    private func move(by step: Int) {
        guard let opened, grid.images.indices.contains(opened + step) else { return }
        open(opened + step)
    }

    private func back() {
        guard toolbar.showsBack else { return }
        gtk_stack_set_visible_child_name(stack.opaque, "grid")
        if let opened { grid.focus(opened) }
        opened = nil
        toolbar.showsBack = false
        detail.clear()
    }
}

/// There is nothing to be shown.
struct NoImages: Error, CustomStringConvertible {
    let addresses: [String]

    var description: String {
        "There are no images in \(addresses.joined(separator: ", ")). Files in folders count whose names end as those of "
            + "images do, such as .jpg or .png."
    }
}
