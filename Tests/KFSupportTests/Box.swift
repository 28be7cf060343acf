// A box for state that closures of a test share.

import KFSupport

final class Box<State: Sendable>: Sendable {
    let state: Locked<State>
    init(_ value: State) { state = Locked(value) }
    var value: State { state.withLock { $0 } }
}

extension Box<Int> {
    func add(_ amount: Int) { state.withLock { $0 += amount } }
}
