// Failures, timeouts and cancellation of the transport over libcurl.

import Foundation
import FoundationNetworking
import KFSupport
import KFTransport
import KingfisherTestSupport
import Testing

struct CurlTransportFailureTests {
    @Test("A refused connection is an error of its own") func refusedConnection() async throws {
        let port = try RefusingPort()
        let (recorder, error) = await load(port.url("/a"))
        #expect(error?.code == .cannotConnectToHost)
        #expect(error?.urlError.code.rawValue == -1004)
        #expect(recorder.log.response == nil)
        withExtendedLifetime(port) {}
    }

    @Test("An unknown host is an error of its own") func unknownHost() async throws {
        let url = try #require(URL(string: "http://does-not-exist.invalid/"))
        #expect(await load(url).error?.code == .cannotFindHost)
    }

    @Test(
        "A URL with another scheme than HTTP, or without a host, is unsupported",
        arguments: ["1234", "ftp://example.com/a", "file:///etc/hosts", "http://", "data:text/plain,a"]
    )
    func unsupportedURL(text: String) async throws {
        let url = try #require(URL(string: text))
        #expect(await load(url).error?.code == .unsupportedURL)
    }

    @Test("A peer that does not speak HTTP is a bad response or a lost connection") func notHTTP() async throws {
        try await withServer(.selfSigned) { server in
            // Plain HTTP to a port that speaks TLS.
            let url = try #require(URL(string: "http://localhost:\(server.port)/a"))
            let error = await load(url).error
            #expect([.badServerResponse, .networkConnectionLost].contains(error?.code))
        }
    }

    @Test("A stalled body ends in a timeout") func stalledBody() async throws {
        try await withServer { server in
            server.route("/a", .data(hundredKilobytes).with { $0.interruption = .stall(after: 1_000) })
            let (recorder, error) = await load(server.url("/a"), policy: TransportPolicy(idleTimeout: 0.5))
            #expect(error?.code == .timedOut)
            // On a busy machine the timeout may be reached before the first byte comes.
            #expect([0, 1_000].contains(recorder.log.body.count))
            await server.lastRequest("/a")?.disconnected.wait()
        }
    }

    @Test("A response head that never comes ends in a timeout") func missingHead() async throws {
        try await withServer { server in
            let gate = Gate()
            server.route("/a", TestResponse().with { $0.gate = gate })
            let error = await load(server.url("/a"), policy: TransportPolicy(idleTimeout: 0.1)).error
            #expect(error?.code == .timedOut)
            gate.open()
        }
    }

    @Test("The total timeout ends a transfer without an idle timeout") func totalTimeout() async throws {
        try await withServer { server in
            server.route("/a", .data(hundredKilobytes).with { $0.interruption = .stall(after: 10) })
            let error = await load(server.url("/a"), policy: TransportPolicy(idleTimeout: nil, totalTimeout: 0.1)).error
            #expect(error?.code == .timedOut)
        }
    }

    @Test("The wait for a slot counts towards no time limit") func waitingIsFree() async throws {
        var configuration = CurlTransport.Configuration()
        configuration.connectionsPerHost = 1
        let transport = CurlTransport(configuration: configuration)
        try await withServer { server in
            let gate = Gate()
            server.route("/slow", TestResponse().with { $0.gate = gate })
            server.route("/b", .data(hundredKilobytes))
            let (first, second, third) = (Recorder(), Recorder(), Recorder())
            let forever = TransportPolicy(connectTimeout: nil, idleTimeout: nil)
            let task = transport.start(URLRequest(url: server.url("/slow")), policy: forever, events: first)
            await server.waitForRequests(to: "/slow")
            let short = TransportPolicy(connectTimeout: 30, idleTimeout: 30, totalTimeout: 30)
            let waiting = transport.start(URLRequest(url: server.url("/b")), policy: short, events: second)
            let brief = TransportPolicy(connectTimeout: 0.05, idleTimeout: 0.05, totalTimeout: 0.05)
            let briefTask = transport.start(URLRequest(url: server.url("/b")), policy: brief, events: third)
            // This one, to another host, began later and ends by a longer limit: that of the waiting one would have
            // passed, too.
            let running = Recorder()
            let longer = TransportPolicy(connectTimeout: nil, idleTimeout: nil, totalTimeout: 0.2)
            let elsewhere = try #require(URL(string: "http://localhost:\(server.port)/slow"))
            let runningTask = transport.start(URLRequest(url: elsewhere), policy: longer, events: running)
            #expect(await running.end() != nil)
            #expect(!second.log.isComplete && !third.log.isComplete)
            #expect(transport.queueStatus.waiting == 2)
            #expect(server.count("/b") == 0)
            gate.open()
            #expect(await first.end() == nil)
            #expect(await second.end() == nil)
            _ = await third.end()
            _ = (task, waiting, briefTask, runningTask)
        }
    }

