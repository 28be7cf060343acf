// The messages from any thread to the thread of a transport. For CurlTransport.

internal import CKFCurl
internal import CKFLinux
internal import Foundation
internal import KFSupport

/// The messages to a transport's thread, which starts with the first transfer.
final class CurlInbox: Sendable {
    enum Message: Sendable {
        case start(CurlTask, TransportPolicy, any TransportEvents)
        case cancel(CurlTask)
        case setPriority(Float, CurlTask)
        /// A decision of a transfer's events is there: what it means for the transfer.
        case decided(CurlTask, @Sendable (CurlTransfer) -> Void)
        /// The configuration is new, or was changed.
        case configure
        /// The transport is gone: end once the last transfer has.
        case end
        /// Cancel all transfers, and end; no message follows.
        case invalidate
    }

    private struct State: Sendable {
        var configuration: CurlTransport.Configuration
        var messages = [Message.configure]
        var isStarted = false
        var isClosed = false
        /// Set while the thread waits in libcurl: then it has to be woken up.
        var wakeUp: WakeUp?
        var status = CurlTransport.QueueStatus()
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

    /// Adds a message; false if it comes too late.
    @discardableResult
    func send(_ message: Message) -> Bool {
        let (isOpen, startsThread) = state.withLock { state in
            guard !state.isClosed else { return (false, false) }
            state.messages.append(message)
            if let multi = state.wakeUp?.multi { curl_multi_wakeup(multi) }
            state.wakeUp = nil
            if case .invalidate = message { state.isClosed = true }
            guard case .start = message, !state.isStarted else { return (true, false) }
            state.isStarted = true
            return (true, true)
        }
        if startsThread { startThread() }
        return isOpen
    }

    private func startThread() {
        let thread = Thread { [self] in
            kf_name_thread("kf.curl")
            CurlEngine(inbox: self).run()
            // A message that came now would stay here, and keep its task in memory.
            state.withLock { $0.isClosed = true }
            _ = take()
        }
        thread.stackSize = 1 << 20
        thread.start()
    }

    // MARK: For the thread

    /// The messages since the last time.
    func take() -> [Message] {
        state.withLock { state in
            defer { state.messages = [] }
            state.wakeUp = nil
            return state.messages
        }
    }

    /// Whether nothing was asked for, so that the thread may wait in libcurl; the next message then wakes it up.
    func mayWait(_ multi: UnsafeMutableRawPointer, reporting status: CurlTransport.QueueStatus) -> Bool {
        state.withLock { state in
            state.status = status
            if state.messages.isEmpty { state.wakeUp = WakeUp(multi: multi) }
            return state.messages.isEmpty
        }
    }
}
