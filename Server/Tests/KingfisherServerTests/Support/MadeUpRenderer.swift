// A renderer whose results, errors and times are those that a test wants. For the tests of the routes.

import Foundation
import KFImageURLs
import Kingfisher
import KingfisherServer
import Synchronization
import Testing

/// Makes the same small image of every plan, unless its source says otherwise.
final class MadeUpRenderer: Rendering {
    private struct State {
        var cached: [String: RenderedImage] = [:]
        var errors: [String: RenderingError] = [:]
        var plans: [ImagePlan] = []
        var preferences: [[FileFormat]] = []
        var running = 0
        var cancelled = 0
        var isGateClosed = false
        var isMemoryFull = false
        var renewed: [String] = []
        var purges: [(scope: PurgeScope, mode: PurgeMode)] = []
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var nextNumber = 0
        var awaitingRuns: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Mutex(State())
    let image: RenderedImage

    /// - Parameter image: The result.
    init(image: RenderedImage) {
        self.image = image
    }

    func cached(_ request: RenderingRequest) async -> RenderedImage? {
        state.withLock { $0.cached[request.plan.source] }
    }

    func memoryLookup(for request: RenderingRequest) -> MemoryLookup { { nil } }

    func render(_ request: RenderingRequest, in slot: RenderingSlot?, within seconds: Double)
        async throws(RenderingError) -> RenderedImage
    {
        defer { withExtendedLifetime(slot) {} }
        state.withLock { state in
            state.plans.append(request.plan)
            state.preferences.append(request.preferredFormats)
            state.running += 1
            state.awaitingRuns.removeAll { waiter in
                guard state.plans.count >= waiter.count else { return false }
                waiter.continuation.resume()
                return true
            }
        }
        defer { state.withLock { $0.running -= 1 } }
        await passGate()
        if let error = state.withLock({ $0.errors[request.plan.source] }) { throw error }
        return image
    }

    func purge(_ plan: ImagePlan, _ mode: PurgeMode) async throws(RenderingError) {
        try await purge(.source(key: plan.source), mode)
    }

    func purge(_ scope: PurgeScope, _ mode: PurgeMode) async throws(RenderingError) {
        state.withLock { $0.purges.append((scope, mode)) }
    }

    func facts(of upload: UploadedFile, in slot: RenderingSlot) async throws(RenderingError) -> UploadFacts {
        defer { withExtendedLifetime(slot) {} }
        await passGate()
        var options = UploadOptions()
        options.limits.isolation = .inProcess
        do {
            return try await Upload.processing(upload.data, into: [], options: options).facts
        } catch {
            throw RenderingError(status: 500, kind: "internal", reason: error.description)
        }
    }

    let tierStatistics: SharedTierStatistics? = nil
    let maxSourceBytes = 1_000_000

    func renew(_ request: RenderingRequest, in slot: RenderingSlot?) async {
        defer { withExtendedLifetime(slot) {} }
        state.withLock { $0.renewed.append(request.plan.source) }
        await passGate()
    }

    var isMemoryFull: Bool {
        get { state.withLock { $0.isMemoryFull } }
        set { state.withLock { $0.isMemoryFull = newValue } }
    }

    /// Makes all that is rendered from now on wait until it is opened, or its task is cancelled.
    func closeGate() { state.withLock { $0.isGateClosed = true } }

    func openGate() {
        let waiting = state.withLock { state in
            state.isGateClosed = false
            defer { state.waiting = [:] }
            return state.waiting.values
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Returns when as many calls as that have come, since the beginning.
    func calls(_ count: Int) async {
        await withCheckedContinuation { continuation in
            state.withLock { state in
                if state.plans.count >= count {
                    continuation.resume()
                } else {
                    state.awaitingRuns.append((count, continuation))
                }
            }
        }
    }

    func keep(_ image: RenderedImage, for source: String) { state.withLock { $0.cached[source] = image } }
    func fail(_ source: String, with error: RenderingError) { state.withLock { $0.errors[source] = error } }

    var plans: [ImagePlan] { state.withLock { $0.plans } }
    var preferences: [[FileFormat]] { state.withLock { $0.preferences } }
    var purges: [(scope: PurgeScope, mode: PurgeMode)] { state.withLock { $0.purges } }
    var renewed: [String] { state.withLock { $0.renewed } }
    var running: Int { state.withLock { $0.running } }
    var cancelled: Int { state.withLock { $0.cancelled } }

    private func passGate() async {
        let number = state.withLock { state in
            state.nextNumber += 1
            return state.nextNumber
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let passes = state.withLock { state in
                    if !state.isGateClosed || Task.isCancelled { return true }
                    state.waiting[number] = continuation
                    return false
                }
                if passes { continuation.resume() }
            }
        } onCancel: {
            let continuation = state.withLock { state in
                state.cancelled += 1
                return state.waiting.removeValue(forKey: number)
            }
            continuation?.resume()
        }
    }
}

/// A result of one colour, encoded by the library.
func madeUpImage(_ format: ImageContentType = .png, side: Int = 4) async throws -> RenderedImage {
    let image = try #require(KingfisherWrapper<KFCrossPlatformImage>.image(data: bitmap(side: side), options: .init()))
    return RenderedImage(image: try await image.kf.encoded(as: ImageEncoding(format)), entityTag: "\"made-up\"")
}

/// A BMP file whose colours differ from pixel to pixel, so that it stays large when it is encoded.
private func bitmap(side: Int) -> Data {
    func number(_ value: Int, bytes: Int) -> [UInt8] {
        (0..<bytes).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
    let size = 54 + 4 * side * side
    var data = Array("BM".utf8) + number(size, bytes: 4) + number(0, bytes: 4) + number(54, bytes: 4)
    data += number(40, bytes: 4) + number(side, bytes: 4) + number(side, bytes: 4) + number(1, bytes: 2)
    data += number(32, bytes: 2) + number(0, bytes: 24)
    var state: UInt32 = 1
    for _ in 0..<(4 * side * side) {
        state = state &* 1_664_525 &+ 1_013_904_223
        data.append(UInt8(state >> 24))
    }
    return Data(data)
}
