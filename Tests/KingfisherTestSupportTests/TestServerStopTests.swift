// Stopping a test server, after which no thread, descriptor or connection is left.

import Foundation
import KingfisherTestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct TestServerStopTests {
    /// The contents of the entries of a directory of this process; entries that vanish in between are left out.
    private func entries(_ directory: String, _ read: (String) throws -> String) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return names.compactMap { try? read("\(directory)/\($0)") }
    }

    /// The number of threads of the server on a port; they are named after the port.
    private func threadCount(of port: Int) -> Int {
        entries("/proc/self/task") { try String(contentsOfFile: "\($0)/comm", encoding: .utf8) }
            .count { $0 == "kf.serve.\(port)\n" }
    }

    private func pipeCount() -> Int {
        entries("/proc/self/fd") { try FileManager.default.destinationOfSymbolicLink(atPath: $0) }
            .count { $0.hasPrefix("pipe:") }
    }

    /// The number of sockets on the server's side of its port that some process has open.
    private func socketCount(on port: Int) throws -> Int {
        let hexadecimal = String(port, radix: 16, uppercase: true)
        let local = "0100007F:" + String(repeating: "0", count: 4 - hexadecimal.count) + hexadecimal
        // The kernel hands the table out in parts, of which `String` reads the first.
        let table = try FileHandle(forReadingFrom: URL(filePath: "/proc/self/net/tcp")).readToEnd() ?? Data()
        return String(decoding: table, as: UTF8.self).split(separator: "\n").count { line in
            let fields = line.split(separator: " ")
            return fields.count > 9 && fields[1] == local && fields[9] != "0"
        }
    }

    @Test("Stopping ends all waits of connections, and leaves no thread and no descriptor")
    func leavesNothing() async throws {
        let server = try await TestServer.start()
        let (port, never) = (server.port, Gate())
        server.route("/gate", letters.with { $0.gate = never })
        server.route("/delay", letters.with { $0.delay = .seconds(3_600) })
        server.route("/stall", letters.with { $0.interruption = .stall(after: 3) })
        server.route("/endless", letters.with { $0.interruption = .endless })
        server.route("/computed") { _ in
            await never.wait()
            return letters
        }
        let pipes = pipeCount()
        let paths = ["/gate", "/delay", "/stall", "/endless", "/computed", "/unscripted"]
        var clients: [RawClient] = []
        for path in paths {
            for _ in 0..<30 {
                let client = try RawClient(server)
                client.get(path)
                clients.append(client)
            }
            await server.waitForRequests(30, to: path)
        }
        #expect(threadCount(of: port) == 30 * paths.count + 1)
        // The table is not read at one instant: while other tests open sockets, a line may be missed.
        while try socketCount(on: port) != 30 * paths.count + 1 { await Task.yield() }

        await server.stop()
        #expect(try socketCount(on: port) == 0)
        // Each connection that waited for a gate or a route had a pipe; other tests may have opened some more.
        #expect(pipeCount() < pipes + 40)
        for request in server.requests { #expect(request.disconnected.isOpen) }
        // A thread ends a little after its work is done.
        while threadCount(of: port) > 0 { await Task.yield() }
        #expect(throws: POSIXError.self) { try RawClient(server) }
        never.open()
    }

    @Test("Stopping ends connections that have not finished the TLS handshake") func handshakes() async throws {
        let server = try await TestServer.start(certificate: .issued)
        let port = server.port
        let clients = try (0..<10).map { _ in try RawClient(server) }
        while server.connectionCount < 10 { await Task.yield() }
        await server.stop()
        #expect(try socketCount(on: port) == 0)
        for client in clients { #expect(await client.rest().text.isEmpty) }
        while threadCount(of: port) > 0 { await Task.yield() }
    }

    @Test("A route can stop its own server") func stoppedByRoute() async throws {
        let server = try await TestServer.start()
        server.route("/a") { [weak server] _ in
            await server?.stop()
            return letters
        }
        let answer = try await RawClient.get("/a", from: server)
        #expect(answer.text.isEmpty)
        await server.stop()
        await server.stop()
        #expect(server.port == 0)
    }
}
