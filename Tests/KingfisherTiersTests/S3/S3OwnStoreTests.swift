// An S3Tier on any store, by hand: `KF_S3_ENDPOINT=https://…` and `KF_S3_BUCKET=…`, and credentials as AWS' tools have
// them.

import Foundation
import KFTransport
import KingfisherTiers
import Testing

private let variables = ProcessInfo.processInfo.environment
private let endpoint = variables["KF_S3_ENDPOINT"].flatMap { URL(string: $0) }

@Suite(.tags(.engines), .timeLimit(.minutes(5)), .enabled(if: endpoint != nil, "KF_S3_ENDPOINT is not set"))
struct S3OwnStoreTests {
    private static let value = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })

    private func tier(
        bucket: String = variables["KF_S3_BUCKET"] ?? "images",
        prefix: String = "kingfisher-test",
        _ source: S3CredentialSource = .automatic,
        offset: TimeInterval = 0
    ) throws -> S3Tier {
        let region = variables["AWS_REGION"] ?? "us-east-1"
        let place = S3Tier.Configuration(bucket: bucket, region: region, endpoint: endpoint, prefix: prefix)
        return try S3Tier(place, credentials: source, transport: CurlTransport(), clock: { Date() + offset })
    }

    @Test(
        "A value is stored, found, listed and removed",
        arguments: ["", "kingfisher-test", "kingfisher-test (1)/ü b/日本", "kingfisher-test$/a+b=c,d;e:f@g&h'!*"]
    ) func roundTrip(prefix: String) async throws {
        let tier = try tier(prefix: prefix)
        let key = "kf1-\(UUID().uuidString.lowercased())"
        #expect(try await tier.get(key) == nil)
        #expect(try await tier.contains(key) == false)
        for value in [Data("value".utf8), Data(), Self.value] {
            try await tier.put(value, forKey: key, expiry: .seconds(600))
            #expect(try await tier.get(key) == value)
            #expect(try await tier.contains(key))
        }
        #expect(try await tier.keys(beginningWith: key) == [key])
        #expect(try await tier.keys(beginningWith: key, after: key).isEmpty)
        try await tier.remove(key)
        try await tier.remove(key)
        #expect(try await tier.get(key) == nil)
    }

    @Test(
        "A clock that is off does no harm, nor does it take values for expired",
        arguments: [-1_800.0, -600, 600, 1_800]
    )
    func clockOff(offset: TimeInterval) async throws {
        let (off, right) = (try tier(offset: offset), try tier())
        let key = "kf1-clock\(Int(offset))"
        _ = try await off.get(key)
        try await off.put(Self.value, forKey: key, expiry: .seconds(1_000))
        #expect(try await off.get(key) == Self.value)
        #expect(try await right.get(key) == Self.value)
        try await right.remove(key)
    }

    @Test("A wrong secret, a key that is not known and a missing bucket are errors that say so") func refused()
        async throws
    {
        for id in [variables["AWS_ACCESS_KEY_ID"] ?? "", "UNKNOWN"] {
            let wrong = try tier(.fixed(S3Credentials(accessKeyID: id, secretAccessKey: "wrong")))
            let error = await #expect(throws: S3Error.self) { try await wrong.get("kf1-a") }
            let codes = ["SignatureDoesNotMatch", "InvalidAccessKeyId"]
            #expect(codes.contains(error?.code ?? ""), "\(String(describing: error))")
            await #expect(throws: S3Error.self) { try await wrong.put(Self.value, forKey: "kf1-a", expiry: nil) }
        }
        let absent = try tier(bucket: "kingfisher-absent-\(UUID().uuidString.lowercased().prefix(8))")
        let error = await #expect(throws: S3Error.self) { try await absent.get("kf1-a") }
        #expect(error?.code == "NoSuchBucket", "\(String(describing: error))")
    }
}
