// The top of the window: the way back, and a menu. Their actions are in Desktop.

#if canImport(CKFGTK4)
import CKFGTK4
import KingfisherGTK

/// A `GtkHeaderBar` with the demonstration's buttons.
@MainActor
final class Toolbar {
    let widget: Widget = gtk_header_bar_new()
    var onClear: (@MainActor () -> Void)?
    var onShortMemory: (@MainActor () -> Void)?
    var onSlow: (@MainActor (Bool) -> Void)?
    var onOffline: (@MainActor (Bool) -> Void)?

    private let back = Widget.button(icon: "go-previous-symbolic", name: "Back to the grid (Escape)", .back)
    private let menu: Widget = gtk_popover_new()
    private let slow: Widget = gtk_check_button_new_with_label("Slow network")
    private let offline: Widget = gtk_check_button_new_with_label("Offline")

    init() {
        let clear: Widget = gtk_button_new_with_label("Clear cache")
        let memory: Widget = gtk_button_new_with_label("Short memory")
        for (item, tip) in [
            (slow, "The server responds slowly"), (offline, "Only what the cache has"),
            (memory, "As if the desktop were short of memory"), (clear, "Remove all images, and load them again"),
        ] {
            gtk_widget_set_tooltip_text(item, tip)
        }
        let items = Widget.box(GTK_ORIENTATION_VERTICAL, [slow, offline, memory, clear])
        gtk_widget_add_css_class(items, "menu")
        gtk_popover_set_child(KFGTK.cast(menu, to: GtkPopover.self), items)
        let opener: Widget = gtk_menu_button_new()
        gtk_menu_button_set_icon_name(opener.opaque, "open-menu-symbolic")
        gtk_menu_button_set_popover(opener.opaque, menu)
        gtk_widget_set_tooltip_text(opener, "Menu")
        KFGTK.setAccessibleName("Menu", of: opener)
        gtk_header_bar_pack_start(widget.opaque, back)
        gtk_header_bar_pack_end(widget.opaque, opener)
        gtk_widget_set_visible(back, 0)
        KFGTK.connect("clicked", of: clear) { [weak self] _ in self?.choose { $0.onClear?() } }
        KFGTK.connect("clicked", of: memory) { [weak self] _ in self?.choose { $0.onShortMemory?() } }
        KFGTK.connect("toggled", of: slow) { [weak self] _ in self.map { $0.onSlow?($0.isSlow) } }
        KFGTK.connect("toggled", of: offline) { [weak self] _ in self.map { $0.onOffline?(Self.isOn($0.offline)) } }
    }

    /// Whether the network is to be slow.
    var isSlow: Bool { Self.isOn(slow) }

    /// Shows the button "Back", or hides it.
    func showBack(_ isShown: Bool) { gtk_widget_set_visible(back, isShown ? 1 : 0) }

    /// Hides the item "Slow network", for images of other servers.
    func hideSlowNetwork() { gtk_widget_set_visible(slow, 0) }

    private func choose(_ action: (Toolbar) -> Void) {
        gtk_popover_popdown(KFGTK.cast(menu, to: GtkPopover.self))
        action(self)
    }

    private static func isOn(_ button: Widget) -> Bool {
        gtk_check_button_get_active(KFGTK.cast(button, to: GtkCheckButton.self)) != 0
    }
}
#endif
