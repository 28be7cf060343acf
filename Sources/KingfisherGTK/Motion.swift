// Whether the user of the desktop wants motion. For renderers of images, and for paintables.

#if canImport(CKFGTK4)
import CKFGTK4

/// Follows the setting `gtk-enable-animations`, which desktops turn off for reduced motion.
@MainActor
final class Motion {
    private var handler: UInt = 0

    /// Whether transitions and animations are wanted.
    static var isWanted: Bool {
        guard let settings else { return true }
        var value = GValue()
        g_value_init(&value, GType(5 << 2))  // a boolean
        g_object_get_property(settings.assumingMemoryBound(to: GObject.self), "gtk-enable-animations", &value)
        return g_value_get_boolean(&value) != 0
    }

    private static var settings: UnsafeMutableRawPointer? {
        gtk_settings_get_default().map { UnsafeMutableRawPointer($0) }
    }

    /// Calls a block whenever the setting has changed, as long as this object is there.
    init(onChange: @escaping @MainActor () -> Void) {
        guard let settings = Self.settings else { return }
        handler = KFGTK.connect("notify::gtk-enable-animations", of: settings) { _ in onChange() }
    }

    isolated deinit {
        guard handler != 0, let settings = Self.settings else { return }
        KFGTK.disconnect(handler, of: settings)
    }
}
#endif
