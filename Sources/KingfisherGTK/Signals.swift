// Connects blocks to GObject's signals, for programs and for the renderers.

#if canImport(CKFGTK4)
import CKFGTK4

extension KFGTK {
    /// Calls a block whenever an object emits a signal.
    ///
    ///     KFGTK.connect("clicked", of: button) { _ in view.kf.setImage(with: url) }
    ///
    /// To be called on the main thread, for signals that are emitted there, as those of all widgets are. A name that
    /// the object's class does not have is reported by GLib on standard error, and nothing is connected.
    ///
    /// - Parameters:
    ///   - signal: The signal's name, with or without a detail: `notify::visible`.
    ///   - object: A `GObject *`.
    ///   - block: Gets the signal's first argument, or 0 if it has none: a number, or a pointer's `bitPattern`. Of
    ///     numbers that are narrower than `Int` the upper bits mean nothing. Where the signal wants a result, it gets
    ///     false or 0, and the emission goes on. The block is released with the object, or when it is disconnected.
    /// - Returns: The number for `disconnect(_:of:)`; 0 if nothing was connected.
    @MainActor
    @discardableResult
    public static func connect(
        _ signal: String,
        of object: UnsafeMutableRawPointer,
        _ block: @escaping @MainActor (Int) -> Void
    ) -> UInt {
        connect(signal, of: object, afterOthers: false, block)
    }

    /// The same; with `afterOthers`, the block is called after the handlers that are connected without, as GTK's own
    /// are.
    @MainActor
    @discardableResult
    static func connect(
        _ signal: String,
        of object: UnsafeMutableRawPointer,
        afterOthers: Bool,
        _ block: @escaping @MainActor (Int) -> Void
    ) -> UInt {
        connect(
            signal,
            of: object,
            afterOthers: afterOthers,
            handling: { arguments in
                block(arguments.first)
                return false
            }
        )
    }

    /// Calls a block with all of a signal's arguments whenever an object emits the signal.
    ///
    /// - Parameters:
    ///   - signal: The signal's name, with or without a detail.
    ///   - object: A `GObject *`.
    ///   - afterOthers: Whether the block is called after the handlers that are connected without, as GTK's own are.
    ///   - block: Gets the arguments, which are there during the call only. If it returns true, so does the handler of
    ///     the signal, which must have such a result.
    /// - Returns: The number for `disconnect(_:of:)`; 0 if nothing was connected.
    @MainActor
    @discardableResult
    static func connect(
        _ signal: String,
        of object: UnsafeMutableRawPointer,
        afterOthers: Bool = false,
        handling block: @escaping @MainActor (SignalArguments) -> Bool
    ) -> UInt {
        let handler = Unmanaged.passRetained(SignalHandler(block)).toOpaque()
        guard let closure = g_closure_new_simple(guint(MemoryLayout<GClosure>.size), handler) else { return 0 }
        g_closure_add_finalize_notifier(closure, handler) { handler, _ in
            if let handler { Unmanaged<SignalHandler>.fromOpaque(handler).release() }
        }
        g_closure_set_marshal(closure) { closure, result, count, values, _, _ in
            guard let handler = closure?.pointee.data else { return }
            // The first value is the object.
            let address = UInt(bitPattern: values.map { $0 + 1 })
            if SignalHandler.call(handler, address, count: Int(count) - 1), let result {
                g_value_set_boolean(result, 1)
            }
        }
        // A closure belongs to its signal; without one, nothing else would release it.
        g_closure_ref(closure)
        g_closure_sink(closure)
        defer { g_closure_unref(closure) }
        return UInt(g_signal_connect_closure(object, signal, closure, afterOthers ? 1 : 0))
    }

    /// The same, for bindings with opaque pointers.
    @MainActor
    @discardableResult
    public static func connect(
        _ signal: String,
        of object: OpaquePointer,
        _ block: @escaping @MainActor (Int) -> Void
    ) -> UInt {
        connect(signal, of: UnsafeMutableRawPointer(object), block)
    }

    /// Disconnects a block from a signal, and releases it.
    ///
    /// To be called on the main thread, while the object is there. Nothing is done for 0, or when the block has been
    /// disconnected before, as GTK does with all of those of a widget or a frame clock whose window is destroyed.
    ///
    /// - Parameters:
    ///   - handler: The number that `connect(_:of:_:)` has returned.
    ///   - object: The same object.
    @MainActor
    public static func disconnect(_ handler: UInt, of object: UnsafeMutableRawPointer) {
        guard handler != 0, g_signal_handler_is_connected(object, gulong(handler)) != 0 else { return }
        g_signal_handler_disconnect(object, gulong(handler))
    }

