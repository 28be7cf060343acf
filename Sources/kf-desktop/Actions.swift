// What the keys and buttons of the window do, by name. Desktop and DetailActions say how.

#if canImport(CKFGTK4)
import CKFGTK4
import KingfisherGTK

/// Something to be done in the window; its keys are those of GNOME's image viewer.
enum Action: String, CaseIterable {
    case previous, next, first, last
    case zoomIn, zoomOut, wholeImage, actualSize
    case panLeft, panRight, panUp, panDown
    case copy, save, back, leave, fullScreen, close

    /// In the words of GTK.
    fileprivate var keys: String {
        switch self {
        case .previous: "Left|Page_Up"
        case .next: "Right|Page_Down"
        case .first: "Home"
        case .last: "End"
        case .zoomIn: "plus|equal|KP_Add|<Control>plus|<Control>equal|<Control>KP_Add"
        case .zoomOut: "minus|KP_Subtract|<Control>minus|<Control>KP_Subtract"
        case .wholeImage: "0|KP_0|<Control>0|<Control>KP_0"
        case .actualSize: "1|KP_1|<Control>1|<Control>KP_1"
        case .panLeft: "<Control>Left"
        case .panRight: "<Control>Right"
        case .panUp: "<Control>Up"
        case .panDown: "<Control>Down"
        case .copy: "<Control>c"
        case .save: "<Control>s"
        case .back: "<Alt>Left"
        case .leave: "Escape"
        case .fullScreen: "F11"
        case .close: "<Control>w|<Control>q"
        }
    }

    /// Whether the keys count before those of the widget that has the focus: a zoomed image would be moved by arrow
    /// keys.
    fileprivate var isBeforeFocus: Bool { [.previous, .next].contains(self) }

    /// The name of the action for buttons of the window.
    var name: String { "window.\(rawValue)" }
}

/// The actions of a window, as GTK has them: an action that is disabled leaves its keys to others, and its buttons do
/// not react.
@MainActor
final class Actions {
    private let group: OpaquePointer = OpaquePointer(g_simple_action_group_new())
    private var actions: [Action: OpaquePointer] = [:]

    isolated deinit { g_object_unref(UnsafeMutableRawPointer(group)) }

    /// Has the keys in a window, and the buttons in it, activate the actions.
    func connect(to window: Widget) {
        gtk_widget_insert_action_group(window, "window", group)
        for phase in [GTK_PHASE_CAPTURE, GTK_PHASE_BUBBLE] {
            let keys: OpaquePointer = gtk_shortcut_controller_new()
            gtk_event_controller_set_propagation_phase(keys, phase)
            for action in Action.allCases where action.isBeforeFocus == (phase == GTK_PHASE_CAPTURE) {
                let trigger = gtk_shortcut_trigger_parse_string(action.keys)
                gtk_shortcut_controller_add_shortcut(keys, gtk_shortcut_new(trigger, gtk_named_action_new(action.name)))
            }
            gtk_widget_add_controller(window, keys)
        }
    }

    /// Says what an action does, and enables it.
    func set(_ action: Action, _ block: @escaping @MainActor () -> Void) {
        guard let object = g_simple_action_new(action.rawValue, nil) else { return }
        KFGTK.connect("activate", of: object) { _ in block() }
        g_action_map_add_action(group, object)
        g_object_unref(UnsafeMutableRawPointer(object))
        actions[action] = object
    }

    /// Enables an action, or disables it.
    func enable(_ action: Action, _ isEnabled: Bool) {
        if let object = actions[action] { g_simple_action_set_enabled(object, isEnabled ? 1 : 0) }
    }
}
#endif
