// Names of files as the system has them: bytes, not all of which need to be UTF-8. For arguments and system calls.

import Foundation

extension Unicode.Scalar {
    /// The character that stands in a string for a byte that is not UTF-8.
    ///
    /// It is of a private area, U+10FE80 to U+10FEFF.
    fileprivate init(standingFor byte: UInt8) { self = Unicode.Scalar(0x10_FE00 + UInt32(byte)) ?? "\u{FFFD}" }

    /// The byte that the character stands for; nil for all other characters.
    var byteOfName: UInt8? {
        (0x10_FE80...0x10_FEFF).contains(value) ? UInt8(truncatingIfNeeded: value) : nil
    }
}

extension String {
    /// A name whose bytes can be had back with ``systemName``, also those that are not UTF-8.
    init(systemName bytes: some Collection<UInt8>) {
        var (parser, input, rest) = (Unicode.UTF8.ForwardParser(), bytes.makeIterator(), bytes[...])
        var scalars = String.UnicodeScalarView()
        func append(_ length: Int, _ scalar: Unicode.Scalar?) {
            // A character that stands for a byte may be in a name as well: then its own bytes are kept one by one.
            if let scalar, scalar.byteOfName == nil {
                scalars.append(scalar)
            } else {
                scalars.append(contentsOf: rest.prefix(length).map(Unicode.Scalar.init(standingFor:)))
            }
            rest = rest.dropFirst(length)
        }
        while true {
            switch parser.parseScalar(from: &input) {
            case .valid(let encoded): append(encoded.count, Unicode.UTF8.decode(encoded))
            case .error(let length): append(length, nil)
            case .emptyInput:
                self.init(scalars)
                return
            }
        }
    }

    /// The bytes of the name for a system call, with the zero at their end.
    var systemName: [CChar] {
        unicodeScalars.flatMap { scalar in
            (scalar.byteOfName.map { [$0] } ?? Array(String(scalar).utf8)).map(CChar.init(bitPattern:))
        } + [0]
    }

    /// The directory that a path names before its last slash; empty where there is none.
    var directory: String {
        guard let end = utf8.lastIndex(where: { $0 != UInt8(ascii: "/") }),
            let slash = utf8[...end].lastIndex(of: UInt8(ascii: "/"))
        else { return "" }
        return slash == startIndex ? "/" : String(self[..<slash])
    }

    /// The path of the file that a path leads to through links; the same where there is none.
    var withoutLinks: String {
        guard let path = realpath(systemName, nil) else { return self }
        defer { free(path) }
        return String(systemName: UnsafeRawBufferPointer(start: path, count: strlen(path)))
    }

    /// Whether the name has bytes that are not UTF-8.
    var isOutsideUTF8: Bool { unicodeScalars.contains { $0.byteOfName != nil } }
}

extension CommandLine {
    /// The arguments without the program's name, each with all of its bytes.
    static var systemNames: [String] {
        UnsafeBufferPointer(start: unsafeArgv, count: Int(argc)).dropFirst().compactMap(\.self).map { argument in
            String(systemName: UnsafeRawBufferPointer(start: argument, count: strlen(argument)))
        }
    }
}
