// One decoder process, as the program that started it sees it. For DecoderPool.

import Foundation
import KFSupport

/// Why a decoder gave no result.
package enum DecoderFailure: Error {
    /// What the decoder says about the image, or a lack of memory here.
    case image(ImagingError)
    /// There is no such animation in it (any more).
    case closed
    /// It had ended before it was asked.
    case gone
    /// It cannot be asked: it is no decoder, or one of another version, or the system has no memory or files left.
    case unusable(String)
    /// It ended while it was at work, by a signal from outside, such as `kill -9`.
    case killed(String)
    /// It ended while it was at work, or was ended since it gave an answer without sense.
    case ended(String)
    /// It was ended since it took too long.
    case late(String)
}

/// A decoder process, its connection, and the memory that is shared with it.
///
/// It does one thing at a time: other threads that ask wait. What it says is not believed.
package final class DecoderProcess: Sendable {
    /// Memory for files and answers is kept up to this size; what an image needs beyond is given back after it.
    package static let keptMemory = 64 << 20
    /// How long a decoder may take to start, in seconds; machines can be busy.
    private static let startTime = 30.0

    fileprivate struct Exchange {
        var input: SharedMemory?
        var output: SharedMemory?
        var greeting: DecoderGreeting?
        var number = 0
        /// How many bytes of address space it has been granted.
        var memory = 0
        var isOver = false
    }

    /// The animations that are open in it.
    private struct Animations {
        var count = 0
        /// The numbers of animations that were closed here, until the next request tells the process.
        var closed: [Int] = []
    }

    private let child: ChildProcess
    private let socket: MessageSocket
    private let exchange = Locked(Exchange())
    private let animations = Locked(Animations())

    /// Starts a program; it is not waited for.
    ///
    /// - Throws: ``SystemError``.
    init(_ program: DecoderProgram) throws(SystemError) { (child, socket) = try program.start() }

    /// The number of the process.
    package var number: Int32 { child.number }

    /// How it is locked; waits until it has started.
    ///
    /// - Throws: ``DecoderFailure``.
    func greeting() throws(DecoderFailure) -> DecoderGreeting {
        try exchange.withLock { exchange throws(DecoderFailure) in try greeting(&exchange) }
    }

    /// Whether animations are open in it, which take memory.
    var holdsAnimations: Bool { animations.withLock { $0.count > 0 } }

    /// Notes that an animation is open in it.
    func noteOpened() { animations.withLock { $0.count += 1 } }

    /// Notes that an animation is not needed any more; the next request says so.
    func close(_ animation: Int) {
        animations.withLock { animations in
            animations.count -= 1
            animations.closed.append(animation)
        }
    }

    /// Asks for something, and reads the answer.
    ///
    /// - Parameters:
    ///   - work: What is asked for.
    ///   - file: The bytes of the image; nil for an animation that is open already.
    ///   - limits: The limits on the image.
    ///   - read: Reads the answer, which is gone when it returns.
    /// - Returns: What `read` returned.
    /// - Throws: ``DecoderFailure``.
    func ask<Value: Sendable>(
        _ work: DecoderRequest.Work,
        about file: Data?,
        _ limits: ImageDecodingLimits,
        read: (inout ReceivedAnswer) throws -> Value
    ) throws(DecoderFailure) -> Value {
        try exchange.withLock { exchange throws(DecoderFailure) -> Value in
            guard try greeting(&exchange).seccomp else { throw .unusable(DecoderAvailability.noFilter) }
            // Nothing has been asked, so that nothing can be there but its end.
            if exchange.isOver || socket.hasNews {
                exchange.isOver = true
                throw .gone
            }
            do {
                defer { exchange.forgetLargeMemory() }
                var answer = try self.answer(to: work, file, limits, &exchange)
                switch answer.kind {
                case .done: return try read(&answer)
                case .failed: throw try answer.values.error()
                case .closed: throw DecoderFailure.closed
                }
            } catch {
                let reason = failure(error, limits)
                switch reason {
                case .image, .closed: break
                default: exchange.isOver = true
                }
                throw reason
            }
        }
    }

    private func greeting(_ exchange: inout Exchange) throws(DecoderFailure) -> DecoderGreeting {
        if let greeting = exchange.greeting { return greeting }
        if exchange.isOver { throw .gone }
        do {
            let message = try socket.receive(until: .now + .seconds(Self.startTime))
            let greeting = try DecoderGreeting(message.bytes)
            exchange.greeting = greeting
            guard greeting.failure.isEmpty else {
                exchange.isOver = true
                throw DecoderFailure.unusable("the decoder cannot lock itself: \(greeting.failure)")
            }
            return greeting
        } catch let failure as DecoderFailure {
            throw failure
        } catch {
            exchange.isOver = true
            // A signal from outside may have ended it before it could answer.
            if case .killed = failure(error, ImageDecodingLimits()) { throw .gone }
            let end = child.waitForEnd(within: 0).map { ": \($0)" } ?? ", or is one of another version"
            throw .unusable("the program did not start as a decoder\(end)")
        }
    }

    /// Sends a request, and waits for its answer.
    private func answer(
        to work: DecoderRequest.Work,
        _ file: Data?,
        _ limits: ImageDecodingLimits,
        _ exchange: inout Exchange
    ) throws -> ReceivedAnswer {
        let deadline = SuspendingClock.now + Duration(clampingSeconds: limits.maxDecodingDuration)
        try grantMemory(limits, file?.count ?? 0, &exchange)
        exchange.number += 1
        var request = DecoderRequest(exchange.number, work, limits)
        request.closed = takeClosed()
        var files: [OwnedDescriptor] = []
        if let file {
            let (memory, isNew) = try exchange.inputMemory(file.count)
            if isNew { files.append(memory.file) }
            (request.bringsInput, request.byteCount) = (isNew, file.count)
            file.withUnsafeBytes { memory.bytes.copyMemory(from: $0) }
        }
        if exchange.output == nil {
            let memory = try SharedMemory(toRead: Self.keptMemory)
            exchange.output = memory
            files.append(memory.file)
            request.bringsOutput = true
        }
        try socket.send(request.message, files: files)
        let header = try self.header(of: request, deadline)
        guard header.count <= limits.mostAnswered(file?.count ?? 0),
            header.bodyCount <= limits.mostDescribed(file?.count ?? 0)
        else { throw MalformedMessage() }
        if let output = exchange.output, header.count > output.count {
            let memory = try SharedMemory(toRead: header.count)
            exchange.output = memory
            exchange.number += 1
            var again = DecoderRequest(exchange.number, .repeatAnswer, limits)
            again.bringsOutput = true
            try socket.send(again.message, files: [memory.file])
            let second = try self.header(of: again, deadline)
            guard second.count == header.count, second.bodyCount == header.bodyCount else { throw MalformedMessage() }
        }
        guard let output = exchange.output else { throw MalformedMessage() }
        return try ReceivedAnswer(header, in: output)
    }

    private func header(
        of request: DecoderRequest,
        _ deadline: SuspendingClock.Instant
    ) throws -> AnswerHeader {
        let header = try AnswerHeader(socket.receive(until: deadline).bytes)
        guard header.number == request.number else { throw MalformedMessage() }
        return header
    }

    private func takeClosed() -> [Int] {
        animations.withLock { animations in
            let taken = animations.closed.suffix(DecoderRequest.mostClosed)
            animations.closed.removeLast(taken.count)
            return Array(taken)
        }
    }

    /// Lets it use as much memory as the image may take, and no more.
    private func grantMemory(
        _ limits: ImageDecodingLimits,
        _ byteCount: Int,
        _ exchange: inout Exchange
    ) throws {
        let memory = limits.memoryOfDecoder(byteCount)
        guard memory != exchange.memory else { return }
        try child.limitMemory(to: memory)
        exchange.memory = memory
    }

    private func failure(_ error: any Error, _ limits: ImageDecodingLimits) -> DecoderFailure {
        switch error {
        case let error as DecoderFailure: return error
        case let error as ImagingError: return .image(error)
        case MessageSocket.Failure.late:
            child.stop()
            return .late("it took longer than maxDecodingDuration = \(limits.maxDecodingDuration) s, and was ended")
        case MessageSocket.Failure.closed:
            // Its connection is closed before its end can be seen.
            guard let end = child.waitForEnd(within: 2) else {
                child.stop()
                return .ended("it closed its connection, and was ended")
            }
            return end.isFromOutside ? .killed("\(end)") : .ended("\(end)")
        case is MalformedMessage, MessageSocket.Failure.system(EAGAIN), MessageSocket.Failure.system(EBADMSG):
            // It takes no more requests, or sends bytes that are no message.
            child.stop()
            return .ended("it gave an answer without sense, and was ended")
        default:
            child.stop()
            return .unusable("\(error)")
        }
    }
}

