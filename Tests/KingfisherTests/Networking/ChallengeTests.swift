// Challenges of servers: certificates that do not verify, and names and passwords.

import Foundation
import KFSupport
import KFTransport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

/// Meets challenges as a test says, and records them.
private final class Responder: AuthenticationChallengeResponsible, Sendable {
    let challenges = Box<[String]>([])
    let disposition: URLSession.AuthChallengeDisposition
    let passwords: [String]

    init(_ disposition: URLSession.AuthChallengeDisposition, passwords: [String] = []) {
        (self.disposition, self.passwords) = (disposition, passwords)
    }

    func downloader(
        _ downloader: ImageDownloader,
        didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        let space = challenge.protectionSpace
        challenges.change { $0.append("trust \(space.host) \(space.isServerTrust) \(challenge.error != nil)") }
        return (disposition, nil)
    }

    func downloader(
        _ downloader: ImageDownloader,
        task: SessionDataTask,
        didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        let (space, count) = (challenge.protectionSpace, challenge.previousFailureCount)
        let method = space.authenticationMethod.replacingOccurrences(of: "NSURLAuthenticationMethod", with: "")
        challenges.change { $0.append("\(method) \(space.realm ?? "") \(count)") }
        guard count < passwords.count else { return (disposition, nil) }
        return (.useCredential, URLCredential(user: "user", password: passwords[count], persistence: .none))
    }
}

