// A redis-server of a test's own, and redis-cli to look at it. For tests of RedisTier.

import Foundation
import KFSupport
import KingfisherTiers
import Testing

/// A redis-server on a port of loopback, with its files in a folder of its own.
actor RedisServer {
    static let isInstalled = ["redis-server", "redis-cli"].allSatisfy { program(named: $0) != nil }

    nonisolated let port: Int
    nonisolated let folder: URL
    private let arguments: [String]
    private var process: Process?

    /// Runs `body` with a server, which is killed afterwards.
    static func run(_ arguments: String..., body: (RedisServer) async throws -> Void) async throws {
        try await run(count: 1, arguments) { try await body($0[0]) }
    }

    /// Runs `body` with several servers, which are killed afterwards.
    ///
    /// In an argument, `PORT` stands for the server's port.
    static func run(
        count: Int,
        _ arguments: [String],
        body: ([RedisServer]) async throws -> Void
    ) async throws {
        var servers: [RedisServer] = []
        let result: Result<Void, any Error>
        do {
            for _ in 0..<count { servers.append(try await started(arguments)) }
            try await body(servers)
            result = .success(())
        } catch { result = .failure(error) }
        for server in servers {
            await server.kill()
            try? FileManager.default.removeItem(at: server.folder)
        }
        try result.get()
    }

    /// Starts a server on a port that is free.
    private static func started(_ arguments: [String]) async throws -> RedisServer {
        for _ in 0..<20 {
            let server = try RedisServer(arguments)
            if try await server.start() { return server }
            try? FileManager.default.removeItem(at: server.folder)
        }
        throw CocoaError(.executableLoad)
    }

    private init(_ arguments: [String]) throws {
        // Nobody is given such a port by the system, so that the server can come back to it. A cluster's nodes speak
        // to each other on a port that is higher by 10,000.
        let port = Int.random(in: 10_000..<20_000)
        self.port = port
        self.arguments = arguments.map { $0.replacing("PORT", with: "\(port)") }
        folder = FileManager.default.temporaryDirectory.appending(path: "redis-\(port)-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { if let process, process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) } }

    /// Starts the server; returns false if it ended instead of becoming ready.
    @discardableResult
    func start() async throws -> Bool {
        let process = Process()
        process.executableURL = program(named: "redis-server")
        process.arguments =
            ["--bind", "127.0.0.1", "--dir", folder.path, "--save", "", "--appendonly", "no"]
            + (arguments.contains("--tls-port") ? [] : ["--port", "\(port)"]) + arguments
        // A file, which never makes the server wait for us.
        let log = folder.appending(path: "log")
        try Data().write(to: log)
        let output = try FileHandle(forWritingTo: log)
        (process.standardOutput, process.standardError) = (output, output)
        try process.run()
        self.process = process
        while process.isRunning {
            if try String(contentsOf: log, encoding: .utf8).contains("Ready to accept connections") { return true }
            try await Task.sleep(for: .milliseconds(5))
        }
        return false
    }

    /// Ends the server at once.
    func kill() {
        signal(SIGKILL)
        process?.waitUntilExit()
        process = nil
    }

    /// Stops and continues it.
    func signal(_ number: Int32) {
        if let process { Foundation.kill(process.processIdentifier, number) }
    }

    /// What redis-cli prints for a command.
    @discardableResult
    nonisolated func cli(_ words: String...) async throws -> String {
        try await output(of: "redis-cli", ["-h", "127.0.0.1", "-p", "\(port)"] + words)
    }
}

/// The program of a name; nil if it is not installed.
func program(named name: String) -> URL? {
    ["/usr/bin", "/usr/local/bin", "/usr/sbin"].map { URL(filePath: $0).appending(path: name) }
        .first { FileManager.default.isExecutableFile(atPath: $0.path) }
}

/// What a program prints, without white space around it.
func output(of name: String, _ arguments: [String]) async throws -> String {
    // Not a pipe, whose end another child process may hold.
    let file = FileManager.default.temporaryDirectory.appending(path: "output-\(UUID().uuidString)")
    try Data().write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let (process, handle, hasEnded) = (Process(), try FileHandle(forWritingTo: file), Promise<Void>())
    process.executableURL = program(named: name)
    process.arguments = arguments
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = handle
    process.standardError = handle
    process.terminationHandler = { _ in hasEnded.fulfil(()) }
    try process.run()
    await hasEnded.value
    return try String(contentsOf: file, encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)
}

/// Tries until it succeeds, for two minutes at most: for what a process of its own has to do first.
func eventually<Value>(
    _ what: Comment,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () async throws -> Value?
) async throws -> Value {
    let end = ContinuousClock.now + .seconds(120)
    while ContinuousClock.now < end {
        if let value = try? await body() { return value }
        try await Task.sleep(for: .milliseconds(5))
    }
    return try #require(try await body(), what, sourceLocation: sourceLocation)
}

extension RedisTier {
    /// A tier whose limits no server of a busy machine reaches, for tests that are not about time.
    ///
    /// They are longer than the tests' own, which end those that wait in vain.
    static func patient(_ urls: String, prefix: String = "kf:") throws(RedisError) -> RedisTier {
        try RedisTier(urls, prefix: prefix, connectTimeout: .seconds(1_000), answerTimeout: .seconds(1_000))
    }

    /// Waits until the server can be asked.
    func isReady(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        try await eventually("The server becomes ready", sourceLocation: sourceLocation) { try await remove("ready") }
    }

    /// What a call fails with; nil if it succeeds.
    func failure(_ call: (RedisTier) async throws -> Void) async -> RedisError? {
        do { try await call(self) } catch { return error as? RedisError }
        return nil
    }

    /// Why a value cannot be had; nil if that can be said.
    func failureOfGet(_ key: String = "a") async -> RedisError? { await failure { _ = try await $0.get(key) } }
}
