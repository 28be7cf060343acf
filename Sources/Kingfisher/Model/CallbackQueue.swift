// The queues that callbacks run on. The only file that decides what "the main thread" means on Linux.

public import Dispatch
public import Foundation
import KFSupport

/// The part of an operation queue that callbacks need.
///
/// `OperationQueue` conforms.
public protocol CallbackOperationQueue: AnyObject, Sendable {
    /// The dispatch queue behind the operation queue, if there is one.
    var underlyingQueue: DispatchQueue? { get }

    /// Adds a block to be executed.
    func addOperation(_ block: @escaping @Sendable () -> Void)
}

extension OperationQueue: CallbackOperationQueue {}

/// The queue or thread that a piece of the user's code is executed on.
public enum CallbackQueue: Sendable {
    /// Asynchronously on the main queue, always.
    case mainAsync
    /// At once when already on the main queue, else asynchronously on it.
    ///
    /// Needs a main queue that is being served: by `dispatchMain()`, an async `main`, a run loop or a GTK main loop.
    case mainCurrentOrAsync
    /// At once, on the thread the work ended on. Code called there must not block.
    case untouch
    /// Asynchronously on a dispatch queue.
    case dispatch(DispatchQueue)
    /// As an operation of an operation queue.
    case operationQueue(any CallbackOperationQueue)

    /// The queue for handlers that have none set; at first ``mainCurrentOrAsync``.
    ///
    /// It holds for the whole process, and is read when a load or a look-up begins. A server, which has nothing to do
    /// on its main queue, chooses ``untouch`` or a queue of its own here before it loads anything. Callbacks that are
    /// documented to run always on the main queue, such as those for progress and the notification about cleaning, stay
    /// there. May be used from any thread.
    public static var `default`: CallbackQueue {
        get { chosenDefault.withLock { $0 } }
        set { chosenDefault.withLock { $0 = newValue } }
    }

    private static let chosenDefault = Locked(CallbackQueue.mainCurrentOrAsync)

    /// Executes a block as the case says.
    public func execute(_ block: @escaping @Sendable () -> Void) {
        switch self {
        case .mainAsync: DispatchQueue.main.async(execute: block)
        case .mainCurrentOrAsync:
            if Self.isMain { block() } else { DispatchQueue.main.async(execute: block) }
        case .untouch: block()
        case .dispatch(let queue): queue.async(execute: block)
        case .operationQueue(let queue): queue.addOperation(block)
        }
    }

    /// Whether ``execute(_:)`` would execute a block at once, on the calling thread.
    var isHere: Bool {
        switch self {
        case .untouch: true
        case .mainCurrentOrAsync: Self.isMain
        case .mainAsync, .dispatch, .operationQueue: false
        }
    }

    /// Whether the calling code runs on the main queue.
    ///
    /// `Thread.isMainThread` is not reliable: once `dispatchMain()` serves the main queue, its blocks run on other
    /// threads. A queue-specific key is right in both cases. Before anything serves the queue, the process's first
    /// thread is main.
    static var isMain: Bool {
        _ = mainQueueMark
        return DispatchQueue.getSpecific(key: mainQueueKey) != nil
    }

    /// The identity of a queue.
    enum Identity: Hashable, Sendable {
        case main, inline
        case queue(ObjectIdentifier)
    }

    var identity: Identity {
        switch self {
        case .mainAsync, .mainCurrentOrAsync: .main
        case .untouch: .inline
        case .dispatch(let queue): .queue(ObjectIdentifier(queue))
        case .operationQueue(let queue): .queue(ObjectIdentifier(queue))
        }
    }

    private static let mainQueueKey = DispatchSpecificKey<Bool>()
    private static let mainQueueMark: Void = DispatchQueue.main.setSpecific(key: mainQueueKey, value: true)
}

/// A queue that work, not only a callback, is executed on.
public typealias ExecutionQueue = CallbackQueue

extension CallbackQueue {
    /// Runs a piece of user code on this queue and waits for its result without blocking a thread.
    ///
    /// With ``untouch`` the code runs on `executor`: user code must not hold up a thread of the cooperative pool.
    func run<Value: Sendable>(
        or executor: WorkExecutor = .cpu,
        _ body: @escaping @Sendable () -> Value
    ) async -> Value {
        if case .untouch = self { return await executor.run { body() } }
        let promise = Promise<Value>()
        execute { promise.fulfil(body()) }
        return await promise.value
    }
}