    @Test("Cancelling in the middle of a body closes the connection") func cancelInBody() async throws {
        try await withServer { server in
            server.route("/a", .data(hundredKilobytes).with { $0.interruption = .stall(after: 1_000) })
            let recorder = Recorder()
            let task = CurlTransport.shared.start(
                URLRequest(url: server.url("/a")),
                policy: .patient,
                events: recorder
            )
            await recorder.firstData.value
            task.cancel()
            task.cancel()
            #expect(await recorder.end()?.code == .cancelled)
            await server.lastRequest("/a")?.disconnected.wait()
            #expect(recorder.log.violations == [])
        }
    }

    @Test("A transfer that is cancelled at once completes as cancelled") func cancelAtOnce() async throws {
        try await withServer { server in
            // No response comes before the gate opens, however late this thread cancels.
            let gate = Gate()
            defer { gate.open() }
            server.route("/a", TestResponse.data(hundredKilobytes).with { $0.gate = gate })
            for _ in 0..<50 {
                let recorder = Recorder()
                CurlTransport.shared.start(
                    URLRequest(url: server.url("/a")),
                    policy: .patient,
                    events: recorder
                ).cancel()
                #expect(await recorder.end()?.code == .cancelled)
                #expect(recorder.log.response == nil)
                #expect(recorder.log.violations == [])
            }
        }
    }

    @Test("Cancelling after the end does nothing") func cancelAfterEnd() async throws {
        try await withServer { server in
            server.route("/a", .data(hundredKilobytes))
            let recorder = Recorder()
            let task = CurlTransport.shared.start(
                URLRequest(url: server.url("/a")),
                policy: .patient,
                events: recorder
            )
            #expect(await recorder.end() == nil)
            task.cancel()
            #expect(recorder.log.violations == [])
        }
    }

    @Test("Refusing the response completes the transfer as cancelled, without data") func refusedResponse() async throws
    {
        try await withServer { server in
            server.route("/a", .data(hundredKilobytes).with { $0.interruption = .stall(after: 50_000) })
            let refusing = Recorder(disposition: { _ in .later { .cancel } })
            let error = await load(server.url("/a"), events: refusing).error
            #expect(error?.code == .cancelled)
            #expect(refusing.log.body.isEmpty)
            await server.lastRequest("/a")?.disconnected.wait()
        }
    }

    @Test("A suspended receiver pauses the server") func backpressure() async throws {
        let big = Data(count: 64 << 20)
        try await withServer { server in
            server.route("/a", .data(big).with { $0.pieceSize = 64 << 10 })
            let gate = Gate()
            let reading = Recorder(receiving: { _ in .later { await gate.wait() } })
            let task = CurlTransport.shared.start(
                URLRequest(url: server.url("/a")),
                policy: .patient,
                events: reading
            )
            await reading.firstData.value
            let request = try #require(server.lastRequest("/a"))
            // Waits until the peer makes no progress: its count stays the same.
            var last = -1
            while last != request.bytesSent {
                last = request.bytesSent
                try await Task.sleep(for: .milliseconds(50))
            }
            #expect(reading.log.chunks == 1)
            #expect(request.bytesSent < big.count)
            gate.open()
            #expect(await reading.end() == nil)
            #expect(reading.log.body.count == big.count)
            _ = task
        }
    }

    @Test("Invalidating cancels running transfers and refuses later ones") func invalidate() async throws {
        let transport = CurlTransport()
        try await withServer { server in
            server.route("/a", .data(hundredKilobytes).with { $0.interruption = .stall(after: 1_000) })
            let recorder = Recorder()
            let task = transport.start(URLRequest(url: server.url("/a")), policy: .patient, events: recorder)
            await recorder.firstData.value
            transport.invalidate()
            transport.invalidate()
            #expect(await recorder.end()?.code == .cancelled)
            #expect(await load(server.url("/a"), with: transport).error?.code == .cancelled)
            _ = task
        }
    }

