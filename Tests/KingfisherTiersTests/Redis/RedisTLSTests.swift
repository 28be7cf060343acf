// A real Redis that speaks TLS. For RedisSocket.

import Foundation
import Glibc
import KingfisherTestSupport
import KingfisherTiers
import Testing

@Suite(.tags(.engines), .timeLimit(.minutes(5)), .enabled(if: RedisServer.isInstalled, "redis-server is not installed"))
struct RedisTLSTests {
    /// A server with a certificate, and the paths of the authority's and of the certificate's files.
    private static func run(
        _ certificate: TestCertificate,
        asksClients: Bool = false,
        body: (RedisServer, _ folder: String) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "redis-tls-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for (name, text) in [
            ("ca", TestCertificate.authorityPEM), ("cert", certificate.pem), ("key", TestCertificate.keyPEM),
        ] {
            try text.write(to: folder.appending(path: "\(name).pem"), atomically: true, encoding: .utf8)
        }
        let arguments = [
            "--port", "0", "--tls-port", "PORT", "--tls-ca-cert-file", "\(folder.path)/ca.pem",
            "--tls-cert-file", "\(folder.path)/cert.pem", "--tls-key-file", "\(folder.path)/key.pem",
            "--tls-auth-clients", asksClients ? "yes" : "no", "--requirepass", "secret",
        ]
        try await RedisServer.run(count: 1, arguments) { try await body($0[0], folder.path) }
    }

    @Test("With the authority's file a TLS server is trusted; values of all sizes come back, and errors as well")
    func trusted() async throws {
        try await Self.run(.issued) { server, folder in
            let tier = try RedisTier.patient("rediss://:secret@127.0.0.1:\(server.port)?cacert=\(folder)/ca.pem")
            try await withThrowingTaskGroup { group in
                for key in 0..<40 {
                    group.addTask {
                        let value = RedisTierTests.value(key, size: key * 26_000)
                        try await tier.put(value, forKey: "\(key)", expiry: .seconds(100))
                        #expect(try await tier.get("\(key)") == value)
                    }
                }
                try await group.waitForAll()
            }
            await server.kill()
            #expect(await tier.failureOfGet() != nil)
            try await server.start()
            try await tier.isReady()
        }
    }

    @Test("What cannot be sent at once over TLS is sent later, whole") func stopped() async throws {
        try await Self.run(.issued) { server, folder in
            let tier = try RedisTier.patient("valkeys://:secret@localhost:\(server.port)?cacert=\(folder)/ca.pem")
            try await tier.isReady()
            await server.signal(SIGSTOP)
            let puts = (0..<20).map { key in
                Task {
                    try await tier.put(RedisTierTests.value(key, size: 1 << 20), forKey: "\(key)", expiry: nil)
                }
            }
            puts[3].cancel()
            await #expect(throws: CancellationError.self) { try await puts[3].value }
            await server.signal(SIGCONT)
            for (key, put) in puts.enumerated() where key != 3 {
                try await put.value
                #expect(try await tier.get("\(key)") == RedisTierTests.value(key, size: 1 << 20))
            }
        }
    }

    @Test(
        "A certificate of an unknown authority, of another host or of the past is not trusted",
        arguments: [
            TestCertificate.unknownIssuer, .otherHost, .expired, .selfSigned,
        ]
    )
    func distrusted(_ certificate: TestCertificate) async throws {
        try await Self.run(certificate) { server, folder in
            let tier = try RedisTier.patient("rediss://:secret@localhost:\(server.port)?cacert=\(folder)/ca.pem")
            let error = await tier.failureOfGet()
            #expect(error?.cause == .notConnected)
            #expect(error?.message.contains("certificate") == true, "\(error as Any)")
        }
    }

    @Test("Without the authority's file the system's authorities count, and a file that is missing is an error")
    func noAuthority() async throws {
        try await Self.run(.issued) { server, folder in
            let place = "localhost:\(server.port)"
            for url in ["rediss://:secret@\(place)", "rediss://:secret@\(place)?cacert=\(folder)/missing.pem"] {
                let tier = try RedisTier(url)
                #expect(await tier.failureOfGet()?.cause == .notConnected)
            }
            let plain = try RedisTier("redis://:secret@\(place)")
            #expect(await plain.failureOfGet()?.cause == .notConnected)
        }
    }

    @Test("A server that asks for a certificate gets the one of the URL") func ownCertificate() async throws {
        try await Self.run(.issued, asksClients: true) { server, folder in
            let url = "rediss://:secret@localhost:\(server.port)?cacert=\(folder)/ca.pem"
            let stranger = try RedisTier(url)
            #expect(await stranger.failureOfGet()?.cause == .notConnected)
            let tier = try RedisTier.patient("\(url)&cert=\(folder)/cert.pem&key=\(folder)/key.pem")
            #expect(try await tier.get("a") == nil)
        }
    }

    @Test("SSL_CERT_FILE names the authorities, as for downloads") func environment() async throws {
        await #expect(processExitsWith: .success) {
            try await Self.run(.issued) { server, folder in
                setenv("SSL_CERT_FILE", "\(folder)/ca.pem", 1)
                let tier = try RedisTier.patient("rediss://:secret@localhost:\(server.port)")
                try #require(try await tier.get("a") == nil)
            }
        }
    }
}
