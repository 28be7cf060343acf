// Redirects: the request that is proposed, and the decision without which none is followed.

import Foundation
import FoundationNetworking
import KFSupport
import KingfisherTestSupport
import Testing

@testable import KFTransport

struct RedirectTests {
    @Test("Every hop is proposed, and the last response is delivered") func followsRedirects() async throws {
        try await withServer { server in
            server.route("/1", .redirect(to: "/2", status: 301))
            server.route("/2", .redirect(to: server.url("/3").absoluteString, status: 307))
            server.route("/3", .data(hundredKilobytes))
            let (recorder, error) = await load(server.url("/1")) { $0.setValue("me", forHTTPHeaderField: "X-Who") }
            #expect(error == nil)
            #expect(recorder.log.hops.map(\.status) == [301, 307])
            #expect(recorder.log.hops.map(\.proposed.url) == [server.url("/2"), server.url("/3")])
            #expect(recorder.http?.statusCode == 200)
            #expect(recorder.http?.url == server.url("/3"))
            #expect(recorder.received(hundredKilobytes))
            #expect(server.lastRequest("/3")?.header("X-Who") == "me")
        }
    }

    @Test("A refused redirect is the final response, with its body") func refusedRedirect() async throws {
        try await withServer { server in
            server.route("/1", .redirect(to: "/2").with { $0.body = Data("moved".utf8) })
            let (recorder, error) = await load(
                server.url("/1"),
                events: Recorder(redirecting: { _, _ in .later { nil } })
            )
            #expect(error == nil)
            #expect(recorder.http?.statusCode == 302)
            #expect(recorder.received(Data("moved".utf8)))
            #expect(server.count("/2") == 0)
        }
    }

    @Test("The request to follow may be given later, and may be another one") func changedRequest() async throws {
        try await withServer { server in
            server.route("/1", .redirect(to: "/2"))
            server.route("/other", .data(hundredKilobytes))
            let other = server.url("/other")
            let events = Recorder(redirecting: { _, proposed in
                .later {
                    var request = proposed
                    request.url = other
                    request.setValue("added", forHTTPHeaderField: "X-More")
                    return request
                }
            })
            let (recorder, error) = await load(server.url("/1"), events: events)
            #expect(error == nil)
            #expect(recorder.received(hundredKilobytes))
            #expect(server.lastRequest("/other")?.header("X-More") == "added")
            #expect(server.count("/2") == 0)
        }
    }

    @Test("The receiver of the events decides how many redirects a loop takes") func redirectLoop() async throws {
        try await withServer { server in
            server.route("/loop", .redirect(to: "/loop"))
            let hops = Locked(0)
            let events = Recorder(redirecting: { _, proposed in
                let count = hops.withLock { count in
                    count += 1
                    return count
                }
                return .now(count <= 20 ? proposed : nil)
            })
            let (recorder, error) = await load(server.url("/loop"), events: events)
            #expect(error == nil)
            #expect(recorder.http?.statusCode == 302)
            #expect(server.count("/loop") == 21)
        }
    }

    @Test("The body of a redirect that is followed is not delivered", arguments: [1_000, 5 << 20]) func redirectBody(
        size: Int
    ) async throws {
        try await withServer { server in
            server.route("/1", .redirect(to: "/2").with { $0.body = Data(count: size) })
            server.route("/2", .data(Data([1, 2, 3])))
            let (recorder, error) = await load(server.url("/1"))
            #expect(error == nil)
            #expect(recorder.received(Data([1, 2, 3])))
        }
    }

    @Test("Cancelling ends a transfer that waits for the request to follow") func cancelWhilePending() async throws {
        try await withServer { server in
            server.route("/1", .redirect(to: "/2"))
            let isPending = Gate()
            let decision = Gate()
            let recorder = Recorder(redirecting: { _, proposed in
                .later {
                    isPending.open()
                    await decision.wait()
                    return proposed
                }
            })
            let task = CurlTransport.shared.start(
                URLRequest(url: server.url("/1")),
                policy: .patient,
                events: recorder
            )
            await isPending.wait()
            task.cancel()
            #expect(await recorder.end()?.code == .cancelled)
            decision.open()
            _ = await load(server.url("/3"))
            #expect(server.count("/2") == 0)
            #expect(recorder.log.violations == [])
        }
    }

    @Test("A redirect that is never decided on ends in a timeout") func decisionTimeout() async throws {
        try await withServer { server in
            server.route("/1", .redirect(to: "/2"))
            let never = Gate()
            let events = Recorder(redirecting: { _, _ in
                .later {
                    await never.wait()
                    return nil
                }
            })
            let error = await load(server.url("/1"), policy: TransportPolicy(idleTimeout: 0.1), events: events).error
            #expect(error?.code == .timedOut)
            never.open()
        }
    }

