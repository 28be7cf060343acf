// An S3Tier and what it keeps on a store that exists, moto: values, their expiry, and lists.

import Foundation
import KFTransport
import KingfisherTiers
import Testing

@Suite(
    .tags(.engines),
    .timeLimit(.minutes(5)),
    .enabled(if: MotoServer.isInstalled, "moto is not installed"),
    .moto(checking: .nothing)
)
struct S3StorageTests {
    private func server() throws -> MotoServer { try #require(MotoServer.current) }

    @Test(
        "A value is stored, found, replaced, listed and removed",
        arguments: ["kingfisher", "", "images/ü b/日本", "a+b=c,d;e:f@g", "~a.b_c-d"]
    ) func roundTrip(prefix: String) async throws {
        let tier = try server().tier(prefix: prefix)
        let key = "kf1-\(UUID().uuidString.lowercased())"
        let (small, large) = (Data("value".utf8), Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }))
        #expect(try await tier.get(key) == nil)
        #expect(try await tier.contains(key) == false)
        for (value, expiry) in [(small, nil), (large, Duration.seconds(600)), (Data(), .seconds(600))] {
            try await tier.put(value, forKey: key, expiry: expiry)
            #expect(try await tier.get(key) == value)
            #expect(try await tier.contains(key))
        }
        #expect(try await tier.keys(beginningWith: key) == [key])
        try await tier.remove(key)
        try await tier.remove(key)
        #expect(try await tier.get(key) == nil)
        #expect(try await tier.keys(beginningWith: key).isEmpty)
    }

    @Test("A value is replaced only if it is the expected one") func replacing() async throws {
        let tier = try server().tier(prefix: "replacing")
        #expect(try await replacements(in: tier, "kf1-d") == [false, true, false, true, false])
        #expect(try await winners(in: tier, "kf1-d") == 1)
    }

    @Test("A value that has expired is a miss, and is replaced by the next one") func expired() async throws {
        let server = try server()
        let place = server.place()
        let (transport, source) = (CurlTransport(), S3CredentialSource.fixed(server.user))
        let past = try S3Tier(place, credentials: source, transport: transport, clock: { Date() - 90 })
        let tier = try S3Tier(place, credentials: source, transport: transport)
        try await past.put(Data("old".utf8), forKey: "kf1-expired", expiry: .seconds(60))
        #expect(try await past.get("kf1-expired") == Data("old".utf8))
        #expect(try await tier.get("kf1-expired") == nil)
        #expect(try await tier.contains("kf1-expired") == false)
        try await tier.put(Data("new".utf8), forKey: "kf1-expired", expiry: .seconds(60))
        #expect(try await tier.get("kf1-expired") == Data("new".utf8))
    }

    @Test("Keys come a page after the other, in order") func pages() async throws {
        let tier = try server().tier(prefix: "pages")
        let expected = (0..<1_005).map { "kf1-" + String(10_000 + $0) }
        try await withThrowingTaskGroup { group in
            for part in 0..<8 {
                group.addTask {
                    for key in stride(from: part, to: expected.count, by: 8).map({ expected[$0] }) {
                        try await tier.put(Data("v".utf8), forKey: key, expiry: nil)
                    }
                }
            }
            try await group.waitForAll()
        }
        var (found, page) = ([String](), try await tier.keys())
        #expect(page.count == 1_000)
        while !page.isEmpty {
            found += page
            page = try await tier.keys(after: page.last)
        }
        #expect(found == expected)
    }
}
