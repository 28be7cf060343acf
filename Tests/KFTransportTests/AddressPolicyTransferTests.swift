// Address policies on transfers: refused transfers never connect, not even by redirects or through kept connections.

import Foundation
import FoundationNetworking
import KFSupport
import KFTransport
import KingfisherTestSupport
import Testing

extension TransportPolicy {
    fileprivate static func refusing(_ kinds: AddressPolicy.AddressClass) -> TransportPolicy {
        var policy = TransportPolicy.patient
        policy.addressPolicy = AddressPolicy(refusing: kinds)
        return policy
    }
}

@Suite(.timeLimit(.minutes(5))) struct AddressPolicyTransferTests {
    private let publicOnly: TransportPolicy = {
        var policy = TransportPolicy.patient
        policy.addressPolicy = .publicOnly
        return policy
    }()

    @Test(
        "The loopback host is refused under each of its names, before anything connects",
        arguments: [
            "127.0.0.1", "localhost", "LocalHost", "127.1.2.3", "2130706433", "0x7f.1", "[::1]", "[::ffff:127.0.0.1]",
        ]
    )
    func thisMachine(host: String) async throws {
        try await withServer { server in
            let url = try #require(URL(string: "http://\(host):\(server.port)/a"))
            let (recorder, error) = await load(url, with: CurlTransport(), policy: publicOnly)
            #expect(error?.code == .resourceUnavailable)
            #expect(
                error?.message.contains("is at a loopback address, where") == true,
                "\(error?.message ?? "success")"
            )
            #expect(recorder.log.response == nil)
            #expect(server.connectionCount == 0)
        }
    }

    @Test(
        "The same names lead to the server without a policy",
        arguments: ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]"]
    )
    func withoutPolicy(host: String) async throws {
        try await withServer { server in
            server.route("/a", .data(hundredKilobytes))
            let url = try #require(URL(string: "http://\(host):\(server.port)/a"))
            let error = await load(url, with: CurlTransport()).error
            #expect(error == nil)
        }
    }

    @Test(
        "The unspecified address is refused, in IPv4 and inside IPv6",
        arguments: ["0.0.0.0", "[::ffff:0.0.0.0]"]
    )
    func unspecified(host: String) async throws {
        try await withServer { server in
            let url = try #require(URL(string: "http://\(host):\(server.port)/a"))
            let error = await load(url, with: CurlTransport(), policy: publicOnly).error
            #expect(error?.code == .resourceUnavailable)
            #expect(error?.message.contains("the unspecified address") == true, "\(error?.message ?? "success")")
            #expect(server.connectionCount == 0)
        }
    }

    @Test("A policy that refuses other kinds lets a transfer pass") func otherKinds() async throws {
        try await withServer { server in
            server.route("/a", .data(hundredKilobytes))
            let policy = TransportPolicy.refusing([.private, .unspecified])
            let (recorder, error) = await load(server.url("/a"), with: CurlTransport(), policy: policy)
            #expect(error == nil)
            #expect(recorder.received(hundredKilobytes))
        }
    }

    @Test("A redirect from an allowed address to a refused one ends there") func redirect() async throws {
        try await withServer { server in
            let target = "http://0.0.0.0:\(server.port)/b"
            server.route("/a", .redirect(to: target))
            server.route("/b", .data(hundredKilobytes))
            let transport = CurlTransport()
            let policy = TransportPolicy.refusing(.unspecified)
            let (recorder, error) = await load(server.url("/a"), with: transport, policy: policy)
            #expect(error?.code == .resourceUnavailable)
            #expect(error?.message.contains("0.0.0.0 is at the unspecified address") == true)
            #expect(error?.url?.absoluteString == target)
            #expect(recorder.log.hops.count == 1)
            #expect(server.count("/a") == 1 && server.count("/b") == 0)
            // Without the policy the redirect leads to the server.
            #expect(await load(server.url("/a"), with: transport).error == nil)
            #expect(server.count("/b") == 1)
        }
    }

    @Test("A kept connection is not used by a transfer whose policy refuses its address")
    func keptConnection()
        async throws
    {
        try await withServer { server in
            server.route("/a", .data(hundredKilobytes))
            let transport = CurlTransport()
            #expect(await load(server.url("/a"), with: transport).error == nil)
            for _ in 0..<3 {
                let (recorder, error) = await load(server.url("/a"), with: transport, policy: publicOnly)
                #expect(error?.code == .resourceUnavailable)
                #expect(error?.message.contains("a loopback address") == true)
                #expect(recorder.log.response == nil)
            }
            #expect(server.count("/a") == 1)
            #expect(server.connectionCount == 1)
            // And the other way around.
            #expect(await load(server.url("/a"), with: transport).error == nil)
            #expect(server.count("/a") == 2)
        }
    }

    @Test("Transfers with and without a policy do not affect each other") func sideBySide() async throws {
        try await withServer { server in
            server.route("/a", .data(hundredKilobytes))
            let (transport, url, publicOnly) = (CurlTransport(), server.url("/a"), publicOnly)
            let codes = await withTaskGroup(of: (Int, URLError.Code?).self) { group in
                for index in 0..<60 {
                    let policy = index % 2 == 0 ? TransportPolicy.patient : publicOnly
                    group.addTask { (index % 2, await load(url, with: transport, policy: policy).error?.code) }
                }
                return await group.reduce(into: [[], []]) { $0[$1.0].append($1.1) }
            }
            #expect(codes[0] == Array(repeating: nil, count: 30))
            #expect(codes[1] == Array(repeating: .resourceUnavailable, count: 30))
            #expect(server.count("/a") == 30)
        }
    }
}