@Suite(.timeLimit(.minutes(5))) struct ChallengeTests {
    @Test(
        "A certificate that does not verify is accepted if the responder says so",
        arguments: [URLSession.AuthChallengeDisposition.useCredential, .performDefaultHandling, .rejectProtectionSpace]
    )
    func certificate(disposition: URLSession.AuthChallengeDisposition) async throws {
        let server = try await TestServer.start(usesTLS: true)
        server.route("/a", .data(someBytes))
        let downloader = ImageDownloader(name: "test")
        let responder = Responder(disposition)
        // Another responder judges trusted hosts, too.
        downloader.trustedHosts = ["localhost", "127.0.0.1"]
        downloader.authenticationChallengeResponder = responder
        let caller = Caller.load(server.url("/a"), with: downloader)
        if disposition == .useCredential {
            #expect(await caller.data == someBytes)
        } else {
            #expect(await caller.error?.errorCode == 2003)
        }
        #expect(responder.challenges.value == ["trust \(server.url("/a").host ?? "") true true"])
        await server.stop()
    }

    @Test("Trusted hosts are the default responder's") func trustedHosts() async throws {
        let server = try await TestServer.start(usesTLS: true)
        server.route("/a", .data(someBytes))
        let downloader = ImageDownloader(name: "test")
        downloader.trustedHosts = [server.url("/a").host ?? ""]
        #expect(downloader.authenticationChallengeResponder === downloader)
        #expect(await Caller.load(server.url("/a"), with: downloader).data == someBytes)
        final class Standard: AuthenticationChallengeResponsible {}
        let standard = Standard()
        downloader.authenticationChallengeResponder = standard
        #expect(await Caller.load(server.url("/a"), with: downloader).data == someBytes)
        await server.stop()
    }

    /// A server that wants Basic authentication with the password "right".
    private func protect(_ server: TestServer) {
        server.route("/a") { request in
            let right = "Basic " + Data("user:right".utf8).base64EncodedString()
            guard request.header("Authorization") == right else {
                return TestResponse(
                    status: 401,
                    headers: ["WWW-Authenticate": "Basic realm=\"images\""],
                    body: someBytes
                )
            }
            return .data(Data("secret".utf8))
        }
    }

    @Test("Name and password are asked for until the server takes them, three times at most")
    func basic() async throws {
        try await withDownloader { server, downloader in
            protect(server)
            let responder = Responder(.performDefaultHandling, passwords: ["wrong", "right"])
            downloader.authenticationChallengeResponder = responder
            #expect(await Caller.load(server.url("/a"), with: downloader).data == Data("secret".utf8))
            #expect(responder.challenges.value == ["HTTPBasic images 0", "HTTPBasic images 1"])
            let stubborn = Responder(.performDefaultHandling, passwords: Array(repeating: "wrong", count: 100))
            downloader.authenticationChallengeResponder = stubborn
            let error = await Caller.load(server.url("/a"), with: downloader).error
            #expect(error?.isInvalidResponseStatusCode(401) == true)
            #expect(stubborn.challenges.value.count == 3)
        }
    }

    @Test("Digest authentication is met with what the responder gives") func digest() async throws {
        try await withDownloader { server, downloader in
            server.route("/a") { request in
                guard let field = request.header("Authorization"), field.hasPrefix("Digest username=\"user\"") else {
                    let challenge = "Digest realm=\"images\", nonce=\"1\", qop=\"auth\""
                    return TestResponse(status: 401, headers: ["WWW-Authenticate": challenge], body: someBytes)
                }
                #expect(!field.contains("right"))
                return .data(Data("secret".utf8))
            }
            let responder = Responder(.performDefaultHandling, passwords: ["right"])
            downloader.authenticationChallengeResponder = responder
            #expect(await Caller.load(server.url("/a"), with: downloader).data == Data("secret".utf8))
            #expect(responder.challenges.value == ["HTTPDigest images 0"])
        }
    }

    @Test("Another server that is redirected to is not sent the name and the password") func otherServer()
        async throws
    {
        try await withDownloader { server, downloader in
            let other = try await TestServer.start()
            let target = other.route("/b", .data(someBytes)).absoluteString
            server.route("/a") { request in
                request.header("Authorization") != nil
                    ? .redirect(to: target)
                    : TestResponse(status: 401, headers: ["WWW-Authenticate": "Basic realm=\"images\""])
            }
            let responder = Responder(.performDefaultHandling, passwords: ["right"])
            downloader.authenticationChallengeResponder = responder
            #expect(await Caller.load(server.url("/a"), with: downloader).data == someBytes)
            #expect(responder.challenges.value.count == 1)
            #expect(other.requests.count == 1 && other.lastRequest("/b")?.header("Authorization") == nil)
            await other.stop()
        }
    }

    @Test(
        "A scheme is not looked for in quoted text",
        arguments: ["Bearer realm=\"https://x/basic/token\"", "Bearer realm=\"a, basic b\"", "Negotiate"]
    )
    func otherSchemes(field: String) async throws {
        try await withDownloader { server, downloader in
            server.route("/a", TestResponse(status: 401, headers: ["WWW-Authenticate": field]))
            let responder = Responder(.performDefaultHandling, passwords: ["right"])
            downloader.authenticationChallengeResponder = responder
            let error = await Caller.load(server.url("/a"), with: downloader).error
            #expect(error?.isInvalidResponseStatusCode(401) == true)
            #expect(responder.challenges.value.isEmpty)
        }
    }

    @Test("A realm may have the name of another scheme, and another scheme may stand before") func realms()
        async throws
    {
        try await withDownloader { server, downloader in
            for field in ["Basic realm=\"digest archive\"", "Bearer realm=\"x\", basic realm=\"digest archive\""] {
                server.route("/a", TestResponse(status: 401, headers: ["WWW-Authenticate": field]))
                let responder = Responder(.performDefaultHandling)
                downloader.authenticationChallengeResponder = responder
                #expect(await Caller.load(server.url("/a"), with: downloader).error != nil)
                #expect(responder.challenges.value == ["HTTPBasic digest archive 0"])
            }
        }
    }

    @Test("Without a name and a password the response is the 401; a cancelled challenge ends the load")
    func unmet() async throws {
        try await withDownloader { server, downloader in
            protect(server)
            #expect(
                await Caller.load(server.url("/a"), with: downloader).error?.isInvalidResponseStatusCode(401) == true
            )
            for disposition in [URLSession.AuthChallengeDisposition.performDefaultHandling, .useCredential] {
                let responder = Responder(disposition)
                downloader.authenticationChallengeResponder = responder
                let error = await Caller.load(server.url("/a"), with: downloader).error
                #expect(error?.isInvalidResponseStatusCode(401) == true)
            }
            let cancelling = Responder(.cancelAuthenticationChallenge)
            downloader.authenticationChallengeResponder = cancelling
            #expect(await Caller.load(server.url("/a"), with: downloader).error?.errorCode == 2003)
        }
    }
}
