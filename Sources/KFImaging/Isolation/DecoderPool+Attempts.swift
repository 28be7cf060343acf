// How often an image is tried when decoders end or fail, and when it is to blame. For DecoderPool+Work.

import Foundation

extension DecoderPool {
    /// Asks a process about a file; another one if it ends.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - preferred: The process that is asked if it still runs; nil: the one with the least to do.
    ///   - work: Asks.
    /// - Returns: What `work` returned.
    /// - Throws: ``ImagingError``.
    func use<Value>(
        for file: File,
        _ preferred: DecoderProcess? = nil,
        _ work: (DecoderProcess) throws(DecoderFailure) -> Value
    ) throws(ImagingError) -> Value {
        guard !refusals.refuse(file.data) else {
            throw .decoderEnded(
                file.type,
                reason: "that is twice in the last ten minutes; it is not tried again so soon"
            )
        }
        var attempts = DecoderAttempts()
        while true {
            let process = try process(attempts.isFirst ? preferred : nil, fresh: attempts.needsFreshProcess)
            defer { release(process) }
            do throws(DecoderFailure) {
                return try work(process)
            } catch {
                if error.endsProcess { remove(process) }
                switch attempts.verdict(error, holdsAnimations: process.holdsAnimations) {
                case .again: continue
                case .error(let error): throw error
                case .blame(let crashes):
                    refusals.note(file.data, crashes: crashes)
                    throw .decoderEnded(file.type, reason: error.reason)
                }
            }
        }
    }

    private func process(_ preferred: DecoderProcess?, fresh: Bool) throws(ImagingError) -> DecoderProcess {
        if let known = preferred.flatMap(join) { return known }
        do throws(DecoderFailure) {
            return try acquire(fresh: fresh)
        } catch {
            throw .isolationUnavailable(detail: error.reason)
        }
    }
}

/// The failed attempts at an image.
private struct DecoderAttempts {
    /// What becomes of the image.
    enum Verdict {
        case again
        case error(ImagingError)
        /// The image fails, and is charged with this number of crashes.
        case blame(crashes: Int)
    }

    private(set) var isFirst = true
    private var lost = 0
    private var hasCrashed = false
    private var lackedMemory = false

    /// Whether only a process that has decoded nothing else tells whether the image is to blame.
    var needsFreshProcess: Bool { hasCrashed || lackedMemory }

    /// Notes an attempt that failed.
    mutating func verdict(_ failure: DecoderFailure, holdsAnimations: Bool) -> Verdict {
        isFirst = false
        switch failure {
        case .image(.outOfMemory) where holdsAnimations && !lackedMemory:
            // It may be the animations that take so much.
            lackedMemory = true
            return .again
        case .image(let error): return .error(error)
        case .unusable(let reason): return .error(.isolationUnavailable(detail: reason))
        case .closed, .gone, .killed:
            lost += 1
            guard lost > DecoderPool.mostAttempts else { return .again }
            // The kernel may have ended them, as it does when memory is short.
            if case .killed = failure { return .blame(crashes: 2) }
            return .blame(crashes: 0)
        case .ended:
            guard !hasCrashed else { return .blame(crashes: 2) }
            // An image before it may have done something to the process.
            hasCrashed = true
            return .again
        case .late: return .blame(crashes: 1)
        }
    }
}

extension DecoderFailure {
    /// Whether the process is not used any more.
    fileprivate var endsProcess: Bool {
        switch self {
        case .image, .closed: false
        case .gone, .unusable, .killed, .ended, .late: true
        }
    }

    /// What an error says of it.
    var reason: String {
        switch self {
        case .image(let error): "\(error)"
        case .closed: "it has closed the animation"
        case .gone: "it is ended whenever it has started"
        case .unusable(let reason), .killed(let reason), .ended(let reason), .late(let reason): reason
        }
    }
}
