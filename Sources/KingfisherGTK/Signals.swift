// Connects blocks to GObject's signals.

import CKFGTK4

/// How many arguments a signal has, beside the object that emits it.
package enum SignalArity {
    case none
    /// One, a number or a pointer.
    case one
}

/// Calls a block whenever an object emits a signal, as long as the object exists.
///
/// - Parameters:
///   - object: A `GObject *`.
///   - signal: The signal's name.
///   - arity: How many arguments it has.
///   - block: Gets the argument as it is in a register, or 0: of narrower numbers the upper bits mean nothing. Where
///     the signal wants a result, the emission goes on.
@MainActor
package func connectSignal(
    _ object: UnsafeMutableRawPointer,
    _ signal: String,
    _ arity: SignalArity = .none,
    _ block: @escaping @MainActor (Int) -> Void
) {
    let plain: @convention(c) (gpointer?, gpointer?) -> gboolean = { _, handler in
        SignalHandler.call(handler, 0)
    }
    let withArgument: @convention(c) (gpointer?, Int, gpointer?) -> gboolean = { _, argument, handler in
        SignalHandler.call(handler, argument)
    }
    // SAFETY: GLib calls it with the signal's own arguments, which these functions have; what they return is not read
    // where the signal has no result.
    let hasArgument = arity == .one
    let callback =
        hasArgument ? unsafeBitCast(withArgument, to: GCallback.self) : unsafeBitCast(plain, to: GCallback.self)
    g_signal_connect_data(
        object,
        signal,
        callback,
        Unmanaged.passRetained(SignalHandler(block)).toOpaque(),
        { handler, _ in if let handler { Unmanaged<SignalHandler>.fromOpaque(handler).release() } },
        GConnectFlags(rawValue: 0)
    )
}

/// A block that a signal calls.
private final class SignalHandler: Sendable {
    private let block: @MainActor (Int) -> Void

    init(_ block: @escaping @MainActor (Int) -> Void) { self.block = block }

    /// Signals of widgets are emitted on the main thread, those of monitors, too.
    static func call(_ handler: gpointer?, _ argument: Int) -> gboolean {
        guard let handler else { return 0 }
        let block = Unmanaged<SignalHandler>.fromOpaque(handler).takeUnretainedValue().block
        MainActor.assumeIsolated { block(argument) }
        return 0
    }
}
