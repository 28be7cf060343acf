// One making of a result, beside what the processor returns: its slot, its time, why there is none. For the renderer
// and the processor.

@_spi(Server) import Kingfisher
import Synchronization

/// One making of a result.
///
/// Its processor has a reference, so that it lasts as long as anything may work for it, and with it the slot that it
/// takes and its share of the machine's time.
package final class Making: Sendable {
    private struct State {
        var error: RenderingError?
        var warning: String?
        var hasSource = false
        var origin: OriginSize?
        var begin: ContinuousClock.Instant?
        var end: ContinuousClock.Instant?
        var work: Capacity.Work?
        var share: Capacity.Share?
    }

    private let slot: RenderingSlot?
    private let capacity: Capacity
    private let deadline: ContinuousClock.Instant
    private let state = Mutex(State())

    init(in slot: RenderingSlot?, of capacity: Capacity, until deadline: ContinuousClock.Instant) {
        (self.slot, self.capacity, self.deadline) = (slot, capacity, deadline)
    }

    /// Throws if it would not be ready in time, as far as is known before the source is loaded.
    func checkTime(for source: [UInt8], _ work: (ImageInfo) -> Capacity.Work) throws(RenderingError) {
        guard let header = capacity.header(of: source) else { return }
        let seconds = (deadline - .now) / .seconds(1)
        if let refusal = capacity.refusal(of: work(header), within: seconds) { throw .overloaded(retryAfter: refusal) }
    }

    /// Keeps the header of the source.
    func remember(_ header: ImageInfo, of source: [UInt8]) { capacity.remember(header, of: source) }

    /// How much work it is, which is known now; refused if it would not be ready in time.
    func weight(of work: Capacity.Work) -> ImageWeight {
        switch capacity.admit(work, within: (deadline - .now) / .seconds(1)) {
        case .small:
            state.withLock { $0.work = work }
            return .small
        case .large(let share):
            state.withLock { ($0.work, $0.share) = (work, share) }
            return .large
        case .refused(let seconds):
            fail(.overloaded(retryAfter: seconds))
            return .refused
        }
    }

    /// The bytes of the source are here.
    func sourceArrived() { state.withLock { $0.hasSource = true } }

    /// The source that it is made of; nil before that is known.
    var origin: OriginSize? { state.withLock { $0.origin } }

    /// Keeps how large the source is.
    func remember(_ origin: OriginSize) { state.withLock { $0.origin = origin } }

    /// Whether the source has yet to come.
    var isWithoutSource: Bool { state.withLock { !$0.hasSource } }

    /// Why there is no result; nil while it has not failed.
    var error: RenderingError? { state.withLock { $0.error } }

    func fail(_ error: RenderingError) { state.withLock { $0.error = error } }

    /// In what the result is not as it was asked for; nil if it is, or has not been made.
    var warning: String? { state.withLock { $0.warning } }

    func warn(_ warning: String) { state.withLock { $0.warning = warning } }

    /// The processor ran from an instant until now, for one frame or for all.
    func didRun(from begin: ContinuousClock.Instant) {
        state.withLock { state in
            state.begin = state.begin ?? begin
            state.end = .now
        }
    }

    /// How long the steps took of what began at an instant and has just ended; nil if another making's were used.
    ///
    /// Others are judged by it.
    func times(since start: ContinuousClock.Instant) -> MakingTimes? {
        let state = state.withLock { $0 }
        guard let begin = state.begin, let end = state.end else { return nil }
        let now = ContinuousClock.now
        if let work = state.work { capacity.observe(work, seconds: (now - begin) / .seconds(1)) }
        return MakingTimes(source: begin - start, pixels: end - begin, encoding: now - end)
    }
}
