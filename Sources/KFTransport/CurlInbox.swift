// The way to the thread of a transport: what any thread asks for, and what that thread does next. For CurlTransport.

internal import CKFCurl
internal import CKFLinux
internal import Foundation
internal import KFSupport

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// The messages to a transport's thread, which starts with the first of them.
final class CurlInbox: Sendable {
    enum Message: Sendable {
        case start(CurlTask, TransportPolicy, any TransportEvents)
        case cancel(CurlTask)
        case setPriority(Float, CurlTask)
        /// A decision of a transfer's events is there.
        case decided(CurlTask, CurlTransfer.Decision)
        /// The configuration was changed.
        case configure
    }

    /// What the owner of the transport wants of its thread.
    enum Order: Sendable {
        case run
        /// End once the last transfer has.
        case end
        /// Cancel all transfers, and end.
        case invalidate
    }

    private struct State: Sendable {
        var configuration: CurlTransport.Configuration
        var messages: [Message] = []
        var order = Order.run
        /// Whether the thread knows the order.
        var isOrderTaken = true
        var isStarted = false
        /// Set while the thread waits in libcurl: then it has to be woken up.
        var wakeUp: WakeUp?
        var status = CurlTransport.QueueStatus()
        var lastID = 0

        mutating func wake() {
            if let multi = wakeUp?.multi { curl_multi_wakeup(multi) }
            wakeUp = nil
        }
    }

    // SAFETY: of all functions of libcurl only curl_multi_wakeup is called with it, which is for any thread; the
    // thread that owns the handle takes it back, under the lock, before it goes on.
    private struct WakeUp: @unchecked Sendable { let multi: UnsafeMutableRawPointer }

    private let state: Locked<State>

    init(_ configuration: CurlTransport.Configuration) { state = Locked(State(configuration: configuration)) }

    var status: CurlTransport.QueueStatus { state.withLock { $0.status } }

    var configuration: CurlTransport.Configuration { state.withLock { $0.configuration } }

    func configure(_ change: (inout CurlTransport.Configuration) -> Void) {
        state.withLock { change(&$0.configuration) }
        send(.configure)
    }

    func start(_ request: URLRequest, policy: TransportPolicy, events: any TransportEvents) -> CurlTask {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        let task = CurlTask(id, request, inbox: self)
        let isOpen = post(.start(task, policy, events))
        if !isOpen { events.didComplete(.cancelled(request.url)) }
        return task
    }

    func send(_ message: Message) { _ = post(message) }
    func close() { end(.end) }
    func invalidate() { end(.invalidate) }

    /// Adds a message; false once the transport is invalidated.
    private func post(_ message: Message) -> Bool {
        let (isOpen, isFirst) = state.withLock { state in
            if case .invalidate = state.order { return (false, false) }
            state.messages.append(message)
            state.wake()
            var isFirst = false
            if case .start = message, !state.isStarted { (state.isStarted, isFirst) = (true, true) }
            return (true, isFirst)
        }
        if isFirst { startThread() }
        return isOpen
    }

    private func end(_ order: Order) {
        state.withLock { state in
            if case .invalidate = state.order { return }
            state.order = order
            state.isOrderTaken = false
            state.wake()
        }
    }

    private func startThread() {
        let thread = Thread { [self] in
            kf_name_thread("kf.curl")
            CurlEngine(inbox: self).run()
        }
        thread.stackSize = 1 << 20
        thread.start()
    }

    // MARK: For the thread

    /// What has been asked for since the last time.
    func take(reporting status: CurlTransport.QueueStatus) -> (messages: [Message], order: Order) {
        state.withLock { state in
            defer { state.messages = [] }
            state.isOrderTaken = true
            state.wakeUp = nil
            state.status = status
            return (state.messages, state.order)
        }
    }

    /// Whether the thread may wait in libcurl: nothing was asked for.
    ///
    /// If so, the next message wakes it up.
    func mayWait(_ multi: UnsafeMutableRawPointer, reporting status: CurlTransport.QueueStatus) -> Bool {
        state.withLock { state in
            state.status = status
            guard state.messages.isEmpty, state.isOrderTaken else { return false }
            state.wakeUp = WakeUp(multi: multi)
            return true
        }
    }
}
