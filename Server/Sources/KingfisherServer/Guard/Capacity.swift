// How long results will take, from how long others took: which are large, and which could not be ready in time. For the
// processor, once it knows the source.

package import KFImageURLs
package import Kingfisher
import Synchronization

/// What the processors of this machine are busy with, and for how long.
package final class Capacity: Sendable {
    /// How much there is to do for a result, as far as its source's header and its plan say.
    package struct Work: Sendable {
        /// The format that it becomes; nil if that follows from the source.
        package var format: FileFormat?
        package var isAnimation: Bool
        /// All frames together: the pixels that are decoded and those that are encoded, these weighted by the format.
        package var pixels: Double

        package init(format: FileFormat? = nil, isAnimation: Bool = false, pixels: Double) {
            (self.format, self.isAnimation) = (format, isAnimation)
            self.pixels = pixels.isNaN ? 0 : min(max(pixels, 0), 1e18)
        }

        fileprivate var kind: Kind { Kind(format: format, isAnimation: isAnimation) }
    }

    /// What is taken to be about equally fast, pixel by pixel.
    fileprivate struct Kind: Hashable {
        let format: FileFormat?
        let isAnimation: Bool
    }

    private struct State {
        /// Seconds for each pixel, of the latest results.
        var pace: [Kind: Double] = [:]
        /// The seconds of large results that were admitted and have not ended.
        var pending = 0.0
        /// What was found in sources.
        var headers: [[UInt8]: ImageInfo] = [:]
    }

    /// From these seconds on, smaller results go first.
    private static let largeSeconds = 0.25
    /// Until one of the kind was made.
    private static let firstPace = 30e-9
    private static let mostHeaders = 4096
    /// How much of the time that is left a result may need, by an estimate that is none too good.
    private static let safety = 0.8

    private let workers: Double
    private let state = Mutex(State())

    /// - Parameter workers: How many results are made at one time.
    package init(workers: Int) { self.workers = Double(max(1, workers)) }

    /// Whether a result may be made that has some seconds left.
    ///
    /// A large result is refused where the large results before it and itself would take longer, or nearly so. If there
    /// is none before it, it is tried, whatever it may take.
    package func admit(_ work: Work, within seconds: Double) -> Admission {
        state.withLock { state in
            if let refusal = refusal(of: work, within: seconds, state) { return .refused(retryAfter: refusal) }
            let needed = self.seconds(for: work, state)
            guard needed >= Self.largeSeconds else { return .small }
            // It takes no longer than it has: then it is ended.
            let share = min(needed, max(0, seconds))
            state.pending += share
            return .large(Share(of: self, seconds: share))
        }
    }

    /// After how many seconds a result may be admitted that would be refused now; nil if it would not be.
    package func refusal(of work: Work, within seconds: Double) -> Int? {
        state.withLock { refusal(of: work, within: seconds, $0) }
    }

    private func refusal(of work: Work, within seconds: Double, _ state: State) -> Int? {
        let (needed, wait) = (self.seconds(for: work, state), state.pending / workers)
        guard needed >= Self.largeSeconds, state.pending > 0, wait + needed > seconds * Self.safety else { return nil }
        return Int(min(max(wait + needed - seconds, 1), 3600).rounded(.up))
    }

    private func seconds(for work: Work, _ state: State) -> Double {
        work.pixels * (state.pace[work.kind] ?? Self.firstPace)
    }

    /// The header of a source that was loaded before, so that nothing needs to be loaded for a refusal.
    package func header(of source: [UInt8]) -> ImageInfo? { state.withLock { $0.headers[source] } }

    /// Keeps a header; all are forgotten when there are many.
    ///
    /// An upload has no name to be found by.
    package func remember(_ header: ImageInfo, of source: [UInt8]) {
        if source.isEmpty { return }
        state.withLock { state in
            if state.headers.count >= Self.mostHeaders { state.headers = [:] }
            state.headers[source] = header
        }
    }

    /// A result of that kind took so long, without waiting.
    package func observe(_ work: Work, seconds: Double) {
        guard work.pixels > 0, seconds >= 0, seconds.isFinite else { return }
        state.withLock { state in
            let pace = seconds / work.pixels
            state.pace[work.kind] = state.pace[work.kind].map { $0 + (pace - $0) / 8 } ?? pace
        }
    }

    /// The seconds until what was admitted is done.
    package var secondsPending: Double { state.withLock { $0.pending } / workers }

    fileprivate func release(_ seconds: Double) {
        // Sums of fractions do not come back to nothing by themselves.
        state.withLock { $0.pending = $0.pending - seconds < 1e-6 ? 0 : $0.pending - seconds }
    }

    /// What becomes of a result.
    package enum Admission {
        case small
        case large(Share)
        case refused(retryAfter: Int)
    }

    /// The time of a large result, which is held as long as anything may work for it.
    package final class Share: Sendable {
        private let capacity: Capacity
        private let seconds: Double

        fileprivate init(of capacity: Capacity, seconds: Double) { (self.capacity, self.seconds) = (capacity, seconds) }

        deinit { capacity.release(seconds) }
    }
}
