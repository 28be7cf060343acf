// Previews of one load's progressive JPEG, made while its bytes arrive. For the manager.

import Foundation
import KFImaging
import KFSupport

/// Makes previews of one load and hands them out, one at a time, until the load is over.
///
/// Loads may share a transfer; each has previews of its own, made by its own processor. Nothing waits for them, and a
/// preview that fails is left out.
final class Previews: Sendable {
    /// Shows a preview where the load's image is going to be; nil shows nothing there.
    typealias Setter = @MainActor @Sendable (KFCrossPlatformImage?) -> Void

    /// Work on one transfer.
    private struct Run: Sendable {
        let updates: AsyncStream<Void>.Continuation
        let task: Task<Void, Never>

        func end() {
            updates.finish()
            task.cancel()
        }
    }

    private struct State: Sendable {
        var isClosed = false
        /// How many scans had begun when the latest preview was made.
        var shown = 0
        var run: Run?
    }

    private let state = Locked(State())
    private let progressive: ImageProgressive
    private let options: KingfisherParsedOptionsInfo
    private let setter: Setter?
    private let clock: any Clock<Duration>

    /// Nil when the options want no previews.
    init?(_ options: KingfisherParsedOptionsInfo, setter: Setter?, clock: any Clock<Duration>) {
        guard let progressive = options.progressiveJPEG else { return nil }
        self.progressive = progressive
        self.options = options
        self.setter = setter
        self.clock = clock
    }

    /// Begins with a source that has not been tried before: its first scan may be shown again.
    func begin() { replaceRun(by: nil, shown: 0) }

    /// Follows a transfer, and stops following the one before.
    ///
    /// When it is a second attempt, scans that have been shown are not shown again.
    func watch(_ transfer: SessionDataTask) {
        // Chunks that arrive while a preview is made count as one update: there is never more than one waiting.
        let (stream, updates) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let task = Task(executorPreference: WorkExecutor.cpu) { [self] in await work(on: transfer, stream) }
        replaceRun(by: Run(updates: updates, task: task))
        updates.yield()
    }

    /// To be called when the transfer has more bytes than before.
    func moreDataHasArrived() { state.withLock { $0.run }?.updates.yield() }

    /// Ends the previews: none is handed out after this returns, unless it is being handed out now.
    func close() {
        state.withLock { $0.isClosed = true }
        replaceRun(by: nil)
    }

    private func replaceRun(by new: Run?, shown: Int? = nil) {
        let over = state.withLock { state -> Run? in
            state.shown = shown ?? state.shown
            if state.isClosed, let new { return new }
            defer { state.run = new }
            return state.run
        }
        over?.end()
    }

    // MARK: Making them

    /// Looks at the bytes that have arrived, again and again, until the transfer turns out to be no progressive JPEG or
    /// the load ends.
    private func work(on transfer: SessionDataTask, _ updates: AsyncStream<Void>) async {
        let decoding = DecodingOptions(scale: options.scaleFactor, limits: options.limits)
        guard let decoder = try? ProgressiveJPEG(options: decoding) else { return }
        var taken = 0
        var examined = 1
        for await _ in updates {
            let bytes = transfer.data(from: taken)
            taken += bytes.count
            decoder.append(bytes)
            guard decoder.kind != .other else { return }
            let count = decoder.scanCount
            guard count > examined else { continue }
            for begun in progressive.isFastestScan ? count...count : examined + 1...count {
                guard isWanted(begun) else { continue }
                if let decoded = try? decoder.image(afterScan: begun - 1), let image = await finished(decoded, begun) {
                    await deliver(image, scanCount: begun)
                    await pause()
                }
            }
            examined = count
        }
    }

    /// Blurred as long as little is known, and processed as the load wants it.
    private func finished(_ decoded: KFCrossPlatformImage, _ scanCount: Int) async -> KFCrossPlatformImage? {
        var image = decoded
        if let radius = progressive.blurRadius(scanCount: scanCount) {
            guard let blurred = decoded.blurred(radius: radius) else { return nil }
            image = blurred
        }
        return try? await options.processor.processed(.image(image), options)
    }

    private func pause() async {
        guard progressive.scanInterval > 0 else { return }
        try? await clock.sleep(for: Duration(clampingSeconds: progressive.scanInterval))
    }

    // MARK: Handing them out

    private func isWanted(_ scanCount: Int) -> Bool { state.withLock { !$0.isClosed && scanCount > $0.shown } }

    private func deliver(_ image: KFCrossPlatformImage, scanCount: Int) async {
        guard isWanted(scanCount) else { return }
        await CallbackQueue.mainAsync.run { [self] in
            let isCurrent = state.withLock { state in
                guard !state.isClosed, scanCount > state.shown else { return false }
                state.shown = scanCount
                return true
            }
            guard isCurrent else { return }
            MainActor.assumeIsolated { show(image) }
        }
    }

    @MainActor private func show(_ image: KFCrossPlatformImage) {
        let strategy = progressive.onImageUpdated.call(image) ?? .default
        // The callback is the user's: it may have cancelled the load.
        guard let setter, !state.withLock({ $0.isClosed }) else { return }
        switch strategy {
        case .default: setter(image)
        case .keepCurrent: break
        case .replace(let other): setter(other)
        }
    }
}
