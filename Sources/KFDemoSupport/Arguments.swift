// The command line of kf-demo and kf-desktop, which have a handful of options: too few to ask for a package.

public import Foundation

/// The options of a command line, each of which has a value, and the arguments beside them.
public struct Arguments: Sendable {
    /// Why a command line is not one of the program's.
    public enum Failure: Error, Equatable {
        /// It asks how to call the program.
        case help
        /// An argument is wrong; the text says which, why and what to write instead.
        case wrong(String)
    }

    /// The arguments that belong to no option, in their order.
    public private(set) var others: [String] = []
    private var values: [String: String] = [:]

    /// Reads `--name value` and `--name=value`; behind `--` nothing is an option.
    ///
    /// - Parameters:
    ///   - arguments: The command line, without the name of the program.
    ///   - options: The options that there are, such as `--count`.
    /// - Throws: A ``Failure`` when an option is unknown or has no value, or when help is asked for.
    public init(_ arguments: some Sequence<String>, options: Set<String>) throws(Failure) {
        var left = Array(arguments)[...]
        while let argument = left.popFirst() {
            if argument == "--" {
                others += left
                break
            }
            if ["-h", "--help"].contains(argument) { throw .help }
            guard argument.hasPrefix("-"), argument != "-" else {
                others.append(argument)
                continue
            }
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard options.contains(parts[0]) else {
                throw .wrong("unknown option \(parts[0]); there are: \(options.sorted().joined(separator: ", "))")
            }
            guard let value = parts.count > 1 ? parts[1] : left.popFirst() else {
                throw .wrong("\(parts[0]) needs a value behind it")
            }
            values[parts[0]] = value
        }
    }

    /// The value of an option; the last one, when it is given several times.
    public subscript(option: String) -> String? { values[option] }

    /// The value of an option as a number.
    ///
    /// - Parameters:
    ///   - option: The option.
    ///   - range: The numbers that are permitted.
    /// - Returns: The number, or nil when the option is not given.
    /// - Throws: A ``Failure`` when the value is not one of these numbers.
    public func number(_ option: String, in range: ClosedRange<Int>) throws(Failure) -> Int? {
        guard let value = values[option] else { return nil }
        guard let number = Int(value), range.contains(number) else {
            throw .wrong("\(option) must be a number from \(range.lowerBound) to \(range.upperBound), not \(value)")
        }
        return number
    }

    /// The only argument that belongs to no option.
    ///
    /// - Returns: The argument, or nil when there is none.
    /// - Throws: A ``Failure`` when there are several.
    public func other() throws(Failure) -> String? {
        guard others.count <= 1 else { throw .wrong("unexpected argument \(others[1])") }
        return others.first
    }

    /// The bytes of a file that an argument names.
    ///
    /// - Parameter path: The argument.
    /// - Returns: The bytes.
    /// - Throws: A ``Failure`` that names the file, when it cannot be read.
    public static func contents(of path: String) throws(Failure) -> Data {
        do {
            return try Data(contentsOf: URL(fileURLWithPath: path))
        } catch {
            throw .wrong("\(path) cannot be read: \(error.localizedDescription)")
        }
    }

    /// Ends the program for an error, which is printed in a line.
    ///
    /// The exit code is that of `sysexits.h` for a wrong command line, 64, and 1 for other errors. Help is printed to
    /// standard output, and ends the program with 0.
    ///
    /// - Parameters:
    ///   - program: The name of the program.
    ///   - usage: How it is called.
    ///   - error: The error.
    public static func exit(_ program: String, usage: String, for error: any Error) -> Never {
        switch error {
        case Failure.help:
            print(usage)
            Foundation.exit(EXIT_SUCCESS)
        case Failure.wrong(let text):
            FileHandle.standardError.write(Data("\(program): \(text); \(program) --help says how to call it\n".utf8))
            Foundation.exit(EX_USAGE)
        default:
            FileHandle.standardError.write(Data("\(program): \(error.localizedDescription)\n".utf8))
            Foundation.exit(EXIT_FAILURE)
        }
    }
}
