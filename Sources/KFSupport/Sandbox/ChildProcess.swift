// A process that this one has started, until its end; and lists of strings for C, which starts it. For decoders.

import CKFLinux
import Foundation

/// A process that this one has started, and its end.
package final class ChildProcess: Sendable {
    /// How a process ended.
    package enum End: Sendable, Equatable, CustomStringConvertible {
        case exited(Int32)
        case signal(Int32)

        /// Whether a signal from outside ended it: faults of a program raise other signals.
        package var isFromOutside: Bool {
            self == .signal(SIGKILL) || self == .signal(SIGTERM)
        }

        package var description: String {
            switch self {
            case .exited(let code): "exit code \(code)"
            case .signal(let number): "signal \(number), \(String(cString: strsignal(number)))"
            }
        }
    }

    /// Its number.
    package let number: Int32
    private let end = Locked<End?>(nil)

    /// Starts a program that inherits nothing but some files.
    ///
    /// - Parameters:
    ///   - path: The program's file.
    ///   - arguments: Those after its name.
    ///   - environment: Its variables: `NAME=value`.
    ///   - files: Its files, as numbers 3 and so on.
    /// - Throws: ``SystemError``.
    package init(
        _ path: String,
        arguments: [String],
        environment: [String],
        files: [OwnedDescriptor]
    ) throws(SystemError) {
        var number: Int32 = 0
        let numbers = files.map(\.number)
        let error = withCStrings([path] + arguments) { arguments in
            withCStrings(environment) { environment in
                kf_spawn(path, arguments, environment, numbers, Int32(numbers.count), &number)
            }
        }
        withExtendedLifetime(files) {}
        guard error == 0 else { throw SystemError("starting \(path)", error) }
        self.number = number
    }

    deinit { stop() }

    /// Ends the process, if it still runs, and waits for its end.
    package func stop() {
        end.withLock { end in
            if end == nil { end = ended(waits: false) }
            guard end == nil else { return }
            kill(number, SIGKILL)
            end = ended(waits: true)
        }
    }

    /// Waits for the end of a process that is about to end by itself, or was ended.
    ///
    /// - Parameter seconds: How long.
    /// - Returns: How it ended; nil when it still runs.
    package func waitForEnd(within seconds: Double) -> End? {
        let deadline = SuspendingClock.now + .seconds(seconds)
        return end.withLock { end in
            while end == nil {
                end = ended(waits: false)
                if end != nil || .now > deadline { break }
                poll(nil, 0, 1)
            }
            return end
        }
    }

    private func ended(waits: Bool) -> End? {
        var code: Int32 = 0
        guard kf_has_ended(number, waits, &code) else { return nil }
        return code < 0 ? .signal(-code) : .exited(code)
    }

    /// Sets how much of its address space it may use from now on.
    ///
    /// - Parameter bytes: How many bytes; no more than its hard limit allows.
    /// - Throws: ``SystemError``.
    package func limitMemory(to bytes: Int) throws(SystemError) {
        let error = kf_limit_addresses(number, UInt64(max(0, bytes)))
        guard error == 0 || error == ESRCH else { throw SystemError("limiting the memory of a decoder", error) }
    }
}

/// Lends C a list of strings that ends with a null pointer.
func withCStrings<Result>(_ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result) -> Result {
    let copies = strings.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    return body(copies + [nil])
}
