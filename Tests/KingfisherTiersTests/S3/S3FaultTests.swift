// An S3Tier and what stores do wrong: a server on loopback that plays each fault.

import Foundation
import KFSupport
import KFTransport
import KingfisherTestSupport
@_spi(Server) import KingfisherTiers
import Testing

@Suite(.timeLimit(.minutes(2))) struct S3FaultTests {
    private static let path = "/images/kingfisher/kf1-a"
    private static let value = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    /// The time and the rate that no store of a busy machine falls short of.
    private static let amplePace = (answer: Duration.seconds(100), rate: 1)
    private static let epoch = Date(timeIntervalSince1970: 1_369_353_600)

    /// An error as S3 sends it.
    private static func failure(_ status: Int, _ code: String, more: String = "") -> TestResponse {
        let text = "<?xml version=\"1.0\"?>\n<Error><Code>\(code)</Code><Message>m</Message>\(more)</Error>"
        return TestResponse(status: status, headers: ["Content-Type": "application/xml"], body: Data(text.utf8))
    }

    private func tier(
        _ server: TestServer,
        _ source: S3CredentialSource? = nil,
        maxValueBytes: Int = 16 << 20,
        pace: (answer: Duration, rate: Int) = S3FaultTests.amplePace,
        clock: @escaping @Sendable () -> Date = { Date() }
    ) throws -> S3Tier {
        var place = S3Tier.Configuration(bucket: "images", region: "us-east-1", endpoint: server.url(""))
        place.maxValueBytes = maxValueBytes
        (place.answerTimeout, place.minimumRate) = pace
        let known = S3Credentials(accessKeyID: "ID", secretAccessKey: "secret")
        return try S3Tier(place, credentials: source ?? .fixed(known), transport: CurlTransport(), clock: clock)
    }

    /// Numbers at their bounds and far beyond.
    private static let numbers = [
        "0", "-1", "1", "\(Int.max)", "\(Int.min)", "\(UInt.max)", "18446744073709551616", "1e308", "nan", "",
    ]

    @Test("Lengths, ends and dates of any size are a value, none, or an error", arguments: numbers)
    func anyNumbers(number: String) async throws {
        try await withServer { server in
            let tier = try tier(server)
            let fields = ["x-amz-meta-kf-expires": number, "Date": "Sun, 06 Nov \(number) 08:49:37 GMT"]
            for (name, value) in fields {
                server.route(Self.path, TestResponse(headers: [name: value], body: Self.value))
                let found = try await tier.get("kf1-a")
                #expect(found == nil || found == Self.value)
                server.route(Self.path, TestResponse(status: 503, headers: [name: value]))
                await #expect(throws: (any Error).self) { try await tier.get("kf1-a") }
            }
            let head = "HTTP/1.1 200 OK\r\nContent-Length: \(number)\r\n\r\n"
            server.route(Self.path, .raw(Data(head.utf8) + Self.value))
            let found = try? await tier.get("kf1-a")
            #expect(found.map { Self.value.starts(with: $0) } ?? true)
        }
    }

    @Test(
        "A store that is silent has failed; one whose value comes too slowly has not, and one that takes its time is waited for"
    )
    func slowness() async throws {
        try await withServer { server in
            let gate = Gate()
            server.route(Self.path, TestResponse(body: Self.value).with { $0.gate = gate })
            let silent = try tier(server, pace: (.milliseconds(300), 1))
            await #expect(throws: TransportError.self) { try await silent.get("kf1-a") }
            // On a busy machine the first one may have been given up before it was sent.
            let count = server.count(Self.path)
            let patient = try tier(server, pace: (.seconds(100), 1_000))
            async let value = patient.get("kf1-a")
            await server.waitForRequests(count + 1, to: Self.path)
            gate.open()
            #expect(try await value == Self.value)
            server.route(
                Self.path,
                TestResponse(body: Self.value).with { ($0.pieceSize, $0.pause) = (100, .milliseconds(20)) }
            )
            let slow = try tier(server, pace: (.seconds(100), 1 << 30))
            // On a busy machine the server itself may be silent for a moment, which is a failure.
            var error: (any Error)?
            repeat {
                error = await #expect(throws: (any Error).self) { try await slow.get("kf1-a") }
            } while error is TransportError && !Task.isCancelled
            #expect(error is CancellationError)
            #expect(patient.readTimeout(forKey: "kf1-a") > .seconds(16_000))
        }
    }

    @Test("A store that may take long to begin an answer may be silent as long, and to connect") func patience()
        async throws
    {
        let transport = FakeTransport { $0.play(.status(204)) }
        var place = S3Tier.Configuration(bucket: "images", region: "us-east-1")
        place.answerTimeout = .seconds(60)
        let known = S3Credentials(accessKeyID: "ID", secretAccessKey: "secret")
        try await S3Tier(place, credentials: .fixed(known), transport: transport).remove("kf1-a")
        let policy = try #require(transport.transfers.first).policy
        #expect(policy.connectTimeout == 60 && policy.idleTimeout == 60)
    }

    @Test("A PUT sends the bytes, their hash, their type and their expiry, and does not ask whether it may")
    func put() async throws {
        try await withServer { server in
            server.route(Self.path, .status(200))
            let tier = try tier(server, clock: { Self.epoch + 0.5 })
            for value in [Data(), Self.value, Data(count: 300_000)] {
                try await tier.put(value, forKey: "kf1-a", expiry: .seconds(60))
                let request = try #require(server.lastRequest(Self.path))
                #expect(request.method == "PUT" && request.body == value)
                #expect(request.header("Content-Length") == "\(value.count)")
                #expect(request.header("Content-Type") == "application/octet-stream")
                #expect(request.header("x-amz-content-sha256") == SHA256.hexadecimal(SHA256.hash(value)))
                #expect(request.header("x-amz-meta-kf-expires") == "1369353661")
                #expect(request.header("Expect") == nil && request.header("Host") == "127.0.0.1:\(server.port)")
                #expect(request.header("Authorization")?.contains("x-amz-meta-kf-expires") == true)
            }
            for expiry in [nil, Duration.seconds(Int64.max)] {
                try await tier.put(Self.value, forKey: "kf1-a", expiry: expiry)
                #expect(server.lastRequest(Self.path)?.header("x-amz-meta-kf-expires") == nil)
            }
        }
    }

    @Test(
        "A value is a miss from its expiry on, and if that cannot be read",
        arguments: [("1369353601", true), ("1369353600", false), ("0", false), ("soon", false), ("1e99", false)]
    ) func expiry(field: String, isHit: Bool) async throws {
        try await withServer { server in
            let response = TestResponse.data(Self.value).with { $0.headers["X-Amz-Meta-Kf-Expires"] = field }
            server.route(Self.path, response)
            let tier = try tier(server, clock: { Self.epoch })
            #expect(try await tier.get("kf1-a") == (isHit ? Self.value : nil))
            #expect(try await tier.contains("kf1-a") == isHit)
            #expect(server.lastRequest(Self.path)?.method == "HEAD")
        }
    }

    @Test("A value that is cut off, too long or announced too long is an error, and never a value") func damaged()
        async throws
    {
        try await withServer { server in
            let small = try tier(server, maxValueBytes: 1_000)
            let whole = TestResponse.data(Self.value)
            for response in [
                whole.with { $0.interruption = .cut(after: 40_000) },
                whole.with { $0.interruption = .reset(after: 40_000) },
                whole.with { ($0.framing, $0.interruption) = (.chunked, .badChunk(after: 40_000)) },
                whole.with { ($0.headers["Content-Length"], $0.interruption) = ("999999999999", .cut(after: 100_000)) },
                whole.with { $0.interruption = .cutBeforeHead },
                .raw(Data("nonsense\r\n\r\n".utf8)),
            ] {
                server.route(Self.path, response)
                let tier = try tier(server)
                await #expect(throws: TransportError.self) { try await tier.get("kf1-a") }
            }
            for response in [
                whole, .data(Data(count: 1_001)), TestResponse().with { $0.interruption = .endless },
            ] {
                server.route(Self.path, response)
                await #expect(throws: (any Error).self) { try await small.get("kf1-a") }
            }
            await #expect(throws: S3Error.self) { try await small.put(Data(count: 1_001), forKey: "a", expiry: nil) }
            #expect(server.count("/images/kingfisher/a") == 0)
        }
    }

    @Test("A call that is cancelled while the store is silent ends, and closes its connection") func cancelled()
        async throws
    {
        try await withServer { server in
            server.route(Self.path, TestResponse.data(Self.value).with { $0.interruption = .stall(after: 10) })
            let tier = try tier(server)
            let works: [@Sendable () async throws -> Void] = [
                { _ = try await tier.get("kf1-a") },
                { try await tier.put(Self.value, forKey: "kf1-a", expiry: nil) },
            ]
            for (count, work) in works.enumerated() {
                let task = Task { try await work() }
                await server.waitForRequests(count + 1, to: Self.path)
                task.cancel()
                await #expect(throws: CancellationError.self) { try await task.value }
                await server.lastRequest(Self.path)?.disconnected.wait()
            }
        }
    }

    @Test("A store that is silent fails by itself; one that cannot be reached, too") func silent() async throws {
        try await withServer { server in
            server.route(Self.path, TestResponse.data(Self.value).with { $0.interruption = .stall(after: 0) })
            let tier = try tier(server, pace: (.milliseconds(300), 1_000_000))
            let error = await #expect(throws: TransportError.self) { try await tier.get("kf1-a") }
            #expect(error?.code == .timedOut)
        }
        let refusing = try RefusingPort()
        let place = S3Tier.Configuration(bucket: "images", region: "us-east-1", endpoint: refusing.url(""))
        let known = S3Credentials(accessKeyID: "ID", secretAccessKey: "secret")
        let unreachable = try S3Tier(place, credentials: .fixed(known))
        let error = await #expect(throws: TransportError.self) { try await unreachable.get("kf1-a") }
        #expect(error?.code == .cannotConnectToHost)
    }

    @Test(
        "A refusal is asked once, and its error says status, code, bucket and what to do",
        arguments: [
            (failure(503, "SlowDown"), "SlowDown", "overloaded"),
            (failure(404, "NoSuchBucket"), "NoSuchBucket", "Create the bucket"),
            (failure(403, "AccessDenied"), "AccessDenied", "s3:ListBucket"),
            (failure(400, "Odd"), "Odd", "Check the endpoint"),
            (TestResponse(status: 404, body: Data("<html>none</html>".utf8)), nil, "Check the endpoint"),
            (failure(500, "x y"), nil, "in trouble"), (failure(500, "é"), nil, "in trouble"),
            (TestResponse(status: 403, body: Data(repeating: 0x3C, count: 200_000)), nil, "Check the credentials"),
            (
                failure(400, "AuthorizationHeaderMalformed", more: "<Region>eu-west-1</Region>"),
                "AuthorizationHeaderMalformed", "region eu-west-1"
            ),
        ]
    ) func refused(response: TestResponse, code: String?, advice: String) async throws {
        try await withServer { server in
            server.route(Self.path, response)
            let tier = try tier(server)
            let error = await #expect(throws: S3Error.self) { try await tier.get("kf1-a") }
            #expect(error?.status == response.status && error?.code == code)
            let text = error?.description ?? ""
            #expect(text.contains("the bucket images at 127.0.0.1") && text.contains("\(response.status)"))
            #expect(text.contains(advice), "\(text)")
            #expect(server.count(Self.path) == 1)
        }
    }

    @Test("What is not there is nil to get, and removed already") func missing() async throws {
        try await withServer { server in
            server.route(Self.path, Self.failure(404, "NoSuchKey"))
            let tier = try tier(server)
            #expect(try await tier.get("kf1-a") == nil)
            #expect(try await tier.contains("kf1-a") == false)
            try await tier.remove("kf1-a")
            #expect(server.lastRequest(Self.path)?.method == "DELETE")
        }
    }

    @Test(
        "A redirect is not followed, whatever it is; the error says which region is right",
        arguments: [301, 307, 308]
    )
    func redirected(status: Int) async throws {
        try await withServer { server in
            server.route("/other", .data(Self.value))
            server.route(
                Self.path,
                Self.failure(status, "PermanentRedirect").with {
                    $0.headers["Location"] = server.url("/other").absoluteString
                    $0.headers["x-amz-bucket-region"] = "ap-south-1"
                }
            )
            let tier = try tier(server)
            let error = await #expect(throws: S3Error.self) { try await tier.get("kf1-a") }
            #expect(error?.description.contains("region ap-south-1") == true)
            #expect(server.count("/other") == 0 && server.count(Self.path) == 1)
        }
    }

    @Test("Expired credentials are replaced once, for all who have them; later requests have the new ones")
    func rotation() async throws {
        try await withServer { server in
            let calls = Locked(0)
            let source = S3CredentialSource {
                let number = calls.withLock { calls in
                    calls += 1
                    return calls
                }
                return S3Credentials(accessKeyID: "ID\(number)", secretAccessKey: "secret", sessionToken: "t\(number)")
            }
            let expired = Locked(0)
            let gate = Gate()
            server.route(Self.path) { request in
                if request.header("x-amz-security-token") == "t2" { return .data(Self.value) }
                let count = expired.withLock { count in
                    count += 1
                    return count
                }
                // All have been sent with the old ones.
                if count == 4 { gate.open() }
                await gate.wait()
                return Self.failure(count < 3 ? 403 : 400, "ExpiredToken")
            }
            let tier = try tier(server, source)
            try await withThrowingTaskGroup(of: Data?.self) { group in
                for _ in 0..<4 { group.addTask { try await tier.get("kf1-a") } }
                for try await value in group { #expect(value == Self.value) }
            }
            #expect(try await tier.get("kf1-a") == Self.value)
            #expect(calls.withLock { $0 } == 2 && server.count(Self.path) == 9)
        }
    }

    @Test("Where the source has no other credentials than the expired ones, the request is not repeated")
    func expiredForGood() async throws {
        try await withServer { server in
            server.route(Self.path, Self.failure(400, "ExpiredToken"))
            let tier = try tier(server)
            let error = await #expect(throws: S3Error.self) { try await tier.get("kf1-a") }
            #expect(error?.code == "ExpiredToken" && server.count(Self.path) == 1)
        }
    }

    @Test("A store that gives no reason, as to HEAD, is asked once more if the source has other credentials")
    func expiredWithoutReason() async throws {
        try await withServer { server in
            let calls = Locked(0)
            let source = S3CredentialSource {
                let number = calls.withLock { calls in
                    calls += 1
                    return calls
                }
                return S3Credentials(accessKeyID: "ID", secretAccessKey: "secret", sessionToken: "t\(number)")
            }
            server.route(Self.path) { TestResponse(status: $0.header("x-amz-security-token") == "t2" ? 200 : 400) }
            let tier = try tier(server, source)
            #expect(try await tier.contains("kf1-a"))
            #expect(server.requests.map(\.method) == ["HEAD", "HEAD"] && calls.withLock { $0 } == 2)
        }
    }

    @Test("A store whose certificate is not trusted is sent nothing") func untrusted() async throws {
        let server = try await TestServer.start(usesTLS: true)
        let tier = try tier(server)
        let error = await #expect(throws: TransportError.self) { try await tier.get("kf1-a") }
        #expect(error?.code == .serverCertificateUntrusted && server.requests.isEmpty)
        await server.stop()
    }

    @Test("A clock that the store refuses is corrected by the store's; for signatures and for expiries")
    func clockOff() async throws {
        try await withServer { server in
            // The store's time is that of `epoch`, this machine's twenty minutes later.
            server.route(Self.path) { request in
                guard request.header("x-amz-date") == "20130524T000000Z" else {
                    return Self.failure(403, "RequestTimeTooSkewed").with {
                        $0.headers["Date"] = "Fri, 24 May 2013 00:00:00 GMT"
                    }
                }
                return TestResponse.data(Self.value).with { $0.headers["x-amz-meta-kf-expires"] = "1369353601" }
            }
            let tier = try tier(server, clock: { Self.epoch + 1_200 })
            #expect(try await tier.get("kf1-a") == Self.value)
            #expect(server.count(Self.path) == 2)
            #expect(try await tier.get("kf1-a") == Self.value)
            #expect(server.count(Self.path) == 3)
            try await tier.put(Self.value, forKey: "kf1-a", expiry: .seconds(5))
            #expect(server.lastRequest(Self.path)?.header("x-amz-meta-kf-expires") == "1369353605")
        }
    }

    @Test("A store that refuses every time is asked twice", arguments: ["Fri, 24 May 2013 00:00:00 GMT", "never", nil])
    func clockRefused(date: String?) async throws {
        try await withServer { server in
            server.route(Self.path, Self.failure(403, "RequestTimeTooSkewed").with { $0.headers["Date"] = date })
            let tier = try tier(server)
            let error = await #expect(throws: S3Error.self) { try await tier.get("kf1-a") }
            #expect(error?.code == "RequestTimeTooSkewed" && server.count(Self.path) <= 2)
        }
    }

    @Test("Lists are read a page after the other; a foreign name is none of the tier's") func pages() async throws {
        try await withServer { server in
            server.route("/images") { request in
                let isFirst = request.query == "list-type=2&prefix=kingfisher%2Fkf1-"
                let keys = isFirst ? ["kf1-a&amp;", "kf1-b"] : []
                let text = keys.map { "<Contents><Key>kingfisher/\($0)</Key></Contents>" }.joined()
                let other = "<Contents><Key>other/kf1-c</Key></Contents>"
                return .data(Data("<ListBucketResult><Prefix>p</Prefix>\(text)\(other)</ListBucketResult>".utf8))
            }
            let tier = try tier(server)
            #expect(try await tier.keys(beginningWith: "kf1-") == ["kf1-a&", "kf1-b"])
            #expect(try await tier.keys(beginningWith: "kf1-", after: "kf1-b").isEmpty)
            let query = "list-type=2&prefix=kingfisher%2Fkf1-&start-after=kingfisher%2Fkf1-b"
            #expect(server.lastRequest("/images")?.query == query)
        }
    }
}