extension DecoderProcess.Exchange {
    /// The shared memory for a file of this size in bytes, and whether it must be sent to the decoder.
    fileprivate mutating func inputMemory(_ count: Int) throws -> (SharedMemory, isNew: Bool) {
        if let input, input.count >= count { return (input, false) }
        // Powers of two, so that files that become larger and larger do not need new memory each time.
        var size = 1 << 20
        while size < count { size *= 2 }
        let memory = try SharedMemory(toWrite: size)
        input = memory
        return (memory, true)
    }

    /// The decoder does the same after its answer.
    fileprivate mutating func forgetLargeMemory() {
        if let input, input.count > DecoderProcess.keptMemory { self.input = nil }
        if let output, output.count > DecoderProcess.keptMemory { self.output = nil }
    }
}

extension ImageDecodingLimits {
    /// How much address space a decoder gets for a file: its code, its threads and the memory that is shared with it;
    /// and for each pixel what most libraries need.
    fileprivate func memoryOfDecoder(_ byteCount: Int) -> Int {
        let (pixels, overflow) = max(0, maxPixelCount).multipliedReportingOverflow(by: 16)
        guard !overflow, pixels < 1 << 50 else { return 1 << 50 }
        return pixels + min(max(0, maxCoefficientBytes), 1 << 50) + 3 * byteCount + 1 << 30
    }

    /// How many bytes an answer may have beside its pixels: what files say of themselves, frames, and the places of
    /// rows.
    fileprivate func mostDescribed(_ byteCount: Int) -> Int {
        min(max(0, maxFrameCount), 1 << 20) * 128 + byteCount + 32 << 20
    }

    /// The most bytes of an answer about a file, in which a row of an image one pixel wide takes 16 bytes instead of 4.
    fileprivate func mostAnswered(_ byteCount: Int) -> Int {
        min(max(0, maxPixelCount), 1 << 44) * 16 + min(max(0, maxFrameCount), 1 << 32) * 128 + byteCount + 1 << 20
    }
}
