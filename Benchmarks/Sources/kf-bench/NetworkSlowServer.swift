// A slow server in a process of its own, which sends the same bytes for every request.

import Foundation
import Glibc

/// Responds to every request after a delay.
///
/// No two responses leave within five milliseconds, so that the order in which they arrive is the one in which the
/// requests were sent.
struct SlowServer {
    private static let gap = 0.005

    private let listener: Socket
    private let delay: Double
    private let response: [UInt8]
    /// The open connections, with the bytes of an incomplete request.
    private var connections: [Int32: (socket: Socket, text: [UInt8])] = [:]
    /// The responses that are due, sorted by time.
    private var waiting: [(time: Double, connection: Int32)] = []
    private var count = 0

    /// Serves a file until the standard input ends; prints the port first, and the number of requests at the end.
    static func run(delay: Double, path: String) throws {
        let body = try Data(contentsOf: URL(fileURLWithPath: path))
        let head = "HTTP/1.1 200 OK\r\nContent-Type: image/jpeg\r\nContent-Length: \(body.count)\r\n\r\n"
        var server = SlowServer(listener: try .listening(), delay: delay, response: Array(head.utf8) + Array(body))
        print(server.listener.port)
        fflush(nil)
        while try server.step() {}
        print(server.count)
    }

    private init(listener: Socket, delay: Double, response: [UInt8]) {
        (self.listener, self.delay, self.response) = (listener, delay, response)
    }

    private static var now: Double { Double(DispatchTime.now().uptimeNanoseconds) * 1e-9 }

    /// Waits for the next event and handles it; false when the input has ended.
    private mutating func step() throws -> Bool {
        let wait = waiting.first.map { max(0, Int32(($0.time - Self.now) * 1000) + 1) } ?? -1
        var entries = ([STDIN_FILENO, listener.descriptor] + connections.keys)
            .map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        poll(&entries, nfds_t(entries.count), wait)
        for entry in entries where entry.revents != 0 {
            switch entry.fd {
            case STDIN_FILENO: return false
            case listener.descriptor:
                let socket = try listener.accepted(within: 1)
                connections[socket.descriptor] = (socket, [])
            default: try receive(entry.fd)
            }
        }
        while let first = waiting.first, first.time <= Self.now {
            waiting.removeFirst()
            // The client may have disconnected.
            try? connections[first.connection]?.socket.send(response)
        }
        return true
    }

    private mutating func receive(_ descriptor: Int32) throws {
        guard var connection = connections.removeValue(forKey: descriptor) else { return }
        let piece = try connection.socket.receive(within: 1)
        guard !piece.isEmpty else {
            // A new connection may get the same number.
            return waiting.removeAll { $0.connection == descriptor }
        }
        connection.text += piece
        // A client waits for its response before it sends the next request.
        if connection.text.suffix(4) == Array("\r\n\r\n".utf8)[...] {
            connection.text = []
            count += 1
            waiting.append((max(Self.now + delay, (waiting.last?.time ?? 0) + Self.gap), descriptor))
        }
        connections[descriptor] = connection
    }
}

/// A slow server, which ends with this process.
struct SlowServerProcess {
    let port: Int
    private let process: Process
    private let input: Pipe
    private let output: Pipe
    private let folder: TemporaryFolder

    /// - Parameters:
    ///   - delay: The delay of each response, in seconds.
    ///   - body: The body of every response.
    /// - Throws: ``BenchmarkError`` when it does not start, or an error of writing files.
    init(delay: Double, body: Data) throws {
        folder = try TemporaryFolder()
        let file = folder.url.appendingPathComponent("body")
        try body.write(to: file)
        let child = try Child.start([Child.slowServer, "\(delay)", file.path])
        (process, input, output) = (child.process, child.input, child.output)
        let line = String(decoding: child.output.fileHandleForReading.availableData, as: UTF8.self)
        guard let port = Int(line.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw BenchmarkError("the server does not report its port")
        }
        self.port = port
    }

    /// The addresses of a number of images, all of which have the same bytes.
    func urls(_ count: Int) -> [URL] {
        (0..<count).compactMap { URL(string: "http://127.0.0.1:\(port)/\($0).jpg") }
    }

    /// Ends the server by closing its input, and returns the number of requests it has received.
    func stop() throws -> Int {
        try input.fileHandleForWriting.close()
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        guard let count = Int(text.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw BenchmarkError("the server does not report how many requests it has received")
        }
        return count
    }
}
