// The beginning of a program that can be started as a decoder, or becomes another program under the locks of decoders.
// For `kf-decoder`, and for programs that are their own.

import CKFSandbox
import Foundation
import KFImaging
import KFSupport

/// What makes a program its own decoder.
///
/// Programs that set `ImageDecodingLimits.isolation` need a program whose processes decode for them: `kf-decoder`, or
/// themselves. A program that calls ``start()`` need not be installed together with `kf-decoder`:
///
/// ```swift
/// import Kingfisher
/// import KingfisherDecoder
///
/// @main
/// struct Gallery {
///     static func main() {
///         EmbeddedDecoder.start()
///         ImageDecodingLimits.default.isolation = .required
///         // The program begins here.
///     }
/// }
/// ```
public enum EmbeddedDecoder {
    /// Turns the process into a decoder, if it was started as one.
    ///
    /// It then locks itself, decodes what its parent asks for and ends with it; this call never returns.
    ///
    /// In any other process it only notes that this program can be started as a decoder, which then comes before a
    /// `kf-decoder` beside it. Called once, before anything else: before threads, files or connections, which a decoder
    /// would have, too.
    public static func start() {
        LockedProgram.becomeIfAsked()
        guard CommandLine.arguments.dropFirst() == [DecoderProgram.argument] else {
            DecoderProgram.isEmbedded = true
            return
        }
        DecoderLoop().run()
    }
}

/// A program of the system that takes the place of this one.
enum LockedProgram {
    /// Becomes the program that the arguments name behind ``SandboxedProcess/lockedRun``, if they do; otherwise
    /// returns.
    static func becomeIfAsked() {
        guard CommandLine.arguments.dropFirst().first == SandboxedProcess.lockedRun else { return }
        var step: UnsafePointer<CChar>?
        let error = kf_sandbox_run(0, CommandLine.unsafeArgv + 2, &step)
        let reason = "\(step.map { String(cString: $0) } ?? ""): \(String(cString: strerror(error)))\n"
        FileHandle.standardError.write(Data((SandboxedProcess.lockedRunFailure + reason).utf8))
        exit(error)
    }
}
