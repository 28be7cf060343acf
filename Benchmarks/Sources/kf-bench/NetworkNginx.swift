// nginx in a process of its own: a server fast enough not to be what is measured.

import Foundation
import Synchronization

/// nginx with one worker on a free port of loopback; it ends with the last reference, or with this process.
final class Nginx: Sendable {
    let port: Int
    private let folder: TemporaryFolder
    /// A shell that ends nginx when its input ends, which it also does if this process is killed.
    private let shell: Process
    private let input: Pipe
    /// The number of status requests, which nginx counts too.
    private let looks = Atomic(0)

    /// - Parameter files: The bytes to serve, by name.
    /// - Throws: ``BenchmarkError`` when it does not start, or an error of writing files.
    init(serving files: [String: Data]) throws {
        folder = try TemporaryFolder()
        port = try Socket.freePort()
        for (name, bytes) in files { try bytes.write(to: folder.url.appendingPathComponent(name)) }
        try Data(Self.configuration(folder.url.path, port).utf8)
            .write(to: folder.url.appendingPathComponent("nginx.conf"))
        (shell, input) = (Process(), Pipe())
        shell.executableURL = URL(fileURLWithPath: "/bin/sh")
        shell.arguments = ["-c", Self.script, folder.url.path]
        shell.standardInput = input
        try shell.run()
        try waitUntilReady()
    }

    deinit {
        try? input.fileHandleForWriting.close()
        shell.waitUntilExit()
    }

    /// The start of a file's addresses; different numbers after it make different addresses of the same bytes.
    func address(of file: String) -> String { "http://127.0.0.1:\(port)/\(file)?" }

    /// The number of requests served, without those of this call.
    func served() throws -> Int {
        let socket = try Socket.connected(to: port)
        try socket.send(Array("GET /status HTTP/1.0\r\n\r\n".utf8))
        var text = ""
        while case let piece = try socket.receive(within: 5), !piece.isEmpty {
            text += String(decoding: piece, as: UTF8.self)
        }
        // The line below the titles: connections accepted, handled, and requests.
        let lines = text.components(separatedBy: "server accepts handled requests\n").dropFirst()
        let numbers = lines.first?.split(separator: "\n").first?.split(separator: " ").compactMap { Int($0) } ?? []
        try BenchmarkError.unless(numbers.count == 3, "nginx does not report how many requests it has served")
        return numbers[2] - looks.add(1, ordering: .relaxed).newValue
    }

    private func waitUntilReady() throws {
        for _ in 0..<500 {
            if (try? Socket.connected(to: port)) != nil { return }
            usleep(10_000)
        }
        let messages = ["output", "error.log"].map { name in
            (try? String(contentsOf: folder.url.appendingPathComponent(name), encoding: .utf8)) ?? ""
        }
        throw BenchmarkError("nginx does not start (make bench installs it): \(messages.joined())")
    }

    /// Runs nginx in the folder `$0` until the input ends.
    ///
    /// Other signals may be blocked: a process inherits that from the thread that starts it.
    /// Debian installs nginx in a folder that only the PATH of root has.
    private static let script = """
        PATH="$PATH:/usr/sbin"
        nginx -p "$0" -c "$0/nginx.conf" > "$0/output" 2>&1 &
        cat > /dev/null
        kill -KILL $!
        wait
        """

    private static func configuration(_ folder: String, _ port: Int) -> String {
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map { "    \($0)_temp_path \(folder)/\($0);" }
            .joined(separator: "\n")
        return """
            daemon off;
            master_process off;
            pid \(folder)/nginx.pid;
            error_log \(folder)/error.log;
            events { worker_connections 512; }
            http {
                access_log off;
                default_type image/jpeg;
                sendfile on;
                tcp_nodelay on;
                keepalive_requests 1000000;
                open_file_cache max=16;
            \(temporary)
                server {
                    listen 127.0.0.1:\(port);
                    root \(folder);
                    location = /status { stub_status; }
                }
            }

            """
    }
}
