// A decoder process: it locks itself, and answers its parent until that closes the connection.

import CKFLinux
import CKFSandbox
import Foundation
package import KFImaging
import KFSupport

/// The life of a decoder process.
package final class DecoderLoop {
    private let socket = MessageSocket(OwnedDescriptor(DecoderProgram.connection))
    private let service = DecoderService()
    private let intrusion: ((DecoderRequest, UnsafeRawBufferPointer, _ output: UnsafeMutableRawBufferPointer) -> Void)?
    private var input: SharedMemory?
    private var output: SharedMemory?
    /// The last answer, until the next request: it may have to be written again.
    private var answer: DecoderAnswer?

    /// A decoder.
    ///
    /// - Parameter intrusion: Called with each request, its file and the memory for the answer before it is answered,
    ///   by a test's decoder that does what no decoder may.
    package init(
        intrusion: ((DecoderRequest, UnsafeRawBufferPointer, _ output: UnsafeMutableRawBufferPointer) -> Void)? = nil
    ) {
        self.intrusion = intrusion
    }

    /// Locks the process and serves its parent; the process ends in here.
    package func run() -> Never {
        // A terminal, or who stops a service, signals all processes at once; but the parent may have images to finish.
        for number in [SIGINT, SIGTERM, SIGHUP] { signal(number, SIG_IGN) }
        // The runtime's handlers would start a program that prints the stack, which a locked process may not.
        for number in [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGQUIT] { signal(number, SIG_DFL) }
        kf_keep_freed_memory(DecoderProcess.keptMemory / 2)
        DecoderService.prepare()
        // It reads files about the machine.
        _ = UsableProcessors.count
        var (state, step): (kf_sandbox_state, UnsafePointer<CChar>?) = (kf_sandbox_state(), nil)
        let failure = kf_sandbox_lock(0, &state, &step)
        do throws(MessageSocket.Failure) {
            guard failure == 0 else {
                let words = "\(step.map(String.init(cString:)) ?? "locks"): \(String(cString: strerror(failure)))"
                try socket.send(DecoderGreeting(failure: words).message)
                exit(71)
            }
            let greeting = DecoderGreeting(landlock: Int(state.landlock), seccomp: state.seccomp, limits: state.limits)
            try socket.send(greeting.message)
            watchParent()
            while true { try serve() }
        } catch {
            exit(error == .closed ? 0 : 74)
        }
    }

    /// Ends the process with its parent, even while it decodes.
    private func watchParent() {
        Thread.detachNewThread { [socket] in
            socket.waitForEnd()
            _exit(0)
        }
    }

    private func serve() throws(MessageSocket.Failure) {
        let message = try socket.receive()
        guard let request = DecoderRequest(message.bytes), take(message.files, of: request), let output else {
            exit(65)
        }
        let memory = UnsafeRawBufferPointer(input?.bytes ?? UnsafeMutableRawBufferPointer(start: nil, count: 0))
        let bytes = UnsafeRawBufferPointer(rebasing: memory.prefix(request.byteCount))
        intrusion?(request, bytes, output.bytes)
        if let new = service.answer(request, bytes, for: output.bytes) { answer = new }
        guard let answer else { exit(65) }
        let header = answer.header(request.number)
        let isWritten = header.count <= output.count
        if isWritten {
            answer.write(to: output.bytes)
            self.answer = nil
        }
        try socket.send(header.message)
        // The parent does the same, unless it asks for the answer again.
        if isWritten { forgetLargeMemory() }
    }

    /// Maps the memory that came with a request.
    private func take(_ files: [OwnedDescriptor], of request: DecoderRequest) -> Bool {
        var files = files[...]
        if request.bringsInput {
            input = files.popFirst().flatMap { try? SharedMemory(of: $0, isWritten: false) }
        }
        if request.bringsOutput {
            output = files.popFirst().flatMap { try? SharedMemory(of: $0, isWritten: true) }
        }
        return files.isEmpty
    }

    private func forgetLargeMemory() {
        var isLarge = false
        if let input, input.count > DecoderProcess.keptMemory { (self.input, isLarge) = (nil, true) }
        if let output, output.count > DecoderProcess.keptMemory { (self.output, isLarge) = (nil, true) }
        if isLarge { kf_return_freed_memory() }
    }
}