    @Test("Invalidating cancels also when the transport is released at once") func invalidateAndRelease() async throws {
        try await withServer { server in
            server.route("/a", .data(hundredKilobytes).with { $0.interruption = .stall(after: 1_000) })
            for _ in 0..<20 {
                let recorder = Recorder()
                var transport: CurlTransport? = CurlTransport()
                let task = transport?.start(URLRequest(url: server.url("/a")), policy: .patient, events: recorder)
                await recorder.firstData.value
                transport?.invalidate()
                transport = nil
                #expect(await recorder.end()?.code == .cancelled)
                _ = task
            }
        }
    }

    @Test("A transport that was released closes its connections with its last transfer", .timeLimit(.minutes(1)))
    func closesConnections() async throws {
        try await withServer { server in
            let gate = Gate()
            server.route("/a", .data(hundredKilobytes).with { $0.gate = gate })
            let recorder = Recorder()
            var task: (any TransportTask)?
            task = CurlTransport().start(URLRequest(url: server.url("/a")), policy: .patient, events: recorder)
            await server.waitForRequests(to: "/a")
            gate.open()
            #expect(await recorder.end() == nil)
            // This is long before libcurl would have waited for something.
            let start = ContinuousClock.now
            await server.lastRequest("/a")?.disconnected.wait()
            #expect(ContinuousClock.now - start < .seconds(30))
            // A request that comes too late leaves nothing behind.
            weak let released = task
            task?.cancel()
            task = nil
            try await until("the task is released") { released == nil }
        }
    }

    @Test("A running transfer outlives its transport") func outlivesTransport() async throws {
        try await withServer { server in
            let gate = Gate()
            server.route("/a", .data(hundredKilobytes).with { $0.gate = gate })
            let recorder = Recorder()
            _ = CurlTransport().start(URLRequest(url: server.url("/a")), policy: .patient, events: recorder)
            await server.waitForRequests(to: "/a")
            gate.open()
            #expect(await recorder.end() == nil)
            #expect(recorder.received(hundredKilobytes))
        }
    }

    @Test("A transfer releases its events when it is over", .timeLimit(.minutes(5))) func releasesEvents() async throws
    {
        try await withServer { server in
            server.route("/a", .data(hundredKilobytes))
            var task: (any TransportTask)?
            let released: Promise<Void>
            do {
                let recorder = Recorder()
                released = recorder.released
                task = CurlTransport.shared.start(
                    URLRequest(url: server.url("/a")),
                    policy: .patient,
                    events: recorder
                )
                #expect(await recorder.end() == nil)
            }
            await released.value
            _ = task
        }
    }

    @Test("An untrusted certificate is refused, unless its host is trusted") func untrustedCertificate() async throws {
        try await withServer(.selfSigned) { server in
            server.route("/a", .data(hundredKilobytes))
            let refused = await load(server.url("/a"))
            #expect(refused.error?.code == .serverCertificateUntrusted)
            let trusting = await load(server.url("/a"), policy: .patient(trustedHosts: ["LOCALHOST"]))
            #expect(trusting.error == nil)
            #expect(trusting.recorder.received(hundredKilobytes))
            let other = await load(server.url("/a"), policy: .patient(trustedHosts: ["example.com"]))
            #expect(other.error?.code == .serverCertificateUntrusted)
        }
    }

    @Test("Trust is judged anew for each hop") func trustPerHop() async throws {
        try await withServer(.selfSigned) { secure in
            try await withServer { plain in
                secure.route("/a", .data(hundredKilobytes))
                plain.route("/a", .redirect(to: secure.url("/a").absoluteString))
                let onlyFirst = TransportPolicy.patient(trustedHosts: ["127.0.0.1"])
                #expect(await load(plain.url("/a"), policy: onlyFirst).error?.code == .serverCertificateUntrusted)
                let target = TransportPolicy.patient(trustedHosts: ["localhost"])
                #expect(await load(plain.url("/a"), policy: target).error == nil)
            }
        }
    }
}
