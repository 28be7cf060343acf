// The thread of a CurlTransport: it alone calls libcurl, decides which transfer goes next, and watches the clocks.

internal import CKFCurl
internal import Foundation
internal import KFSupport

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// All transfers of one transport, on the transport's thread.
///
/// Not Sendable: it is made, used and released there. Libcurl's callbacks only record what came; what it means is
/// decided, and the events of a transfer are called, after `curl_multi_perform` has returned.
final class CurlEngine {
    private let inbox: CurlInbox
    private let multi: UnsafeMutableRawPointer
    private var queue: TransferQueue
    private var transfers: [Int: CurlTransfer] = [:]
    /// Handles without a transfer.
    private var idleHandles: [CurlHandle] = []
    /// Transfers that something happened to since they were looked at.
    private var touched: [CurlTransfer] = []
    private(set) var configuration: CurlTransport.Configuration
    /// The time, read once in each round.
    private(set) var now = ContinuousClock.now
    /// When a time limit may be reached next.
    private var nextLimit: ContinuousClock.Instant?

    init(inbox: CurlInbox) {
        CurlHandle.initializeLibcurl()
        self.inbox = inbox
        configuration = inbox.configuration
        queue = TransferQueue(limits: configuration.limits)
        guard let multi = curl_multi_init() else { preconditionFailure("libcurl has no memory for a transport") }
        self.multi = multi
        applyConfiguration()
    }

    deinit {
        for handle in idleHandles { handle.close() }
        curl_multi_cleanup(multi)
    }

    private var status: CurlTransport.QueueStatus {
        CurlTransport.QueueStatus(waiting: queue.waitingCount, running: queue.runningCount)
    }

    /// Works until the transport is gone and its last transfer has ended.
    func run() {
        // A write to a connection that the server has closed must not end the process. (OpenSSL writes like that.)
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &signals, nil)

        while true {
            let (messages, order) = inbox.take(reporting: status)
            now = .now
            for message in messages { handle(message) }
            switch order {
            case .run: break
            case .invalidate:
                for transfer in transfers.values { transfer.end(.cancelled(transfer.url)) }
                return
            case .end: if transfers.isEmpty { return }
            }
            startWaiting()
            perform()
            checkLimits()
            // Slots that have become free; what begins now is due at once, so that libcurl does not wait.
            startWaiting()
            if case .end = order, transfers.isEmpty { return }
            if inbox.mayWait(multi, reporting: status) { curl_multi_poll(multi, nil, 0, waitMilliseconds, nil) }
        }
    }

    private func handle(_ message: CurlInbox.Message) {
        switch message {
        case .start(let task, let policy, let events):
            let transfer = CurlTransfer(task, policy: policy, events: events, engine: self)
            transfers[task.id] = transfer
            transfer.wait(in: &queue)
        case .cancel(let task):
            if let transfer = transfers[task.id] { transfer.end(.cancelled(transfer.url)) }
        case .setPriority(let priority, let task): queue.setPriority(priority, of: task.id)
        case .decided(let task, let decision): transfers[task.id]?.decided(decision)
        case .configure:
            configuration = inbox.configuration
            applyConfiguration()
        }
    }

    private func applyConfiguration() {
        queue.limits = configuration.limits
        // Idle connections, of which one is closed when there would be more.
        kf_curl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, max(configuration.maximumConcurrentTransfers, 16))
    }

    // MARK: Transfers

    private func startWaiting() {
        while let id = queue.next() { transfers[id]?.begin() }
    }

    /// Lets a transfer wait for a slot again: for its next hop.
    func requeue(_ transfer: CurlTransfer, leaving host: String) {
        queue.finished(host)
        transfer.wait(in: &queue)
    }

    /// Forgets a transfer that is over.
    func forget(_ transfer: CurlTransfer, holdsSlotOf host: String?) {
        transfers[transfer.id] = nil
        if let host { queue.finished(host) } else { queue.remove(transfer.id) }
    }

    func setMultiplexed(_ isMultiplexed: Bool, _ host: String) { queue.setMultiplexed(isMultiplexed, host) }

    /// Has a transfer looked at after this round; called by libcurl's callbacks.
    func touch(_ transfer: CurlTransfer) { touched.append(transfer) }

    /// Time limits are looked at by then.
    func watch(until limit: ContinuousClock.Instant?) {
        if let limit { nextLimit = nextLimit.map { min($0, limit) } ?? limit }
    }

    // MARK: Handles

    func takeHandle() -> CurlHandle { idleHandles.popLast() ?? CurlHandle() }

    func run(_ handle: CurlHandle) { curl_multi_add_handle(multi, handle.curl) }

    /// Takes a handle back; one whose transfer has not ended loses its connection.
    func putBack(_ handle: CurlHandle) {
        curl_multi_remove_handle(multi, handle.curl)
        handle.reset()
        if idleHandles.count < 64 { idleHandles.append(handle) } else { handle.close() }
    }

    // MARK: Rounds

    private func perform() {
        var running: Int32 = 0
        curl_multi_perform(multi, &running)
        now = .now
        var result = CURLE_OK
        while let curl = kf_curl_next_ended(multi, &result) {
            guard let transfer = CurlHandle.transfer(of: curl) else { continue }
            transfer.hopEnded(result)
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
        guard let nextLimit else { return 60_000 }
        let (seconds, attoseconds) = (nextLimit - now).components
        return Int32(clamping: max(seconds * 1_000 + attoseconds / 1_000_000_000_000_000 + 1, 0))
    }
}
