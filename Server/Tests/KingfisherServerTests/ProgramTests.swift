// The program: what it says about its configuration, how it begins and ends.

import Foundation
import Testing

@Suite(.timeLimit(.minutes(10))) struct ProgramTests {
    @Test("Without a key it serves no others than this machine, unless that is asked for, and says what to do")
    func protection() throws {
        for command in [["check"], ["serve"], []] {
            let (status, _, errors) = try run(command, ["KF_BIND": "0.0.0.0:0"])
            #expect(status == 1)
            #expect(errors.contains("KF_KEY") && errors.contains("--unsafe"))
        }
        #expect(try run(["check"], ["KF_BIND": "127.0.0.1:0"]).status == 0)
        #expect(try run(["check", "--unsafe"], ["KF_BIND": "0.0.0.0:0"]).status == 0)
        #expect(try run(["check"], ["KF_KEY": "00", "KF_SALT": "00"]).status == 0)
    }

    @Test("check prints what is in force and what is wrong, but no key")
    func check() throws {
        let settings = ["KF_KEY": "736563726574", "KF_SALT": "68656c6c6f", "KF_QUALITY": "7", "KF_QUALTY": "8"]
        let (status, output, errors) = try run(["check"], settings)
        #expect(status == 1)
        #expect(output.contains("KF_QUALITY=7\n") && output.contains("KF_KEY=(set)\n"))
        #expect(errors.contains("error: KF_QUALTY"))
        #expect(!(output + errors).contains("736563726574") && !(output + errors).contains("68656c6c6f"))
    }

    @Test("It serves until SIGTERM, and ends with 0")
    func ending() async throws {
        let output = Pipe()
        let process = program(["serve"], ["KF_BIND": "127.0.0.1:0"])
        process.standardOutput = output
        try process.run()
        let line = try firstLine(of: output.fileHandleForReading)
        let object = try JSONSerialization.jsonObject(with: Data(try #require(line).utf8)) as? [String: Any]
        let message = object?["message"]
        let port = try #require((message as? String)?.split(separator: ":").last.flatMap { Int($0) })
        let connection = try await RawConnection(port: port)
        try await connection.send("/health")
        #expect(try await connection.answer().text == "imgproxy is running")
        process.terminate()
        #expect(await connection.isAtEnd())
        process.waitUntilExit()
        #expect(process.terminationStatus == 0 && process.terminationReason == .exit)
    }

    /// The program that was built with these tests.
    private func program(_ arguments: [String], _ settings: [String: String]) -> Process {
        let process = Process()
        let tests = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
        process.executableURL = tests.appending(path: "kf-server")
        process.arguments = arguments
        let inherited = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("KF_") }
        process.environment = inherited.merging(settings) { $1 }
        return process
    }

    private func run(_ arguments: [String], _ settings: [String: String]) throws -> (
        status: Int32, output: String, errors: String
    ) {
        let (output, errors) = (Pipe(), Pipe())
        let process = program(arguments, settings)
        (process.standardOutput, process.standardError) = (output, errors)
        try process.run()
        // Less than a pipe holds, so neither has to wait for the other.
        let texts = try [output, errors].map {
            String(decoding: try $0.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        }
        process.waitUntilExit()
        return (process.terminationStatus, texts[0], texts[1])
    }

    private func firstLine(of handle: FileHandle) throws -> String? {
        var bytes = Data()
        while let byte = try handle.read(upToCount: 1), !byte.isEmpty {
            if byte[byte.startIndex] == UInt8(ascii: "\n") { return String(decoding: bytes, as: UTF8.self) }
            bytes += byte
        }
        return nil
    }
}
