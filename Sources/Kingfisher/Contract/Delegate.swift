// A callback with a weak target. Knows nothing of what calls it.

import KFSupport

/// A callback that does not keep alive what it calls.
///
/// ```swift
/// progressive.onImageUpdated.delegate(on: self) { (self, image) in
///     self.previews += 1
///     return .default
/// }
/// ```
/// Whoever owns the delegate says on which thread it calls; code that belongs to another one must not be set as its block.
public final class Delegate<Input, Output>: Sendable {
    // SAFETY: the block may be bound to a thread; it is only stored here, and called where the delegate's owner says.
    private struct Block: @unchecked Sendable {
        let call: (Input) -> Output?
    }
    private let block = Locked<Block?>(nil)

    /// Creates a delegate that calls nobody.
    public init() {}

    /// Sets who is called.
    ///
    /// - Parameters:
    ///   - target: Passed to the block; held weakly. Once it is gone, nothing is called any more.
    ///   - block: What is called; nil calls nobody.
    public func delegate<Target: AnyObject>(on target: Target, block: ((Target, Input) -> Output)?) {
        let new = block.map { block in
            Block { [weak target] input in target.map { block($0, input) } }
        }
        self.block.withLock { $0 = new }
    }

    /// Whether a block has been set.
    public var isSet: Bool { block.withLock { $0 != nil } }

    /// Calls the block.
    ///
    /// - Parameter input: What it is told.
    /// - Returns: What it answered; nil when there is none, or its target is gone.
    public func call(_ input: Input) -> Output? { block.withLock { $0 }?.call(input) }

    /// Calls the block.
    ///
    /// - Parameter input: What it is told.
    /// - Returns: What it answered; nil when there is none, or its target is gone.
    public func callAsFunction(_ input: Input) -> Output? { call(input) }
}

extension Delegate where Input == Void {
    /// Calls the block.
    ///
    /// - Returns: What it answered; nil when there is none, or its target is gone.
    public func call() -> Output? { call(()) }

    /// Calls the block.
    ///
    /// - Returns: What it answered; nil when there is none, or its target is gone.
    public func callAsFunction() -> Output? { call(()) }
}
