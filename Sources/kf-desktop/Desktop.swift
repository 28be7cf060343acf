// The window: its contents, and the actions of its buttons.

#if canImport(CKFGTK4)
import CKFGTK4
import Foundation
import KFDemoSupport
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
    private let actions = Actions()
    private let toolbar = Toolbar()
    private let statistics: StatisticsPanel
    private let stack: Widget = gtk_stack_new()
    private let window: KFWindow
    private var server: DemoServer?
    /// The image that is shown alone; nil while it is the grid that is shown.
    private var opened: Int? { didSet { enableActions() } }

    init(cache: ImageCache) {
        Style.apply()
        loading = Loading(cache: cache)
        grid = GridView(loading)
        detail = DetailView(loading, actions)
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
        gtk_window_set_titlebar(KFGTK.cast(window.widget, to: GtkWindow.self), toolbar.widget)
        connect()
        setActions()
    }

    /// Shows the images; if a screenshot is asked for, writes it and ends the main loop.
    func run(_ command: DesktopCommand, _ addresses: [String]) async {
        window.present()
        watchWidth()
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
        KFGTK.connect("notify::fullscreened", of: window.widget) { [weak self] _ in
            guard let self else { return }
            detail.showDetails(!isFullScreen)
            gtk_widget_set_visible(statistics.widget, isFullScreen ? 0 : 1)
        }
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

    /// Lays the window out for its width, whenever that changes.
    private func watchWidth() {
        let widget = KFGTK.cast(window.widget, to: GtkWidget.self)
        guard let native = gtk_widget_get_native(widget), let surface = gtk_native_get_surface(native) else { return }
        KFGTK.connect("layout", of: surface) { [weak self] _ in
            // In the main loop's next turn: the present layout is not to be changed while it is made.
            Task {
                let width = Int(gtk_widget_get_width(widget))
                self?.grid.fit(width)
                self?.detail.isNarrow = width < 600
            }
        }
    }

    // MARK: Actions

    private func setActions() {
        actions.connect(to: KFGTK.cast(window.widget, to: GtkWidget.self))
        actions.set(.previous) { [weak self] in self?.opened.map { self?.open($0 - 1) } }
        actions.set(.next) { [weak self] in self?.opened.map { self?.open($0 + 1) } }
        actions.set(.first) { [weak self] in self?.open(0) }
        actions.set(.last) { [weak self] in self.map { $0.open($0.grid.images.count - 1) } }
        actions.set(.back) { [weak self] in self?.back() }
        actions.set(.leave) { [weak self] in self?.leave() }
        actions.set(.fullScreen) { [weak self] in self.map { $0.isFullScreen.toggle() } }
        actions.set(.close) { [weak self] in self?.window.close() }
        enableActions()
    }

    private func enableActions() {
        for action in [Action.first, .last, .back] { actions.enable(action, opened != nil) }
        actions.enable(.previous, opened.map { $0 > 0 } ?? false)
        actions.enable(.next, opened.map { $0 < grid.images.count - 1 } ?? false)
    }

    private var isFullScreen: Bool {
        get { gtk_window_is_fullscreen(KFGTK.cast(window.widget, to: GtkWindow.self)) != 0 }
        set {
            let window = KFGTK.cast(window.widget, to: GtkWindow.self)
            if newValue { gtk_window_fullscreen(window) } else { gtk_window_unfullscreen(window) }
        }
    }

    private func open(_ index: Int) {
        opened = index
        detail.show(grid.images[index], preview: grid.image(at: index))
        toolbar.showBack(true)
        gtk_stack_set_visible_child_name(stack.opaque, "detail")
        detail.focus()
    }

    /// Leaves full screen, and then the image.
    private func leave() {
        if isFullScreen { isFullScreen = false } else { back() }
    }

    private func back() {
        guard let index = opened else { return }
        gtk_stack_set_visible_child_name(stack.opaque, "grid")
        grid.focus(index)
        opened = nil
        toolbar.showBack(false)
        detail.clear()
    }
}

/// There is nothing to be shown.
struct NoImages: LocalizedError {
    let addresses: [String]

    var errorDescription: String? {
        "There are no images in \(addresses.joined(separator: ", ")). Files in folders count whose names end as those of "
            + "images do, such as .jpg or .png."
    }
}
#endif
