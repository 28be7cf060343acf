// A callback with a weak target; public API, used by `ImageProgressive`.

import KFSupport

/// A callback that does not keep its target alive.
///
/// ```swift
/// progressive.onImageUpdated.delegate(on: self) { (self, image) in
///     self.previews += 1
///     return .default
/// }
/// ```
/// The owner of the delegate documents on which thread it is called; code that belongs to another one must not be set
/// as its block.
public final class Delegate<Input, Output>: Sendable {
    // SAFETY: the types prove nothing here, as Kingfisher's interface takes blocks of any isolation. This class runs no
    // block by itself, only for those who call it. The library calls its delegates on the main actor, and nowhere else
    // (`Previews.show`, `KFLoadHandlers`): blocks that were set there run where they belong, and the lock makes them
    // visible. Other owners of delegates document where they call them, as this class demands.
    private enum Block: @unchecked Sendable {
        case synchronous((Input) -> Output?)
        case asynchronous((Input) async -> Output?)
    }
    private let block = Locked<Block?>(nil)

    /// Creates a delegate without a block.
    public init() {}

    /// Sets the target and the block.
    ///
    /// - Parameters:
    ///   - target: Passed to the block; held weakly. Once it is gone, the block is not called.
    ///   - block: The block to call; nil for none.
    public func delegate<Target: AnyObject>(on target: Target, block: ((Target, Input) -> Output)?) {
        let new = block.map { block in
            Block.synchronous { [weak target] input in target.map { block($0, input) } }
        }
        self.block.withLock { $0 = new }
    }

    /// Sets the target and an asynchronous block, which ``callAsync(_:)`` calls and ``call(_:)`` does not.
    public func delegate<Target: AnyObject>(on target: Target, block: ((Target, Input) async -> Output)?) {
        let new = block.map { block in
            Block.asynchronous { [weak target] input in
                guard let target else { return nil }
                return await block(target, input)
            }
        }
        self.block.withLock { $0 = new }
    }

    /// Sets a block without a target.
    func set(_ block: ((Input) -> Output)?) {
        let new = block.map { block in Block.synchronous { block($0) } }
        self.block.withLock { $0 = new }
    }

    /// A delegate with the same block; setting one's block does not change the other's.
    func copy() -> Delegate {
        let (copy, current) = (Delegate(), block.withLock { $0 })
        copy.block.withLock { $0 = current }
        return copy
    }

    /// Whether a block has been set.
    public var isSet: Bool { block.withLock { $0 != nil } }

    /// Calls the block.
    ///
    /// - Parameter input: The block's argument.
    /// - Returns: The block's result; nil when there is no block, it is asynchronous, or its target is gone.
    public func call(_ input: Input) -> Output? {
        guard case .synchronous(let block)? = block.withLock({ $0 }) else { return nil }
        return block(input)
    }

    /// Calls the block, whichever kind it is.
    ///
    /// - Parameter input: The block's argument.
    /// - Returns: The block's result; nil when there is no block, or its target is gone.
    public func callAsync(_ input: Input) async -> Output? {
        switch block.withLock({ $0 }) {
        case .synchronous(let block)?: block(input)
        case .asynchronous(let block)?: await block(input)
        case nil: nil
        }
    }

    /// Calls the block.
    ///
    /// - Parameter input: The block's argument.
    /// - Returns: The block's result; nil when there is no block, or its target is gone.
    public func callAsFunction(_ input: Input) -> Output? { call(input) }
}

extension Delegate where Input == Void {
    /// Calls the block.
    ///
    /// - Returns: The block's result; nil when there is no block, or its target is gone.
    public func call() -> Output? { call(()) }

    /// Calls the block.
    ///
    /// - Returns: The block's result; nil when there is no block, or its target is gone.
    public func callAsFunction() -> Output? { call(()) }
}
