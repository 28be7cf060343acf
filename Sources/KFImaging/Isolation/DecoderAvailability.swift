// How decoders are locked on this machine, or why there are none. For DecoderPool and for those who ask.

import Foundation

/// What was found out about decoders, once.
struct DecoderAvailability: Sendable, Hashable {
    /// The program; nil when there is none.
    let path: String?
    private(set) var greeting: DecoderGreeting?
    /// Why it cannot be used; nil when it can.
    private(set) var obstacle: String?

    static let noProgram = DecoderAvailability(
        path: nil,
        reason: "there is no program kf-decoder; install it beside this program or in ../libexec, or name it in the"
            + " variable KF_DECODER"
    )

    static let noFilter =
        "the decoder cannot filter its system calls; the kernel needs seccomp, and a container must allow it"

    init(path: String?, reason: String) { (self.path, obstacle) = (path, reason) }

    init(path: String, greeting: DecoderGreeting) {
        (self.path, self.greeting) = (path, greeting)
        if !greeting.seccomp {
            obstacle = "\(path): \(Self.noFilter)"
        }
    }
}
