// Becomes a program of the system under the locks of decoders. For SandboxedProcess, which starts this program so.

import CKFSandbox
import Foundation
import KFSupport

/// A program of the system that takes the place of this one.
enum LockedProgram {
    /// Becomes the program that the arguments name behind ``SandboxedProcess/lockedRun``, if they do; otherwise returns.
    static func becomeIfAsked() {
        guard CommandLine.arguments.dropFirst().first == SandboxedProcess.lockedRun else { return }
        var step: UnsafePointer<CChar>?
        let error = kf_sandbox_run(0, CommandLine.unsafeArgv + 2, &step)
        let reason = "\(step.map { String(cString: $0) } ?? ""): \(String(cString: strerror(error)))\n"
        FileHandle.standardError.write(Data((SandboxedProcess.lockedRunFailure + reason).utf8))
        exit(error)
    }
}
