// Connects blocks to GObject's signals, for programs and for the renderers.

import CKFGTK4

/// Calls a block whenever an object emits a signal.
///
///     connectSignal("clicked", of: button) { _ in view.kf.setImage(with: url) }
///
/// To be called on the main thread, for signals that are emitted there, as those of all widgets are. A name that the
/// object's class does not have is reported by GLib on standard error, and nothing is connected.
///
/// - Parameters:
///   - signal: The signal's name, with or without a detail: `notify::visible`.
///   - object: A `GObject *`.
///   - block: Gets the signal's first argument, or 0 if it has none: a number, or a pointer's `bitPattern`. Of numbers
///     that are narrower than `Int` the upper bits mean nothing. Where the signal wants a result, it gets false or 0, and
///     the emission goes on. The block is released with the object, or when it is disconnected.
/// - Returns: The number for `g_signal_handler_disconnect`; 0 if nothing was connected.
@MainActor
@discardableResult
public func connectSignal(
    _ signal: String,
    of object: UnsafeMutableRawPointer,
    _ block: @escaping @MainActor (Int) -> Void
) -> UInt {
    connectSignal(signal, of: object, afterOthers: false, block)
}

/// The same; with `afterOthers`, the block is called after the handlers that are connected without, as GTK's own are.
@MainActor
func connectSignal(
    _ signal: String,
    of object: UnsafeMutableRawPointer,
    afterOthers: Bool,
    _ block: @escaping @MainActor (Int) -> Void
) -> UInt {
    let handler = Unmanaged.passRetained(SignalHandler(block)).toOpaque()
    guard let closure = g_closure_new_simple(guint(MemoryLayout<GClosure>.size), handler) else { return 0 }
    g_closure_add_finalize_notifier(closure, handler) { handler, _ in
        if let handler { Unmanaged<SignalHandler>.fromOpaque(handler).release() }
    }
    g_closure_set_marshal(closure) { closure, _, count, values, _, _ in
        guard let handler = closure?.pointee.data else { return }
        // The first value is the object. A value has its type in front, and then a union, whose array Swift leaves out.
        let argument = count > 1 ? values.map { UnsafeRawPointer($0 + 1) } : nil
        SignalHandler.call(handler, argument?.load(fromByteOffset: MemoryLayout<GType>.stride, as: Int.self) ?? 0)
    }
    // A closure belongs to its signal; without one, nothing else would release it.
    g_closure_ref(closure)
    g_closure_sink(closure)
    defer { g_closure_unref(closure) }
    return UInt(g_signal_connect_closure(object, signal, closure, afterOthers ? 1 : 0))
}

/// A block that a signal calls.
private final class SignalHandler: Sendable {
    private let block: @MainActor (Int) -> Void

    init(_ block: @escaping @MainActor (Int) -> Void) { self.block = block }

    /// Signals of widgets are emitted on the main thread, those of monitors, too.
    static func call(_ handler: UnsafeMutableRawPointer, _ argument: Int) {
        let block = Unmanaged<SignalHandler>.fromOpaque(handler).takeUnretainedValue().block
        MainActor.assumeIsolated { block(argument) }
    }
}
