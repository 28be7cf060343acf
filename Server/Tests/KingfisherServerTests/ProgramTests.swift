// The program: what it says about its configuration, how it begins and ends.

import Foundation
import Kingfisher
import KingfisherServer
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

    @Test("Where images cannot be decoded in locked processes it does not start, unless that is allowed")
    func isolation() throws {
        var settings = ["KF_BIND": "127.0.0.1:0", "KF_DECODER": "/nowhere"]
        for command in ["check", "serve"] {
            let (status, _, errors) = try run([command], settings)
            #expect(status == 1 && errors.contains("KF_ISOLATION") && errors.contains("/nowhere"))
        }
        for (isolation, words) in [("sandboxed", "in this process, since"), ("none", "in this process\n")] {
            settings["KF_ISOLATION"] = isolation
            let (status, output, _) = try run(["check"], settings)
            #expect(status == 0 && output.contains("Decoders: \(words)"))
        }
        settings["KF_DECODER"] = nil
        settings["KF_ISOLATION"] = nil
        #expect(try run(["check"], settings).output.contains("Decoders: processes locked by"))
    }

    @Test("It serves until SIGTERM, and ends with 0")
    func ending() async throws {
        let (process, connection) = try await serving(["KF_BIND": "127.0.0.1:0"])
        try await connection.send("/health")
        #expect(try await connection.answer().text.hasPrefix("imgproxy is running\nDecoders: processes locked by"))
        process.terminate()
        #expect(await connection.isAtEnd())
        process.waitUntilExit()
        #expect(process.terminationStatus == 0 && process.terminationReason == .exit)
    }

    @Test("More clients than are allowed wait until others leave") func clients() async throws {
        let (process, first) = try await serving(["KF_BIND": "127.0.0.1:0", "KF_MAX_CLIENTS": "1"])
        defer { process.terminate() }
        try await first.send("/health")
        #expect(try await first.answer().status == 200)
        let second = try await RawConnection(port: first.port)
        try await second.send("/health")
        // Whoever is connected is still answered.
        for _ in 0..<5 {
            try await first.send("/health")
            #expect(try await first.answer().status == 200)
        }
        #expect(!second.hasReceived)
        first.leave()
        #expect(try await second.answer().status == 200)
        second.leave()
    }

    @Test(
        "A decoder gets the memory that the largest source may take, unless URLs may permit larger ones",
        arguments: [(["KF_MAX_SRC_RESOLUTION": "1"], 1...2), (["KF_ALLOW_SECURITY_OPTIONS": "1"], 5...6)]
    )
    func memory(settings: [String: String], gigabytes: ClosedRange<Int>) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await madeUpImage().image.data.write(to: folder.appending(path: "image"))
        let own = ["KF_BIND": "127.0.0.1:0", "KF_LOCAL_FILESYSTEM_ROOT": folder.path]
        let (process, connection) = try await serving(settings.merging(own) { $1 })
        defer { process.terminate() }
        try await connection.send("/_/w:1/plain/local:///image@png")
        #expect(try await connection.answer().status == 200)
        let limits = try children(of: process.processIdentifier).map(addressSpace)
        #expect(!limits.isEmpty && limits.allSatisfy { gigabytes.contains($0 >> 30) }, "\(limits)")
        connection.leave()
    }

    @Test("With the defaults of imgproxy's documentation it starts, and says little about them")
    func imgproxysDefaults() async throws {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let file = tests.appending(path: "KFImageURLsTests/Resources/imgproxy-defaults.env").path
        let settings = ["IMGPROXY_ENV_LOCAL_FILE_PATH": file, "IMGPROXY_BIND": "127.0.0.1:0"]
        let (status, output, errors) = try run(["check"], settings)
        #expect(status == 0 && output.contains("KF_MAX_ANIMATION_FRAMES=1\n"))
        #expect(
            errors.split(separator: "\n").count <= 5 && errors.contains("IMGPROXY_REQUESTS_QUEUE_SIZE"),
            "\(errors)"
        )
        let (process, connection) = try await serving(settings)
        process.terminate()
        #expect(await connection.isAtEnd())
    }

    @Test("It says its version, in the first line of the log, too") func version() throws {
        let (status, output, _) = try run(["--version"], [:])
        #expect(status == 0)
        #expect(output.wholeMatch(of: #/kf-server \d+\.\d+\.\d+\S*\n/#) != nil, "\(output)")
        let pipe = Pipe()
        let process = program(["serve"], ["KF_BIND": "127.0.0.1:0", "KF_LOG_FORMAT": "text"])
        process.standardOutput = pipe
        try process.run()
        defer { process.terminate() }
        let line = try #require(try nextLine(of: pipe.fileHandleForReading))
        #expect(line.hasSuffix(" info \(output.dropLast())"), "\(line)")
    }

    @Test("health asks the server of the same environment") func health() async throws {
        let (process, connection) = try await serving(["KF_BIND": "127.0.0.1:0"])
        let settings = ["IMGPROXY_BIND": "127.0.0.1:\(connection.port)"]
        let healthy = try run(["health"], settings)
        #expect(healthy.status == 0 && healthy.output.hasPrefix("imgproxy is running"))
        connection.leave()
        process.terminate()
        process.waitUntilExit()
        let (status, _, errors) = try run(["health"], settings)
        #expect(status == 1 && errors.contains("127.0.0.1:\(connection.port)"))
    }

    @Test("Metrics have an address of their own, where nothing else is") func metricsAddress() async throws {
        let output = Pipe()
        let process = program(["serve"], ["KF_BIND": "127.0.0.1:0", "KF_PROMETHEUS_BIND": "127.0.0.1:0"])
        process.standardOutput = output
        try process.run()
        defer { process.terminate() }
        var ports: [Int] = []
        while ports.count < 2, let line = try nextLine(of: output.fileHandleForReading) {
            if line.contains("listening"), let match = line.firstMatch(of: #/127\.0\.0\.1:(\d+)/#) {
                ports.append(try #require(Int(match.output.1)))
            }
        }
        var statuses: Set<[Int]> = []
        for port in ports {
            let connection = try await RawConnection(port: port)
            var answers: [Int] = []
            for path in ["/metrics", "/health"] {
                try await connection.send(path)
                answers.append(try await connection.answer().status)
            }
            statuses.insert(answers)
            connection.leave()
        }
        #expect(statuses == [[200, 404], [404, 200]])
    }

    /// A server that runs, and a connection to it.
    private func serving(_ settings: [String: String]) async throws -> (process: Process, connection: RawConnection) {
        let output = Pipe()
        let process = program(["serve"], settings)
        process.standardOutput = output
        try process.run()
        while let line = try nextLine(of: output.fileHandleForReading) {
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            guard let message = object?["message"] as? String, message.contains("listening") else { continue }
            let port = try #require(message.split(separator: ":").last.flatMap { Int($0) })
            return (process, try await RawConnection(port: port))
        }
        throw CocoaError(.fileReadUnknown)
    }

    /// The program that was built with these tests.
    private func program(_ arguments: [String], _ settings: [String: String]) -> Process {
        let process = Process()
        let tests = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
        process.executableURL = tests.appending(path: "kf-server")
        process.arguments = arguments
        let inherited = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("KF_") && $0.key != "PORT" }
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

    private func nextLine(of handle: FileHandle) throws -> String? {
        var bytes = Data()
        while let byte = try handle.read(upToCount: 1), !byte.isEmpty {
            if byte[byte.startIndex] == UInt8(ascii: "\n") { return String(decoding: bytes, as: UTF8.self) }
            bytes += byte
        }
        return nil
    }
}
