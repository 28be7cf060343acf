// Which decoder processes there are, and who uses them: at most one for each thread that decodes. For Codecs.

import Foundation
import KFSupport

/// Some decoder processes, started as they are needed.
///
/// All functions block and may be called from any thread.
package final class DecoderPool: Sendable {
    /// The decoders of everything that is decoded in this process.
    package static let shared = DecoderPool(DecoderProgram.find)

    /// A file that is to be decoded.
    struct File: Sendable {
        let data: Data
        let type: ImageContentType
        let limits: ImageDecodingLimits
    }

    /// A process is replaced after this number of images: one that an image has taken over does not last.
    package static let mostImages = 1_000
    /// How often a process is started, or an image given to another one, because it was killed from outside.
    static let mostAttempts = 10
    /// How many seconds pass until decoders are tried again where there were none.
    private static let secondsToRetry = 10.0
    private struct Member {
        let process: DecoderProcess
        /// How many threads use it or wait for it.
        var users = 0
        var images = 0
        var lastUse = SuspendingClock.now
    }

    private struct State {
        var members: [Member] = []
        /// How many processes are about to become members.
        var starting = 0
        /// How decoders are locked, found out once; or why there are none, and when that was.
        var availability: DecoderAvailability?
        var availabilityTime = SuspendingClock.now
        var hasSaid = false
        /// Whether idle processes will be ended.
        var willEndIdle = false
    }

    private let program: @Sendable () -> DecoderProgram?
    private let size: @Sendable () -> Int
    /// How many seconds a process lasts without work: it may hold the memory that the largest image took.
    private let secondsOfIdleness: Double
    private let state = Locked(State())
    let refusals = RefusedFiles()

    /// A pool of processes of a program, which is looked for when the first one is needed.
    ///
    /// - Parameters:
    ///   - program: Finds it.
    ///   - size: How many processes there are at most.
    ///   - secondsOfIdleness: How long a process lasts without work.
    package init(
        _ program: @escaping @Sendable () -> DecoderProgram?,
        size: @escaping @Sendable () -> Int = { WorkExecutor.cpu.threadCount + 1 },
        secondsOfIdleness: Double = 60
    ) {
        (self.program, self.size, self.secondsOfIdleness) = (program, size, secondsOfIdleness)
    }

    /// Starts a process ahead, if there is none, and does not wait for it.
    package func prepare() {
        let isNeeded = state.withLock { $0.members.isEmpty && $0.starting == 0 && $0.availability?.obstacle == nil }
        if isNeeded, let process = try? start() { release(process) }
    }

    /// The numbers of the processes that run.
    package var processes: [Int32] { state.withLock { $0.members.map(\.process.number) } }

    /// How decoders are locked, or why there are none.
    ///
    /// The first call waits until one has started. Without one, it is tried again after a while: what was missing may
    /// have been memory.
    func availability() -> DecoderAvailability {
        let known = state.withLock { state -> DecoderAvailability? in
            let isOld = SuspendingClock.now - state.availabilityTime > .seconds(Self.secondsToRetry)
            return state.availability?.obstacle != nil && isOld ? nil : state.availability
        }
        if let known { return known }
        let found = find()
        state.withLock { state in
            // Another thread may have found a decoder meanwhile.
            if state.availability?.obstacle == nil, state.availability != nil { return }
            (state.availability, state.availabilityTime) = (found, .now)
        }
        return found
    }

    private func find() -> DecoderAvailability {
        guard let program = program() else { return .noProgram }
        for _ in 0..<Self.mostAttempts {
            do throws(DecoderFailure) {
                let process = try acquire(fresh: false)
                defer { release(process) }
                do throws(DecoderFailure) {
                    return DecoderAvailability(path: program.path, greeting: try process.greeting())
                } catch {
                    remove(process)
                    throw error
                }
            } catch {
                if case .gone = error { continue }
                return DecoderAvailability(path: program.path, reason: error.reason)
            }
        }
        return DecoderAvailability(path: program.path, reason: "the program is ended whenever it has started")
    }

    /// Writes why images are decoded in this process; once.
    func say(_ obstacle: String) {
        let isFirst = state.withLock { state in
            defer { state.hasSaid = true }
            return !state.hasSaid
        }
        guard isFirst else { return }
        let line = "Kingfisher: images are decoded in this process, as no locked one can be had: \(obstacle)\n"
        FileHandle.standardError.write(Data(line.utf8))
    }
}

extension DecoderPool {
    /// Counts a user of a process that is known; nil when it has been replaced.
    func join(_ process: DecoderProcess) -> DecoderProcess? {
        state.withLock { state in
            guard let index = state.members.firstIndex(where: { $0.process === process }) else { return nil }
            state.members[index].users += 1
            state.members[index].images += 1
            return process
        }
    }

    /// The process with the least to do, or a new one while there may be more.
    ///
    /// A fresh one may be one too many, until it is released.
    func acquire(fresh: Bool) throws(DecoderFailure) -> DecoderProcess {
        let size = max(1, size())
        let found = state.withLock { state -> DecoderProcess? in
            let best = state.members.indices.min { state.members[$0].users < state.members[$1].users }
            guard !fresh, let best,
                state.members[best].users == 0 || state.members.count + state.starting >= size
            else { return nil }
            state.members[best].users += 1
            state.members[best].images += 1
            return state.members[best].process
        }
        if let found { return found }
        return try start()
    }

    /// Starts a process, which has one user.
    private func start() throws(DecoderFailure) -> DecoderProcess {
        state.withLock { $0.starting += 1 }
        defer { state.withLock { $0.starting -= 1 } }
        guard let program = program() else { throw .unusable(DecoderAvailability.noProgram.obstacle ?? "") }
        do throws(SystemError) {
            let process = try DecoderProcess(program)
            state.withLock { $0.members.append(Member(process: process, users: 1, images: 1)) }
            return process
        } catch {
            throw .unusable("\(error)")
        }
    }

    /// Counts a user of a process no more; without users it stays for the next image, unless it has served its time.
    func release(_ process: DecoderProcess) {
        let size = max(1, size())
        state.withLock { state in
            guard let index = state.members.firstIndex(where: { $0.process === process }) else { return }
            state.members[index].users -= 1
            state.members[index].lastUse = .now
            let member = state.members[index]
            if member.images >= Self.mostImages || member.users == 0 && state.members.count > size {
                state.members.remove(at: index)
            }
        }
        planToEndIdle()
    }

    /// Forgets a process, which ends with its last user.
    func remove(_ process: DecoderProcess) {
        state.withLock { state in state.members.removeAll { $0.process === process } }
    }

    /// Ends the processes that have had nothing to do for long enough.
    private func endIdle() {
        let begin = SuspendingClock.now - .seconds(secondsOfIdleness)
        let idle = state.withLock { state in
            let split = state.members.partition { $0.users == 0 && $0.lastUse <= begin }
            defer { state.members.removeSubrange(split...) }
            return Array(state.members[split...])
        }
        // They end here, outside of the lock.
        withExtendedLifetime(idle) {}
    }

    /// Has idle processes ended later, as long as there are any processes.
    private func planToEndIdle() {
        let isNeeded = state.withLock { state in
            guard !state.willEndIdle, !state.members.isEmpty else { return false }
            state.willEndIdle = true
            return true
        }
        guard isNeeded else { return }
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + secondsOfIdleness) { [weak self] in
            guard let self else { return }
            state.withLock { $0.willEndIdle = false }
            endIdle()
            planToEndIdle()
        }
    }
}
