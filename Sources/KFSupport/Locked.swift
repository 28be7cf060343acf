// State and the lock around it. For every object with mutable state.

public import Synchronization

#if KF_TSAN
public import Foundation
#endif

/// State that several threads touch, and the lock around it.
///
/// One object keeps *all* its mutable state in one `Locked`: decide under the lock, act outside it.
///
/// Public and inlinable, although it is for our own modules only: the compiler specialises only public generics across
/// modules, and this is on every hot path.
public struct Locked<State>: ~Copyable, Sendable {
    #if KF_TSAN
    // The thread sanitizer does not see through `Mutex` on Linux and reports races that are not there;
    // sanitized builds add a lock it understands.
    @usableFromInline let witness = NSLock()
    #endif
    @usableFromInline let mutex: Mutex<State>

    /// Guards `state` from now on.
    @inlinable
    public init(_ state: consuming sending State) { mutex = Mutex(state) }

    /// Runs `body` with exclusive access to the state.
    ///
    /// Never call user code from inside.
    @inlinable
    public borrowing func withLock<Result, E: Error>(
        _ body: (inout sending State) throws(E) -> sending Result
    ) throws(E) -> sending Result {
        #if KF_TSAN
        witness.lock()
        defer { witness.unlock() }
        #endif
        return try mutex.withLock(body)
    }
}
