// Details of requests: Unix sockets, the user agent, and HTTP's Digest authentication.

import Foundation
import FoundationNetworking
import KFSupport
import KFTransport
import KingfisherTestSupport
import Testing

/// Sends one response on every connection to a Unix socket, on a thread of its own.
private final class UnixServer: Sendable {
    private let listener: CInt
    private let heads = Locked<[String]>([])
    private let ended = Promise<Void>()

    init(path: String, response: String) throws {
        listener = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let room = MemoryLayout.size(ofValue: address.sun_path)
        guard path.utf8.count < room else { throw POSIXError(.ENAMETOOLONG) }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let isListening = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0 && listen(listener, 16) == 0
            }
        }
        guard isListening else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        Thread { [self] in serve(response) }.start()
    }

    private func serve(_ response: String) {
        while true {
            let connection = accept(listener, nil, nil)
            guard connection >= 0 else { break }
            var bytes = [UInt8](repeating: 0, count: 4_096)
            var head = ""
            while !head.contains("\r\n\r\n") {
                let count = recv(connection, &bytes, bytes.count, 0)
                guard count > 0 else { break }
                head += String(decoding: bytes.prefix(count), as: UTF8.self)
            }
            heads.withLock { $0.append(head) }
            let answer = Array(response.utf8)
            _ = send(connection, answer, answer.count, CInt(MSG_NOSIGNAL))
            close(connection)
        }
        close(listener)
        ended.fulfil(())
    }

    /// The heads of the requests so far.
    var requests: [String] { heads.withLock { $0 } }

    func stop() async {
        shutdown(listener, CInt(SHUT_RDWR))
        await ended.value
    }
}

@Suite(.timeLimit(.minutes(5))) struct RequestDetailTests {
    @Test("All transfers connect to the Unix socket of the configuration, whatever their host") func unixSocket()
        async throws
    {
        try await withFolder { folder in
            let path = folder.appendingPathComponent("s").path
            let response = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello"
            let server = try UnixServer(path: path, response: response)
            var configuration = CurlTransport.Configuration()
            configuration.unixSocketPath = path
            let transport = CurlTransport(configuration: configuration)
            for host in ["pictures.test", "nowhere.invalid:81"] {
                let url = try #require(URL(string: "http://\(host)/a"))
                let (recorder, error) = await load(url, with: transport)
                #expect(error == nil)
                #expect(recorder.received(Data("hello".utf8)))
                #expect(server.requests.last?.contains("\r\nHost: \(host)\r\n") == true)
            }
            #expect(server.requests.count == 2)
            await server.stop()
        }
    }

    @Test("A missing Unix socket is an error with advice") func missingUnixSocket() async throws {
        var configuration = CurlTransport.Configuration()
        configuration.unixSocketPath = "/nowhere/socket"
        let url = try #require(URL(string: "http://pictures.test/a"))
        let error = await load(url, with: CurlTransport(configuration: configuration)).error
        #expect(error?.code == .cannotConnectToHost)
    }

    @Test("The user agent names the library unless configuration or request replace it") func userAgent() async throws {
        try await withServer { server in
            server.route("/a", .data(hundredKilobytes))
            let transport = CurlTransport()
            _ = await load(server.url("/a"), with: transport)
            #expect(server.lastRequest("/a")?.header("User-Agent") == "Kingfisher/\(LibraryVersion.text)")
            transport.configuration.userAgent = "Gallery/2"
            _ = await load(server.url("/a"), with: transport)
            #expect(server.lastRequest("/a")?.header("User-Agent") == "Gallery/2")
            _ = await load(server.url("/a"), with: transport) { $0.setValue("Mine", forHTTPHeaderField: "User-Agent") }
            #expect(server.lastRequest("/a")?.header("User-Agent") == "Mine")
        }
    }

    // MARK: Digest

    /// The digest of `user` with the password `secret` for the challenge below, made by `md5sum` as RFC 2069 says.
    private static let digest = "01cbb343023b5c7509ba8bac29ad3674"

    /// A route that requires HTTP's Digest authentication.
    private func routeDigest(on server: TestServer) {
        server.route("/a") { request in
            let field = request.header("Authorization") ?? ""
            guard field.hasPrefix("Digest "), field.contains("response=\"\(Self.digest)\"") else {
                return TestResponse.status(401).with {
                    $0.headers["WWW-Authenticate"] = "Digest realm=\"pictures\", nonce=\"0123abcd\""
                }
            }
            return .data(hundredKilobytes)
        }
    }

    private func url(_ server: TestServer, password: String) throws -> URL {
        try #require(URL(string: "http://user:\(password)@127.0.0.1:\(server.port)/a"))
    }

    @Test("A Digest challenge after a redirect gets credentials, too") func digestBehindRedirect() async throws {
        try await withServer { server in
            routeDigest(on: server)
            server.route("/from", .redirect(to: server.url("/a").absoluteString))
            let url = try #require(URL(string: "http://user:secret@127.0.0.1:\(server.port)/from"))
            let (recorder, error) = await load(url, with: CurlTransport())
            #expect(error == nil)
            #expect(recorder.http?.statusCode == 200)
            #expect(recorder.log.metrics?.redirectCount == 1)
        }
    }

    @Test("A Digest challenge gets credentials without the password") func digest() async throws {
        try await withServer { server in
            routeDigest(on: server)
            let (recorder, error) = await load(try url(server, password: "secret"), with: CurlTransport())
            #expect(error == nil)
            #expect(recorder.http?.statusCode == 200)
            #expect(recorder.received(hundredKilobytes))
            #expect(recorder.log.metrics?.redirectCount == 0)
            let field = try #require(server.lastRequest("/a")?.header("Authorization"))
            #expect(field.contains("username=\"user\"") && field.contains("uri=\"/a\"") && !field.contains("secret"))
        }
    }

    @Test("A wrong password ends with the server's 401 after one attempt") func wrongPassword() async throws {
        try await withServer { server in
            routeDigest(on: server)
            let (recorder, error) = await load(try url(server, password: "wrong"), with: CurlTransport())
            #expect(error == nil)
            #expect(recorder.http?.statusCode == 401)
            #expect(recorder.received(Data("status 401".utf8)))
            #expect(server.lastRequest("/a")?.header("Authorization")?.hasPrefix("Digest ") == true)
        }
    }

    @Test("A Basic challenge gets no second request, as the first had the credentials") func basic() async throws {
        try await withServer { server in
            server.route("/a", TestResponse.status(401).with { $0.headers["WWW-Authenticate"] = "Basic realm=\"a\"" })
            let (recorder, error) = await load(try url(server, password: "secret"), with: CurlTransport())
            #expect(error == nil)
            #expect(recorder.http?.statusCode == 401)
            #expect(server.count("/a") == 1)
            let credentials = Data("user:secret".utf8).base64EncodedString()
            #expect(server.lastRequest("/a")?.header("Authorization") == "Basic \(credentials)")
        }
    }
}
