// Prints what a screen reader finds in a window of views: it asks as one does, over the bus for accessibility.

#if canImport(CKFGTK4)
import CKFGTK
import CKFGTK4
import Foundation
import Kingfisher
import KingfisherGTK

/// A window with images of every kind.
@MainActor
enum AccessibleWindow {
    /// Shows the window, prints the role and the name of everything in it, and ends the program.
    static func run() {
        let content: UnsafeMutablePointer<GtkWidget> = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0)
        let (named, decorative) = (KFCrossPlatformImageView(), KFCrossPlatformImageView())
        let button = KFCrossPlatformButton()
        (named.accessibilityLabel, button.accessibilityLabel) = ("a cat", "a bird")
        (decorative.accessibilityLabel, decorative.isDecorative) = ("a flourish", true)
        for view in [named, decorative, button] as [KFCrossPlatformView] {
            gtk_box_append(
                UnsafeMutableRawPointer(content).assumingMemoryBound(to: GtkBox.self),
                view.rawWidget.assumingMemoryBound(to: GtkWidget.self)
            )
        }
        gtk_box_append(UnsafeMutableRawPointer(content).assumingMemoryBound(to: GtkBox.self), list())
        KFWindow(title: "names", content: KFWidgetView(content)).present()
        // The main thread answers.
        let reader = Thread {
            for line in AccessibleTree.lines(until: "image: row 1") { print(line) }
            fflush(nil)
            exit(0)
        }
        reader.start()
        KFMainLoop.run()
    }

    private static var views: [Int: KFCrossPlatformImageView] = [:]

    /// A list of two rows, whose views are named when they are bound.
    private static func list() -> UnsafeMutablePointer<GtkWidget> {
        let strings = gtk_string_list_new(nil)
        for _ in 0..<2 { gtk_string_list_append(strings, "") }
        let factory: OpaquePointer = gtk_signal_list_item_factory_new()
        let object = UnsafeMutableRawPointer(factory)
        KFGTK.connect("setup", of: object) { item in
            let view = KFCrossPlatformImageView()
            views[item] = view
            let widget = view.rawWidget.assumingMemoryBound(to: GtkWidget.self)
            gtk_widget_set_size_request(widget, 20, 20)
            gtk_list_item_set_child(OpaquePointer(bitPattern: item), widget)
        }
        KFGTK.connect("bind", of: object) { item in
            let position = gtk_list_item_get_position(OpaquePointer(bitPattern: item))
            views[item]?.accessibilityLabel = "row \(position)"
        }
        return gtk_list_view_new(gtk_no_selection_new(strings), factory)
    }
}

/// Another program, and what a screen reader finds in its window.
enum AccessibleProgram {
    /// Starts a program, prints the role and the name of everything in its window once a line is among them, and ends
    /// it.
    static func run(_ command: ArraySlice<String>, until line: String) throws {
        let program = Process()
        program.executableURL = command.first.map { URL(fileURLWithPath: $0) }
        program.arguments = Array(command.dropFirst())
        try program.run()
        for line in AccessibleTree.lines(until: line) { print(line) }
        program.terminate()
        program.waitUntilExit()
    }
}

/// The tree of what the programs of a session show, as the accessibility bus has it.
///
/// To be read on another thread than the main one.
private struct AccessibleTree {
    private static let interface = "org.a11y.atspi.Accessible"
    let bus: OpaquePointer

    /// A line for everything in the tree, its role and its name, once a line is among them; or after a minute.
    static func lines(until line: String) -> [String] {
        guard let session = g_bus_get_sync(G_BUS_TYPE_SESSION, nil, nil),
            let reply = Self(bus: session).call(("org.a11y.Bus", "/org/a11y/bus"), "org.a11y.Bus", "GetAddress"),
            let address = g_variant_get_string(reply.child(0), nil)
        else { return ["There is no bus for accessibility."] }
        let flags = KF_DBUS_AUTHENTICATION_CLIENT | KF_DBUS_MESSAGE_BUS_CONNECTION
        let connection = g_dbus_connection_new_for_address_sync(
            address,
            GDBusConnectionFlags(rawValue: .init(flags)),
            nil,
            nil,
            nil
        )
        guard let connection else { return ["The bus for accessibility does not answer."] }
        let tree = Self(bus: connection)
        let root = ("org.a11y.atspi.Registry", "/org/a11y/atspi/accessible/root")
        // The window registers itself some time after it is shown.
        for _ in 0..<600 {
            let lines = tree.children(of: root).flatMap { tree.lines(of: $0) }
            if lines.contains(line) { return lines }
            usleep(100_000)
        }
        return tree.children(of: root).flatMap { tree.lines(of: $0) }
    }

    private func lines(of object: (String, String)) -> [String] {
        let role = call(object, Self.interface, "GetRoleName").flatMap { g_variant_get_string($0.child(0), nil) }
        let arguments = [g_variant_new_string(Self.interface), g_variant_new_string("Name")]
        let name = call(object, "org.freedesktop.DBus.Properties", "Get", arguments)
            .flatMap { g_variant_get_string(g_variant_get_variant($0.child(0)), nil) }
        let line = "\(role.map { String(cString: $0) } ?? "?"): \(name.map { String(cString: $0) } ?? "?")"
        return [line] + children(of: object).flatMap { lines(of: $0) }
    }

    private func children(of object: (String, String)) -> [(String, String)] {
        guard let list = call(object, Self.interface, "GetChildren")?.child(0) else { return [] }
        return (0..<g_variant_n_children(list)).compactMap { index in
            let child = g_variant_get_child_value(list, index)
            guard let child, let name = g_variant_get_string(child.child(0), nil),
                let path = g_variant_get_string(child.child(1), nil)
            else { return nil }
            return (String(cString: name), String(cString: path))
        }
    }

    private func call(
        _ object: (name: String, path: String),
        _ interface: String,
        _ method: String,
        _ arguments: [OpaquePointer?] = []
    ) -> OpaquePointer? {
        var arguments = arguments
        let parameters = g_variant_new_tuple(&arguments, gsize(arguments.count))
        return g_dbus_connection_call_sync(
            bus,
            object.name,
            object.path,
            interface,
            method,
            parameters,
            nil,
            GDBusCallFlags(rawValue: 0),
            5_000,
            nil,
            nil
        )
    }
}

extension OpaquePointer {
    /// One of the values in a `GVariant *`.
    fileprivate func child(_ index: gsize) -> OpaquePointer? { g_variant_get_child_value(self, index) }
}
#endif
