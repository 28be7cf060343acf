// What the tests of prefetching share: handlers that record, and transfers that can be awaited.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

extension Rig {
    /// The options by which a prefetcher uses the rig's cache and downloader.
    var prefetching: KingfisherOptionsInfo { [.targetCache(cache), .downloader(manager.downloader)] }

    /// The URLs of as many images, which the server has.
    func images(_ count: Int) throws -> [URL] {
        let image = try SampleImage.png(8, 8)
        return (0..<count).map { server.route("/\($0).png", .data(image, type: "image/png")) }
    }
}

/// What the handlers of a prefetcher were given.
final class PrefetchRecorder<Item: Sendable>: Sendable {
    struct Call: Sendable {
        let skipped: [Item]
        let failed: [Item]
        let completed: [Item]
        let isOnMain: Bool
        var counts: [Int] { [skipped.count, failed.count, completed.count] }
    }

    private let calls = Box<(progress: [Call], completions: [Call])>(([], []))
    private let completed = Promise<Call>()
    /// How often progress had been reported when the completion came.
    let progressBefore = Box(0)

    var progress: [Call] { calls.value.progress }
    var completions: [Call] { calls.value.completions }
    /// What the completion was given.
    var completion: Call { get async { await completed.value } }

    func report(_ skipped: [Item], _ failed: [Item], _ completed: [Item]) {
        let call = Call(skipped: skipped, failed: failed, completed: completed, isOnMain: CallbackQueue.isMain)
        calls.change { $0.progress.append(call) }
    }

    func complete(_ skipped: [Item], _ failed: [Item], _ completed: [Item]) {
        let call = Call(skipped: skipped, failed: failed, completed: completed, isOnMain: CallbackQueue.isMain)
        progressBefore.value = progress.count
        calls.change { $0.completions.append(call) }
        self.completed.fulfil(call)
    }
}

extension PrefetchRecorder<any Resource> {
    /// A prefetcher of resources that this follows.
    func prefetcher(
        _ resources: [any Resource],
        _ options: KingfisherOptionsInfo,
        callbackQueue: CallbackQueue = .mainAsync
    ) -> ImagePrefetcher {
        ImagePrefetcher(
            resources: resources,
            options: options,
            callbackQueue: callbackQueue,
            progressBlock: { self.report($0, $1, $2) },
            completionHandler: { self.complete($0, $1, $2) }
        )
    }
}

/// A downloader without a network, whose transfers can be awaited.
final class AwaitedTransfers: Sendable {
    private struct State: Sendable {
        var transfers: [FakeTransfer] = []
        var waiting: [(count: Int, gate: Gate)] = []
    }

    private let state: Locked<State>
    let downloader: ImageDownloader

    /// - Parameter play: Plays each transfer; nothing happens to those it does not play.
    init(_ play: @escaping @Sendable (FakeTransfer) -> Void = { _ in }) {
        let added = Box<(@Sendable (FakeTransfer) -> Void)?>(nil)
        state = Locked(State())
        downloader = ImageDownloader(
            name: "test",
            transport: FakeTransport { transfer in
                added.value?(transfer)
                play(transfer)
            }
        )
        added.value = { [weak self] in self?.add($0) }
    }

    private func add(_ transfer: FakeTransfer) {
        let reached = state.withLock { state in
            state.transfers.append(transfer)
            let reached = state.waiting.filter { $0.count <= state.transfers.count }
            state.waiting.removeAll { $0.count <= state.transfers.count }
            return reached.map(\.gate)
        }
        for gate in reached { gate.open() }
    }

    /// The names of what was requested, in order.
    var names: [String] {
        state.withLock { $0.transfers.map { $0.originalRequest.url?.lastPathComponent ?? "" } }
    }

    /// Waits until there are as many transfers, and returns them.
    @discardableResult
    func wait(for count: Int) async -> [FakeTransfer] {
        let gate = Gate()
        let isReached = state.withLock { state in
            if state.transfers.count < count { state.waiting.append((count, gate)) }
            return state.transfers.count >= count
        }
        if !isReached { await gate.wait() }
        return state.withLock { $0.transfers }
    }
}