    /// The same, for bindings with opaque pointers.
    @MainActor
    public static func disconnect(_ handler: UInt, of object: OpaquePointer) {
        disconnect(handler, of: UnsafeMutableRawPointer(object))
    }

    /// Calls a block with all arguments of a signal whenever an object emits it: for signals with more than one, or
    /// that want to know whether they were handled.
    ///
    ///     KFGTK.handle("pressed", of: click) { arguments in
    ///         show(arguments.double(1), arguments.double(2))
    ///         return false
    ///     }
    ///
    /// As `connect(_:of:_:)` in all else.
    ///
    /// - Parameters:
    ///   - signal: The signal's name, with or without a detail.
    ///   - object: A `GObject *`.
    ///   - block: Gets the arguments, which are there during the call only. If it returns true, so does the handler of
    ///     the signal, which must have such a result.
    /// - Returns: The number for `disconnect(_:of:)`; 0 if nothing was connected.
    @MainActor
    @discardableResult
    public static func handle(
        _ signal: String,
        of object: UnsafeMutableRawPointer,
        _ block: @escaping @MainActor (SignalArguments) -> Bool
    ) -> UInt {
        connect(signal, of: object, handling: block)
    }

    /// The same, for bindings with opaque pointers.
    @MainActor
    @discardableResult
    public static func handle(
        _ signal: String,
        of object: OpaquePointer,
        _ block: @escaping @MainActor (SignalArguments) -> Bool
    ) -> UInt {
        handle(signal, of: UnsafeMutableRawPointer(object), block)
    }
}

/// The arguments of a signal, during its emission, for ``KFGTK/handle(_:of:_:)-(_,UnsafeMutableRawPointer,_)``.
///
/// They are counted from 0, without the object, and must not be kept. One that is not there is 0 or nil; one of another
/// type is reported by GLib on standard error.
public struct SignalArguments {
    /// The address of the first value.
    fileprivate let address: UInt
    fileprivate let count: Int

    private func value(_ index: Int) -> UnsafePointer<GValue>? {
        index < count ? UnsafePointer<GValue>(bitPattern: address).map { $0 + index } : nil
    }

    /// The first argument as a number, or a pointer's `bitPattern`; 0 if there is none.
    public var first: Int {
        // A value has its type in front, and then a union, whose array Swift leaves out.
        value(0).map { UnsafeRawPointer($0).load(fromByteOffset: MemoryLayout<GType>.stride, as: Int.self) } ?? 0
    }

    /// An argument that is a floating-point number.
    public func double(_ index: Int) -> Double { value(index).map { g_value_get_double($0) } ?? 0 }

    /// An argument that is a whole number.
    public func int(_ index: Int) -> Int32 { value(index).map { g_value_get_int($0) } ?? 0 }

    /// An argument that is a whole number without a sign.
    public func uint(_ index: Int) -> UInt32 { value(index).map { g_value_get_uint($0) } ?? 0 }

    /// An argument that is a set of flags.
    public func flags(_ index: Int) -> UInt32 { value(index).map { g_value_get_flags($0) } ?? 0 }

    /// An argument that is true or false.
    public func bool(_ index: Int) -> Bool { value(index).map { g_value_get_boolean($0) != 0 } ?? false }

    /// An argument that is a text.
    public func string(_ index: Int) -> String? {
        value(index).flatMap { g_value_get_string($0) }.map { String(cString: $0) }
    }
}

/// A block that a signal calls.
private final class SignalHandler: Sendable {
    private let block: @MainActor (SignalArguments) -> Bool

    init(_ block: @escaping @MainActor (SignalArguments) -> Bool) { self.block = block }

    /// Signals of widgets are emitted on the main thread, those of monitors, too.
    static func call(_ handler: UnsafeMutableRawPointer, _ address: UInt, count: Int) -> Bool {
        let block = Unmanaged<SignalHandler>.fromOpaque(handler).takeUnretainedValue().block
        return MainActor.assumeIsolated { block(SignalArguments(address: address, count: count)) }
    }
}
#endif
