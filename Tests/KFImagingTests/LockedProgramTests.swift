// Programs of the system that a decoder locks: they run as before, and cannot read, write or start anything.

import Foundation
import KFSupport
import Testing

@testable import KFImaging

@Suite(.tags(.processes)) struct LockedProgramTests {
    private func run(_ program: String, _ arguments: String..., input: Data = Data()) throws -> SandboxedProcess.Outcome
    {
        let decoder = try #require(ProgramFolders.own.last) + "/kf-decoder"
        let limits = SandboxedProcess.Limits(memory: 1 << 28, seconds: 60, output: 1 << 20)
        let process = SandboxedProcess(program, limits: limits, lockedBy: decoder)
        return try input.withUnsafeBytes { try process.run($0, arguments: arguments, companion: "a style") }
    }

    @Test("A locked program gets its arguments, its input and a further file") func wholeRun() throws {
        let outcome = try run("cat", "-", "/proc/self/fd/3", input: Data("a drawing and ".utf8))
        #expect(outcome.output == Data("a drawing and a style".utf8) && outcome.code == 0)
    }

    @Test("A locked program writes no files, starts no others and sends no signals") func refusedCalls() throws {
        let target = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
        for script in ["echo x > \(target)", "/bin/true; exit 0", "kill -0 $PPID", "exec /bin/true"] {
            #expect(try run("sh", "-c", script).code != 0, "\(script)")
        }
        #expect(!FileManager.default.fileExists(atPath: target))
        #expect(try run("sh", "-c", "echo $((6 * 7))").output == Data("42\n".utf8))
    }

    @Test("Where there is Landlock, a locked program reads no files but those of the system") func refusedFiles() throws
    {
        guard DecodingIsolation.status.landlock > 0 else { return }
        let outcome = try run("cat", "/etc/passwd")
        #expect(outcome.output.isEmpty && outcome.standardError.contains("Permission denied"))
    }

    @Test("A program that is not there is an error of its own") func missingProgram() {
        #expect(throws: SandboxedProcess.Failure.notFound) { try run("kingfisher-has-no-such-program") }
    }
}
