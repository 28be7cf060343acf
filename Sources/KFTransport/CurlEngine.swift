// The thread of a CurlTransport: it alone calls libcurl, decides which transfer goes next, and watches the clocks.

internal import CKFCurl
internal import Foundation
internal import KFSupport

/// All transfers of one transport, on the transport's thread.
///
/// Not Sendable: it is made, used and released there. Libcurl must not be called from its callbacks, and code outside
/// may do anything: so callbacks only record what came, and decisions are made, and the events of a transfer are
/// called, after `curl_multi_perform` has returned. An event that decides later pauses its transfer; that is how memory
/// bounds the network.
final class CurlEngine {
    private let inbox: CurlInbox
    private let multi: UnsafeMutableRawPointer
    /// Holds the cookies.
    private let cookies: UnsafeMutableRawPointer
    /// Gives out slots.
    var queue = TransferQueue()
    private var transfers: [Int: CurlTransfer] = [:]
    /// Handles without a transfer.
    private var idleHandles: [CurlHandle] = []
    /// Transfers that something happened to since they were looked at.
    private var touched: [CurlTransfer] = []
    private(set) var configuration = CurlTransport.Configuration()
    /// The time, read once in each round.
    private(set) var now = ContinuousClock.now
    /// When a time limit may be reached next.
    private var nextLimit: ContinuousClock.Instant?
    /// How often libcurl has been called to go on.
    private(set) var rounds = 0
    /// Whether to end with the last transfer.
    private var isEnding = false

    init(inbox: CurlInbox) {
        precondition(CurlHandle.isLibcurlInitialized, "libcurl cannot be initialised")
        self.inbox = inbox
        guard let multi = curl_multi_init() else { preconditionFailure("libcurl has no memory for a transport") }
        self.multi = multi
        guard let cookies = kf_curl_new_cookies() else { preconditionFailure("libcurl has no memory for cookies") }
        self.cookies = cookies
    }

    deinit {
        idleHandles = []
        curl_multi_cleanup(multi)
        curl_share_cleanup(cookies)
    }

    /// Works until the transport is gone and its last transfer has ended.
    func run() {
        // A write to a connection that the server has closed must not end the process. (OpenSSL writes like that.)
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &signals, nil)

        while true {
            let messages = inbox.take()
            now = .now
            for message in messages { handle(message) }
            startWaiting()
            perform()
            checkLimits()
            // Slots that have become free; what begins now is due at once, so that libcurl does not wait.
            startWaiting()
            if isEnding, transfers.isEmpty { return }
            let status = CurlTransport.QueueStatus(waiting: queue.waitingCount, running: queue.runningCount)
            if inbox.mayWait(multi, reporting: status) { curl_multi_poll(multi, nil, 0, waitMilliseconds, nil) }
        }
    }

    private func handle(_ message: CurlInbox.Message) {
        switch message {
        case .start(let task, let policy, let events):
            let transfer = CurlTransfer(task, policy: policy, events: events, engine: self)
            transfers[task.id] = transfer
            transfer.wait()
        case .cancel(let task): transfers[task.id]?.cancel()
        case .setPriority(let priority, let task): queue.setPriority(priority, of: task.id)
        case .decided(let task, let decision): transfers[task.id]?.decided(decision)
        case .configure:
            configuration = inbox.configuration
            queue.total = max(configuration.maxConcurrentTransfers, 1)
            queue.isSuspended = configuration.isSuspended
            queue.perHost = max(configuration.connectionsPerHost, 1)
            // Idle connections, of which one is closed when there would be more.
            kf_curl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, max(configuration.maxConcurrentTransfers, 16))
        case .end: isEnding = true
        case .invalidate:
            for transfer in transfers.values { transfer.cancel() }
            isEnding = true
        }
    }

    // MARK: Transfers

    private func startWaiting() {
        while let id = queue.next() { transfers[id]?.begin() }
    }

    /// Forgets a transfer that is over.
    func forget(_ transfer: CurlTransfer) {
        transfers[transfer.task.id] = nil
        queue.remove(transfer.task.id)
    }

    /// Has a transfer looked at after this round; called by libcurl's callbacks.
    func touch(_ transfer: CurlTransfer) { touched.append(transfer) }

    /// Time limits are looked at by then.
    func watch(until limit: ContinuousClock.Instant?) {
        if let limit { nextLimit = nextLimit.map { min($0, limit) } ?? limit }
    }

    // MARK: Handles

    func takeHandle() -> CurlHandle { idleHandles.popLast() ?? CurlHandle(cookies: cookies) }

    func run(_ handle: CurlHandle) { curl_multi_add_handle(multi, handle.curl) }

    /// Takes back a handle and its slot; a handle whose transfer has not ended loses its connection.
    ///
    /// With `keepsOptions` its next request may be sent with the same options.
    func putBack(_ handle: CurlHandle, leaving host: String, keepsOptions: Bool) {
        queue.finished(host)
        curl_multi_remove_handle(multi, handle.curl)
        handle.release(keepsOptions: keepsOptions)
        if idleHandles.count < 64 { idleHandles.append(handle) }
    }

    // MARK: Rounds

    private func perform() {
        var running: Int32 = 0
        curl_multi_perform(multi, &running)
        rounds += 1
        now = .now
        var result = CURLE_OK
        while let curl = kf_curl_next_ended(multi, &result) {
            CurlHandle.transfer(kf_curl_string(curl, CURLINFO_PRIVATE))?.hopEnded(result)
        }
        // Looking at a transfer may have libcurl call back, which may touch it again.
        var index = 0
        while index < touched.count {
            touched[index].look()
            index += 1
        }
        touched.removeAll(keepingCapacity: true)
    }

    private func checkLimits() {
        guard let limit = nextLimit, limit <= now else { return }
        nextLimit = nil
        for transfer in transfers.values { transfer.checkLimits() }
    }

    private var waitMilliseconds: Int32 {
        nextLimit.map { ($0 - now).milliseconds } ?? 60_000
    }
}
