// GTK's pointers in Swift: casts between its classes, and names for screen readers. For programs.

#if canImport(CKFGTK4)
import CKFGTK
import CKFGTK4

extension KFGTK {
    /// The pointer for functions of a class whose structure is public:
    /// `gtk_box_append(KFGTK.cast(box, to: GtkBox.self), child)`.
    ///
    /// Not checked, as no cast of C is: the object has to be of that class.
    public static func cast<Other, Class>(
        _ object: UnsafeMutablePointer<Other>,
        to _: Class.Type
    ) -> UnsafeMutablePointer<Class> {
        cast(UnsafeMutableRawPointer(object), to: Class.self)
    }

    /// The same for `rawWidget` and other pointers without a class.
    public static func cast<Class>(_ object: UnsafeMutableRawPointer, to _: Class.Type) -> UnsafeMutablePointer<Class> {
        object.assumingMemoryBound(to: Class.self)
    }

    /// The same for opaque pointers, as of bindings.
    public static func cast<Class>(_ object: OpaquePointer, to _: Class.Type) -> UnsafeMutablePointer<Class> {
        UnsafeMutablePointer(object)
    }

    /// Sets the text that a screen reader reads aloud for a widget; for views there is `accessibilityLabel`.
    ///
    /// - Parameters:
    ///   - name: The text; nil leaves it to GTK.
    ///   - widget: A `GtkWidget *`. On the main thread.
    @MainActor
    public static func setAccessibleName(_ name: String?, of widget: UnsafeMutableRawPointer) {
        kf_set_accessible_label(KFGTK.cast(widget, to: GtkWidget.self), name)
    }

    /// The same, for bindings with opaque pointers.
    @MainActor
    public static func setAccessibleName(_ name: String?, of widget: OpaquePointer) {
        setAccessibleName(name, of: UnsafeMutableRawPointer(widget))
    }
}

extension UnsafeMutablePointer {
    /// The pointer for functions of a class whose structure is not public: `gtk_label_set_text(label.opaque, "…")`.
    public var opaque: OpaquePointer { OpaquePointer(self) }
}
#endif