    @Test(
        "The method changes as RFC 9110 says",
        arguments: [
            (301, "GET", "GET"), (302, "POST", "GET"), (303, "PUT", "GET"), (303, "HEAD", "HEAD"),
            (307, "POST", "POST"),
            (308, "PUT", "PUT"), (301, "HEAD", "HEAD"), (302, "PUT", "PUT"),
        ]
    )
    func methodChanges(status: Int, method: String, expected: String) throws {
        var request = URLRequest(url: try #require(URL(string: "http://a.example/x")))
        request.httpMethod = method
        request.httpBody = method == "GET" || method == "HEAD" ? nil : Data([1])
        request.setValue("text/plain", forHTTPHeaderField: "Content-Type")
        let next = try #require(request.redirected(by: status, to: "y".utf8))
        #expect(next.httpMethod == expected)
        #expect((next.httpBody == nil) == (expected != method || request.httpBody == nil))
        #expect(next.url?.absoluteString == "http://a.example/y")
    }

    @Test(
        "Responses with other statuses or without a location are not redirects",
        arguments: [(300, "/x"), (304, "/x"), (200, "/x"), (302, "")]
    )
    func noRedirect(status: Int, location: String) throws {
        let request = URLRequest(url: try #require(URL(string: "http://a.example/x")))
        #expect(request.redirected(by: status, to: location.utf8) == nil)
    }

    /// Each character of a location stands for one byte.
    @Test(
        "A location is requested as it was sent, byte by byte",
        arguments: [
            ("/a%20b c", "/a%20b%20c"), ("/\u{C3}\u{A4}%C3%A4?%20 x", "/%C3%A4%C3%A4?%20%20x"),
            ("caf\u{E9}.png", "/caf%E9.png"), ("/100%", "/100%25"),
        ]
    )
    func foreignLocation(location: String, requested: String) async throws {
        try await withServer { server in
            let bytes = location.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
            let head = Data("HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: ".utf8)
            server.route("/a", .raw(head + bytes + Data("\r\n\r\n".utf8)))
            _ = await load(server.url("/a"))
            #expect(server.requests.map(\.uri) == ["/a", requested])
        }
    }

    @Test("The fragment of the URL is inherited") func inheritsFragment() throws {
        let request = URLRequest(url: try #require(URL(string: "http://a.example/x#part")))
        let next = request.redirected(by: 302, to: "/y".utf8)
        #expect(next?.url?.absoluteString == "http://a.example/y#part")
    }

    @Test(
        "A user name and a password in a URL become basic authentication, percent escapes decoded",
        arguments: [
            ("http://me:secret@a.example/x", "me:secret"), ("http://m%40:s%3A%C3%A4@a.example", "m@:s:ä"),
            ("http://me@a.example/x", "me:"), ("http://:secret@a.example/x", ":secret"),
            ("http://a.example/x", nil), ("http://a.example/@x", nil),
        ] as [(String, String?)]
    )
    func credentialsOfURLs(text: String, credentials: String?) throws {
        var request = URLRequest(url: try #require(URL(string: text)))
        let expected = credentials.map { "Basic \(Data($0.utf8).base64EncodedString())" }
        #expect(request.authorizedByURL.value(forHTTPHeaderField: "Authorization") == expected)
        request.setValue("mine", forHTTPHeaderField: "authorization")
        #expect(request.authorizedByURL.value(forHTTPHeaderField: "Authorization") == "mine")
    }

    @Test("Credentials of a URL are sent as a field, to redirects of the same origin too, and not in the request line")
    func credentialsInURL() async throws {
        try await withServer { server in
            server.route("/1", .redirect(to: server.url("/2").absoluteString))
            server.route("/2", .data(hundredKilobytes))
            var parts = try #require(URLComponents(url: server.url("/1"), resolvingAgainstBaseURL: false))
            (parts.user, parts.password) = ("me", "s@fe")
            let (_, error) = await load(try #require(parts.url))
            #expect(error == nil)
            #expect(server.requests.map(\.uri) == ["/1", "/2"])
            for request in server.requests {
                #expect(request.header("Authorization") == "Basic bWU6c0BmZQ==")
                #expect(request.header("Host") == "127.0.0.1:\(server.port)")
            }
        }
    }

    @Test(
        "Credentials stay with their origin",
        arguments: [
            ("http://a.example/y", true), ("http://a.example:80/y", true), ("HTTP://A.example/y", true),
            ("https://a.example/y", false), ("http://b.example/y", false), ("http://a.example:81/y", false),
        ]
    )
    func credentialsOfOrigin(target: String, stays: Bool) throws {
        let origin = try #require(URL(string: "http://a.example/x"))
        var next = URLRequest(url: try #require(URL(string: target)))
        for field in ["Authorization", "Cookie", "Proxy-Authorization", "X-Other"] {
            next.setValue("1", forHTTPHeaderField: field)
        }
        let stripped = next.removing(URLRequest.credentialFields, leaving: origin)
        #expect((stripped.value(forHTTPHeaderField: "authorization") != nil) == stays)
        #expect((stripped.value(forHTTPHeaderField: "Cookie") != nil) == stays)
        #expect((stripped.value(forHTTPHeaderField: "Proxy-Authorization") != nil) == stays)
        #expect(stripped.value(forHTTPHeaderField: "X-Other") == "1")
    }
}
