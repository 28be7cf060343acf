// The properties of GObjects as Swift's values, without a GValue at each call. For programs.

#if canImport(CKFGTK4)
import CKFGTK4

/// The properties of a GObject, by name. (Not in Kingfisher.)
///
///     let settings = KFProperties(of: gtk_settings_get_default())
///     settings["gtk-enable-animations"] = false
///     let theme: String? = settings["gtk-theme-name"]
///
/// A property is read as the type that is asked for: GLib converts between numbers, and from an enumeration to an
/// `Int`. One that the object does not have, or that cannot be converted, is reported by GLib on standard error, and
/// read as false, 0 or nil. On the main thread, while the object is there: it is not kept.
@MainActor
public struct KFProperties {
    private let object: UnsafeMutablePointer<GObject>

    /// The properties of an object.
    ///
    /// - Parameter object: A `GObject *`.
    public init(of object: UnsafeMutableRawPointer) { self.object = KFGTK.cast(object, to: GObject.self) }

    /// The properties of an object.
    ///
    /// - Parameter object: A `GObject *`.
    public init(of object: OpaquePointer) { self.object = KFGTK.cast(object, to: GObject.self) }

    /// A property that is true or false.
    public subscript(name: String) -> Bool {
        get { read(name, .boolean) { g_value_get_boolean($0) != 0 } }
        nonmutating set { write(name, .boolean) { g_value_set_boolean($0, newValue ? 1 : 0) } }
    }

    /// A property that is a whole number, or a value of an enumeration.
    public subscript(name: String) -> Int {
        get { read(name, .int64) { Int(g_value_get_int64($0)) } }
        nonmutating set { write(name, .int64) { g_value_set_int64($0, gint64(newValue)) } }
    }

    /// A property that is a floating-point number.
    public subscript(name: String) -> Double {
        get { read(name, .double) { g_value_get_double($0) } }
        nonmutating set { write(name, .double) { g_value_set_double($0, newValue) } }
    }

    /// A property that is a text; nil for none.
    public subscript(name: String) -> String? {
        get { read(name, .string) { value in g_value_get_string(value).map { String(cString: $0) } } }
        nonmutating set { write(name, .string) { g_value_set_string($0, newValue) } }
    }

    /// The types of GLib that are used, by their numbers: GLib's names for them are macros.
    private enum Fundamental: GType {
        case boolean = 5
        case int64 = 10
        case double = 15
        case string = 16
    }

    private func read<Value>(_ name: String, _ type: Fundamental, _ get: (UnsafePointer<GValue>) -> Value) -> Value {
        var value = GValue()
        g_value_init(&value, type.rawValue << 2)
        defer { g_value_unset(&value) }
        g_object_get_property(object, name, &value)
        return get(&value)
    }

    private func write(_ name: String, _ type: Fundamental, _ set: (UnsafeMutablePointer<GValue>) -> Void) {
        var value = GValue()
        g_value_init(&value, type.rawValue << 2)
        defer { g_value_unset(&value) }
        set(&value)
        g_object_set_property(object, name, &value)
    }
}
#endif
