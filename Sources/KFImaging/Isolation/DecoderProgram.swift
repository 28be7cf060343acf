// The program that a decoder is, and where it is found. For DecoderPool, and the decoder itself.

import Foundation
import KFSupport

/// A program that can be started as a decoder.
package struct DecoderProgram: Sendable, Hashable {
    /// The one argument of a program that is started as a decoder.
    package static let argument = "--decode-for-parent"
    /// The number of the connection that it then has.
    package static let connection: Int32 = 3

    /// Whether this very program can be started as one: it calls the decoder at its beginning.
    package static var isEmbedded: Bool {
        get { embedded.withLock { $0 } }
        set { embedded.withLock { $0 = newValue } }
    }
    private static let embedded = Locked(false)

    /// The path of its file.
    package let path: String

    /// The program at a path.
    package init(path: String) { self.path = path }

    /// The first one that there is; nil when there is none.
    static func find() -> DecoderProgram? {
        if let named = ProcessInfo.processInfo.environment["KF_DECODER"], !named.isEmpty {
            return DecoderProgram(path: named)
        }
        // This name leads to the program's file even where that has been replaced since.
        if isEmbedded { return DecoderProgram(path: "/proc/self/exe") }
        let places = ProgramFolders.own.flatMap { folder in
            ["", "/../libexec", "/../libexec/kingfisher"].map { folder + $0 + "/kf-decoder" }
        }
        return places.first { access($0, X_OK) == 0 }.map { DecoderProgram(path: $0) }
    }

    /// Starts it as a decoder.
    ///
    /// - Returns: The process, and the connection to it.
    /// - Throws: ``SystemError``.
    func start() throws(SystemError) -> (child: ChildProcess, socket: MessageSocket) {
        let (own, other) = try MessageSocket.pair()
        let needed = ["LD_LIBRARY_PATH"].compactMap { name in
            ProcessInfo.processInfo.environment[name].map { "\(name)=\($0)" }
        }
        let child = try ChildProcess(path, arguments: [Self.argument], environment: needed, files: [other])
        return (child, own)
    }
}
