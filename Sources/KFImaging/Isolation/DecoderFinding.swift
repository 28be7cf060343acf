// How decoders are locked on this machine, or why there are none. For those who ask, and for `kf doctor`.

import Foundation

/// What was found out about decoders, once.
struct DecoderFinding: Sendable, Hashable {
    /// The program; nil when there is none.
    let path: String?
    private(set) var greeting: DecoderGreeting?
    /// Why it cannot be used; nil when it can.
    private(set) var obstacle: String?

    static let noProgram = DecoderFinding(
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

extension DecodingIsolation {
    /// What the isolation of decoders comes to on this machine. (Not in Kingfisher.)
    public struct Status: Sendable, Hashable {
        /// The path of the program that is started as a decoder; nil when there is none.
        public let program: String?
        /// The version of the Landlock that keeps a decoder from files (from 1 on), from TCP (from 4 on), and from signals
        /// and abstract Unix sockets (from 6 on); 0 when the kernel has none.
        public let landlock: Int
        /// Whether its system calls are filtered, without which a decoder is not used.
        public let seccomp: Bool
        /// Whether the number of its files, their size and its core dumps are limited; its memory always is.
        public let limits: Bool
        /// Why images cannot be decoded in processes of their own, and what to do; nil when they can.
        public let obstacle: String?
    }

    /// The status of decoders, whether they are used or not.
    ///
    /// The first time a decoder is started, and the thread is blocked until it has.
    public static var status: Status {
        let finding = DecoderPool.shared.finding()
        return Status(
            program: finding.path,
            landlock: finding.greeting?.landlock ?? 0,
            seccomp: finding.greeting?.seccomp ?? false,
            limits: finding.greeting?.limits ?? false,
            obstacle: finding.obstacle
        )
    }
}
