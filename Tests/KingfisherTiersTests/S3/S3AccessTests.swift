// An S3Tier on a store that checks signatures and permissions, moto, which may be killed.

import Foundation
import KFSupport
import KFTransport
import KingfisherTestSupport
@_spi(Server) import KingfisherTiers
import Testing

@Suite(
    .tags(.engines),
    .timeLimit(.minutes(5)),
    .enabled(if: MotoServer.isInstalled, "moto is not installed"),
    .moto(checking: .signatures)
)
struct S3AccessTests {
    private func server() throws -> MotoServer { try #require(MotoServer.current) }

    @Test("With the right key a value is stored, read, listed and removed") func permitted() async throws {
        // At the top of the bucket, since moto refuses signatures of queries with an escaped slash.
        let tier = try server().tier(prefix: "")
        let value = Data("value".utf8)
        try await tier.put(value, forKey: "kf1-permitted", expiry: .seconds(60))
        #expect(try await tier.get("kf1-permitted") == value)
        #expect(try await tier.contains("kf1-permitted"))
        #expect(try await tier.keys(beginningWith: "kf1-permitted") == ["kf1-permitted"])
        try await tier.remove("kf1-permitted")
        #expect(try await tier.get("kf1-permitted") == nil)
    }

    @Test("A reader gets objects of any bucket, asks on conditions, and hands on what is refused") func reader()
        async throws
    {
        let server = try server()
        try await server.tier(prefix: "").put(Data("value".utf8), forKey: "object", expiry: nil)
        var place = S3Reader.Configuration(region: "us-east-1", endpoint: server.endpoint)
        place.addressing = .path
        (place.connectTimeout, place.answerTimeout) = (100, 100)
        let reader = try S3Reader(place, credentials: .fixed(server.user))
        let found = try await reader.object("object", in: "images")
        #expect(found.status == 200 && found.data == Data("value".utf8) && found.reason == nil)
        let tag = try #require(found.fields.first { $0.key.lowercased() == "etag" }?.value)
        #expect(try await reader.object("object", in: "images", unless: ["If-None-Match": tag]).status == 304)
        for (key, bucket, status, code) in [
            ("none", "images", 404, "NoSuchKey"), ("a", "nowhere", 404, "NoSuchBucket"),
        ] {
            let answer = try await reader.object(key, in: bucket)
            #expect(answer.status == status && answer.reason?.contains(code) == true)
        }
        let stranger = try S3Reader(place, credentials: .fixed(S3Credentials(accessKeyID: "a", secretAccessKey: "b")))
        #expect(try await stranger.object("object", in: "images").status == 403)
        place.mostBytes = 4
        let narrow = try S3Reader(place, credentials: .fixed(server.user))
        let error = await #expect(throws: URLError.self) { try await narrow.object("object", in: "images") }
        #expect(error?.code == .dataLengthExceedsMaximum)
    }

    @Test("Temporary credentials are accepted with their token, and refused without it") func token() async throws {
        let role = try server().role
        let tier = try server().tier(.fixed(role))
        try await tier.put(Data("value".utf8), forKey: "kf1-token", expiry: nil)
        #expect(try await tier.get("kf1-token") == Data("value".utf8))
    }

    @Test("A wrong secret is refused, and the error says what to check") func wrongSecret() async throws {
        let wrong = S3Credentials(accessKeyID: try server().user.accessKeyID, secretAccessKey: "wrong")
        let tier = try server().tier(.fixed(wrong))
        for work in [
            { @Sendable in _ = try await tier.get("kf1-a") },
            { @Sendable in try await tier.put(Data("v".utf8), forKey: "kf1-a", expiry: nil) },
            { @Sendable in try await tier.remove("kf1-a") }, { @Sendable in _ = try await tier.keys() },
        ] {
            let error = await #expect(throws: S3Error.self) { try await work() }
            #expect(error?.code == "SignatureDoesNotMatch" && error?.status == 403)
            #expect(error?.description.contains("the region is wrong") == true)
        }
        await #expect(throws: S3Error.self) { try await tier.contains("kf1-a") }
    }

    @Test(
        "A key or a secret that is no longer right is replaced by what the source says then",
        arguments: [true, false]
    )
    func rotated(hasNewKey: Bool) async throws {
        let calls = Locked(0)
        let user = try server().user
        let old = S3Credentials(
            accessKeyID: hasNewKey ? "AKIAUNKNOWN" : user.accessKeyID,
            secretAccessKey: "old",
            sessionToken: hasNewKey ? "token" : nil
        )
        let tier = try server().tier(
            S3CredentialSource {
                let isFirst = calls.withLock { calls in
                    calls += 1
                    return calls == 1
                }
                return isFirst ? old : user
            }
        )
        try await tier.put(Data("value".utf8), forKey: "kf1-rotated", expiry: nil)
        #expect(try await tier.get("kf1-rotated") == Data("value".utf8))
        #expect(calls.withLock { $0 } == 2)
    }

    @Test("A missing bucket is an error and not a miss") func missingBucket() async throws {
        let tier = try server().tier(bucket: "absent")
        let error = await #expect(throws: S3Error.self) { try await tier.get("kf1-a") }
        #expect(error?.code == "NoSuchBucket" && error?.description.contains("the bucket absent at") == true)
        await #expect(throws: S3Error.self) { try await tier.keys() }
    }

    @Test("Ten minutes of difference between the clocks of machine and store do no harm", arguments: [-600.0, 600])
    func clockOff(seconds: TimeInterval) async throws {
        let tier = try S3Tier(
            server().place(),
            credentials: .fixed(server().user),
            transport: CurlTransport(),
            clock: { Date() + seconds }
        )
        try await tier.put(Data("value".utf8), forKey: "kf1-clock\(Int(seconds))", expiry: .seconds(60))
        #expect(try await tier.get("kf1-clock\(Int(seconds))") == Data("value".utf8))
    }

    @Test("A store that stands still holds no cancelled call; it goes on afterwards, and once it is killed calls fail")
    func killed() async throws {
        let server = try await MotoServer.start(.nothing)
        let transport = CurlTransport()
        let tier = try S3Tier(server.place(), credentials: .fixed(server.user), transport: transport)
        try await tier.put(Data("value".utf8), forKey: "kf1-a", expiry: nil)
        server.send(SIGSTOP)
        let works: [@Sendable () async throws -> Void] = [
            { _ = try await tier.get("kf1-a") },
            { try await tier.put(Data(count: 8 << 20), forKey: "kf1-b", expiry: nil) },
        ]
        for work in works {
            let task = Task { try await work() }
            while transport.queueStatus.running == 0 { await Task.yield() }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            while transport.queueStatus.running > 0 { await Task.yield() }
        }
        server.send(SIGCONT)
        #expect(try await tier.get("kf1-a") == Data("value".utf8))
        server.send(SIGKILL)
        await #expect(throws: TransportError.self) { try await tier.get("kf1-a") }
    }
}
