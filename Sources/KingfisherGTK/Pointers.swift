// GTK's pointers in Swift: casts between its classes, names for screen readers, signals with several arguments. For
// programs.

#if canImport(CKFGTK4)
import CKFGTK
import CKFGTK4

extension UnsafeMutablePointer {
    /// The pointer for functions of a class whose structure is public: `gtk_box_append(box.as(GtkBox.self), child)`.
    ///
    /// Not checked, as no cast of C is: the object has to be of that class.
    public func `as`<Class>(_: Class.Type) -> UnsafeMutablePointer<Class> {
        UnsafeMutableRawPointer(self).assumingMemoryBound(to: Class.self)
    }

    /// The pointer for functions of a class whose structure is not public: `gtk_label_set_text(label.opaque, "…")`.
    public var opaque: OpaquePointer { OpaquePointer(self) }
}

extension UnsafeMutableRawPointer {
    /// The pointer for functions of a class whose structure is public: `view.rawWidget.as(GtkWidget.self)`.
    ///
    /// Not checked, as no cast of C is: the object has to be of that class.
    public func `as`<Class>(_: Class.Type) -> UnsafeMutablePointer<Class> { assumingMemoryBound(to: Class.self) }
}

extension OpaquePointer {
    /// The pointer for functions of a class whose structure is public: `view.widget.as(GtkWidget.self)`.
    ///
    /// Not checked, as no cast of C is: the object has to be of that class.
    public func `as`<Class>(_: Class.Type) -> UnsafeMutablePointer<Class> { UnsafeMutablePointer(self) }
}

/// Sets the text that a screen reader reads aloud for a widget; for views there is `accessibilityLabel`.
///
/// - Parameters:
///   - name: The text; nil leaves it to GTK.
///   - widget: A `GtkWidget *`. On the main thread.
@MainActor
public func setAccessibleName(_ name: String?, of widget: UnsafeMutableRawPointer) {
    kf_set_accessible_label(widget.as(GtkWidget.self), name)
}

/// The same, for bindings with opaque pointers.
@MainActor
public func setAccessibleName(_ name: String?, of widget: OpaquePointer) {
    setAccessibleName(name, of: UnsafeMutableRawPointer(widget))
}

/// Calls a block with all arguments of a signal whenever an object emits it: for signals with more than one, or that
/// want to know whether they were handled.
///
///     handleSignal("pressed", of: click) { arguments in
///         show(arguments.double(1), arguments.double(2))
///         return false
///     }
///
/// As `connectSignal(_:of:_:)` in all else.
///
/// - Parameters:
///   - signal: The signal's name, with or without a detail.
///   - object: A `GObject *`.
///   - block: Gets the arguments, which are there during the call only. If it returns true, so does the handler of the
///     signal, which must have such a result.
/// - Returns: The number for `disconnectSignal(_:of:)`; 0 if nothing was connected.
@MainActor
@discardableResult
public func handleSignal(
    _ signal: String,
    of object: UnsafeMutableRawPointer,
    _ block: @escaping @MainActor (SignalArguments) -> Bool
) -> UInt {
    connectSignal(signal, of: object, handling: block)
}

/// The same, for bindings with opaque pointers.
@MainActor
@discardableResult
public func handleSignal(
    _ signal: String,
    of object: OpaquePointer,
    _ block: @escaping @MainActor (SignalArguments) -> Bool
) -> UInt {
    handleSignal(signal, of: UnsafeMutableRawPointer(object), block)
}
#endif
