// A real HTTP server for tests: nginx as a child process, with HTTP/2 and a certificate of the tests' authority.

import Foundation
import KFSupport
import KFTransport
import KingfisherTestSupport
import Testing

/// An nginx that passes all requests on to a ``TestServer``, over TLS.
///
/// Responses say in `X-Connection` which of nginx's connections they came through.
struct Nginx {
    let port: Int
    private let process: Process

    private static let places = ["/usr/sbin/nginx", "/usr/local/sbin/nginx", "/usr/bin/nginx", "/usr/local/bin/nginx"]
    private static let program = places.first { FileManager.default.isExecutableFile(atPath: $0) }
    static var isInstalled: Bool { program != nil }

    /// Runs `body` with an nginx that speaks `protocols` over TLS: `http2`, or nothing more than HTTP/1.1.
    ///
    /// It closes a connection after a number of requests, over HTTP/2 with GOAWAY.
    static func with(
        before server: TestServer,
        protocols: String = "http2",
        requestsPerConnection: Int = 1_000,
        _ body: (Nginx) async throws -> Void
    ) async throws {
        try await withFolder { folder in
            try Data(TestCertificate.issued.pem.utf8).write(to: folder.appendingPathComponent("certificate.pem"))
            try Data(TestCertificate.keyPEM.utf8).write(to: folder.appendingPathComponent("key.pem"))
            let nginx = try await started(in: folder) { port in
                configuration(
                    listening: "127.0.0.1:\(port) ssl \(protocols)",
                    in: folder.path,
                    upstream: server.port,
                    requestsPerConnection
                )
            }
            do { try await body(nginx) } catch {
                nginx.stop()
                throw error
            }
            nginx.stop()
        }
    }

    /// The URL of a path, which starts with a slash.
    func url(_ path: String) throws -> URL { try #require(URL(string: "https://localhost:\(port)\(path)")) }

    private static func started(in folder: URL, _ configuration: (Int) -> String) async throws -> Nginx {
        let file = folder.appendingPathComponent("nginx.conf")
        // A free port may be another program's by the time nginx asks for it.
        for _ in 0..<10 {
            let port = try RefusingPort().number
            try Data(configuration(port).utf8).write(to: file)
            let process = Process()
            process.executableURL = URL(fileURLWithPath: try #require(program))
            process.arguments = ["-p", folder.path, "-c", file.path, "-e", folder.path + "/error.log"]
            process.standardInput = FileHandle.nullDevice
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            try process.run()
            while process.isRunning {
                // It is written once nginx listens.
                if FileManager.default.fileExists(atPath: folder.path + "/nginx.pid") {
                    return Nginx(port: port, process: process)
                }
                try await Task.sleep(for: .milliseconds(10))
            }
        }
        let log = (try? String(contentsOf: folder.appendingPathComponent("error.log"), encoding: .utf8)) ?? ""
        Issue.record("nginx does not start: \(log)")
        throw CancellationError()
    }

    private func stop() {
        // Not SIGTERM: the threads of Swift's tasks block it, and a child inherits that.
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    private static func configuration(
        listening: String,
        in folder: String,
        upstream: Int,
        _ requestsPerConnection: Int
    ) -> String {
        """
        daemon off;
        master_process off;
        pid \(folder)/nginx.pid;
        error_log \(folder)/error.log;
        events { worker_connections 1024; }
        http {
            access_log off;
            client_body_temp_path \(folder)/body;
            proxy_temp_path \(folder)/proxy;
            fastcgi_temp_path \(folder)/fastcgi;
            uwsgi_temp_path \(folder)/uwsgi;
            scgi_temp_path \(folder)/scgi;
            server {
                listen \(listening);
                ssl_certificate \(folder)/certificate.pem;
                ssl_certificate_key \(folder)/key.pem;
                keepalive_requests \(requestsPerConnection);
                location / {
                    proxy_pass http://127.0.0.1:\(upstream);
                    proxy_read_timeout 300s;
                    add_header X-Connection $connection always;
                }
            }
        }
        """
    }
}
