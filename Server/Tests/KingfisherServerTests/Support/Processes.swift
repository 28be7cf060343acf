// Processes that a process has started, and what they may use. For the tests of programs and of decoders.

import Foundation
import Testing

/// The processes that a process has started and that still run.
func children(of process: Int32) throws -> [Int32] {
    try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap { Int32($0) }.filter { child in
        // The parent's number comes second behind the name in parentheses.
        let words = (try? String(contentsOfFile: "/proc/\(child)/stat", encoding: .utf8))?
            .split(separator: ")").last?.split(separator: " ")
        return words?.dropFirst().first == "\(process)"
    }
}

/// How many bytes of address space a process may have.
func addressSpace(of process: Int32) throws -> Int {
    let lines = try String(contentsOfFile: "/proc/\(process)/limits", encoding: .utf8).split(separator: "\n")
    let line = lines.first { $0.hasPrefix("Max address space") }
    return try #require(line?.split(separator: " ").dropFirst(3).first.flatMap { Int($0) })
}
