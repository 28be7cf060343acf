// The buttons at the top of the window. Their actions are in Desktop.

import CKFGTK4
import KingfisherGTK

/// A `GtkHeaderBar` with the demonstration's buttons.
@MainActor
final class Toolbar {
    let widget: Widget = gtk_header_bar_new()
    var onBack: (@MainActor () -> Void)?
    var onClear: (@MainActor () -> Void)?
    var onShortMemory: (@MainActor () -> Void)?
    var onSlow: (@MainActor (Bool) -> Void)?
    var onOffline: (@MainActor (Bool) -> Void)?

    private let back: Widget = gtk_button_new_from_icon_name("go-previous-symbolic")
    private let slow: Widget = gtk_toggle_button_new_with_label("Slow network")
    private let offline: Widget = gtk_toggle_button_new_with_label("Offline")

    init() {
        let clear: Widget = gtk_button_new_with_label("Clear cache")
        let memory: Widget = gtk_button_new_with_label("Short memory")
        for (button, tip) in [
            (back, "Back to the grid (Escape)"),
            (slow, "The server responds slowly"), (offline, "Only what the cache has"),
            (memory, "As if the desktop were short of memory"), (clear, "Remove all images, and load them again"),
        ] {
            gtk_widget_set_tooltip_text(button, tip)
        }
        back.setAccessibleName("Back")
        for button in [back, slow, offline] { gtk_header_bar_pack_start(widget.opaque, button) }
        for button in [clear, memory] { gtk_header_bar_pack_end(widget.opaque, button) }
        gtk_widget_set_visible(back, 0)
        // Wherever the focus is.
        let shortcuts = gtk_shortcut_controller_new()
        gtk_shortcut_controller_set_scope(shortcuts, GTK_SHORTCUT_SCOPE_GLOBAL)
        gtk_shortcut_controller_add_shortcut(
            shortcuts,
            gtk_shortcut_new(gtk_shortcut_trigger_parse_string("Escape|<Alt>Left"), gtk_signal_action_new("clicked"))
        )
        gtk_widget_add_controller(back, shortcuts)
        connectSignal("clicked", of: back) { [weak self] _ in self?.onBack?() }
        connectSignal("clicked", of: clear) { [weak self] _ in self?.onClear?() }
        connectSignal("clicked", of: memory) { [weak self] _ in self?.onShortMemory?() }
        connectSignal("toggled", of: slow) { [weak self] _ in self.map { $0.onSlow?($0.isSlow) } }
        connectSignal("toggled", of: offline) { [weak self] _ in self.map { $0.onOffline?(Self.isOn($0.offline)) } }
    }

    /// Whether the network is to be slow.
    var isSlow: Bool { Self.isOn(slow) }

    /// Whether the button "Back" is shown; it has the focus at first.
    var showsBack = false {
        didSet {
            gtk_widget_set_visible(back, showsBack ? 1 : 0)
            if showsBack { gtk_widget_grab_focus(back) }
        }
    }

    /// Hides the button "Slow network", for images of other servers.
    func hideSlowNetwork() { gtk_widget_set_visible(slow, 0) }

    private static func isOn(_ button: Widget) -> Bool {
        gtk_toggle_button_get_active(button.as(GtkToggleButton.self)) != 0
    }
}
