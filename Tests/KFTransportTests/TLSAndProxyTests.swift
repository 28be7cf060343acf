// Untrusted certificates, and proxies that work, refuse or are missing.

import Foundation
import FoundationNetworking
import KFSupport
import KFTransport
import KingfisherTestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct CertificateFaultTests {
    @Test(
        "The error for an untrusted certificate has the reason",
        arguments: [
            (TestCertificate.selfSigned, URLError.Code.serverCertificateUntrusted, "is self-signed."),
            (.expired, .serverCertificateHasBadDate, "has expired."),
            (.otherHost, .serverCertificateUntrusted, "is for another host."),
        ]
    )
    func distrusted(certificate: TestCertificate, code: URLError.Code, words: String) async throws {
        try await withServer(certificate) { server in
            server.route("/a", .data(hundredKilobytes))
            try await withTrustingTransport { transport in
                let (recorder, error) = await load(server.url("/a"), with: transport)
                #expect(error?.code == code)
                #expect(error?.message == "The certificate of localhost:\(server.port) \(words)")
                #expect(recorder.log.response == nil)
                #expect(server.requests.isEmpty)
            }
        }
    }

    @Test("The error for a certificate of an unknown issuer says so") func unknownIssuer() async throws {
        try await withServer(.issued) { server in
            let error = await load(server.url("/a"), with: CurlTransport()).error
            #expect(error?.code == .serverCertificateUntrusted)
            #expect(
                error?.message == "The certificate of localhost:\(server.port) is from an issuer that is not trusted."
            )
        }
    }

    @Test(
        "A file of certificates is trusted, for both names of the certificate",
        arguments: ["localhost", "127.0.0.1"]
    )
    func trustedFile(host: String) async throws {
        try await withServer(.issued) { server in
            server.route("/a", .data(hundredKilobytes))
            let url = try #require(URL(string: "https://\(host):\(server.port)/a"))
            try await withTrustingTransport { transport in
                let (recorder, error) = await load(url, with: transport)
                #expect(error == nil)
                #expect(recorder.received(hundredKilobytes))
            }
        }
    }

    @Test("A missing file of certificates is named as the cause") func missingFile() async throws {
        try await withServer(.issued) { server in
            var configuration = CurlTransport.Configuration()
            configuration.certificateFile = "/nowhere/authority.pem"
            let error = await load(server.url("/a"), with: CurlTransport(configuration: configuration)).error
            #expect(error?.code == .secureConnectionFailed)
            #expect(error?.message.contains("The file of trusted certificates cannot be read") == true)
            #expect(error?.message.contains("/nowhere/authority.pem") == true, "\(error?.message ?? "success")")
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct ProxyTests {
    private func transport(proxy: String) -> CurlTransport {
        var configuration = CurlTransport.Configuration()
        configuration.proxy = proxy
        return CurlTransport(configuration: configuration)
    }

    private func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

    @Test("A request to a proxy has the whole URL without its fragment") func plain() async throws {
        try await withServer { proxy in
            proxy.route("http://pictures.test/a", .data(hundredKilobytes))
            let transport = transport(proxy: "http://127.0.0.1:\(proxy.port)")
            let (recorder, error) = await load(try url("http://pictures.test/a?b=1#c"), with: transport)
            #expect(error == nil)
            #expect(recorder.received(hundredKilobytes))
            #expect(proxy.requests.map(\.uri) == ["http://pictures.test/a?b=1"])
            #expect(proxy.requests.first?.header("Host") == "pictures.test")
        }
    }

    @Test("A proxy that requires a password gets it") func password() async throws {
        try await withServer { proxy in
            proxy.route("http://pictures.test/a") { request in
                guard request.header("Proxy-Authorization") == "Basic dXNlcjpzZWNyZXQ=" else {
                    return TestResponse.status(407).with { $0.headers["Proxy-Authenticate"] = "Basic realm=\"proxy\"" }
                }
                return .data(hundredKilobytes)
            }
            let known = transport(proxy: "http://user:secret@127.0.0.1:\(proxy.port)")
            let (recorder, error) = await load(try url("http://pictures.test/a"), with: known)
            #expect(error == nil)
            #expect(recorder.http?.statusCode == 200)
            #expect(recorder.received(hundredKilobytes))
            let unknown = transport(proxy: "http://user:wrong@127.0.0.1:\(proxy.port)")
            #expect(await load(try url("http://pictures.test/a"), with: unknown).recorder.http?.statusCode == 407)
        }
    }

    @Test("With an empty proxy none is used") func none() async throws {
        try await withServer { server in
            server.route("/a", .data(hundredKilobytes))
            let (_, error) = await load(server.url("/a"), with: transport(proxy: ""))
            #expect(error == nil)
            #expect(server.requests.map(\.uri) == ["/a"])
        }
    }

    @Test("The error for a proxy that refuses to connect has its status") func refusesTunnel() async throws {
        try await withServer { proxy in
            proxy.route("pictures.test:443", .status(403))
            let transport = transport(proxy: "http://127.0.0.1:\(proxy.port)")
            let (recorder, error) = await load(try url("https://pictures.test/a"), with: transport)
            #expect(error?.code == .cannotConnectToHost)
            #expect(error?.message == "The proxy before pictures.test refused the connection (status 403).")
            #expect(recorder.log.response == nil)
            #expect(proxy.requests.map(\.method) == ["CONNECT"])
        }
    }

    @Test("A proxy is refused if the policy cannot check the addresses behind it") func refusedByPolicy() async throws {
        try await withServer { proxy in
            let transport = transport(proxy: "http://127.0.0.1:\(proxy.port)")
            var policy = TransportPolicy.patient
            policy.addressPolicy = AddressPolicy(refusing: .unspecified)
            let error = await load(try url("http://pictures.test/a"), with: transport, policy: policy).error
            #expect(error?.code == .resourceUnavailable)
            #expect(error?.message.contains("There is a proxy before pictures.test") == true)
            #expect(proxy.connectionCount == 0)
        }
    }

    @Test("A transfer whose policy allows proxies goes through one") func allowedByPolicy() async throws {
        try await withServer { proxy in
            proxy.route("http://pictures.test/a", .data(hundredKilobytes))
            let transport = transport(proxy: "http://127.0.0.1:\(proxy.port)")
            var policy = TransportPolicy.patient
            // The address of the proxy itself may be one that the policy refuses to targets.
            policy.addressPolicy = AddressPolicy(refusing: AddressPolicy.publicOnly.refused, allowsProxies: true)
            let error = await load(try url("http://pictures.test/a"), with: transport, policy: policy).error
            #expect(error == nil)
        }
    }

    @Test("The error for a proxy that is not there names the proxy") func missing() async throws {
        let port = try RefusingPort()
        let transport = transport(proxy: "http://127.0.0.1:\(port.number)")
        let error = await load(try url("http://pictures.test/a"), with: transport).error
        #expect(error?.code == .cannotConnectToHost)
        #expect(error?.message.contains("proxy") == true, "\(error?.message ?? "success")")
        withExtendedLifetime(port) {}
    }

    @Test("The error for a proxy whose name cannot be resolved names the proxy") func unresolved() async throws {
        let error = await load(try url("http://pictures.test/a"), with: transport(proxy: "http://nowhere.invalid:1"))
            .error
        #expect(error?.code == .cannotFindHost)
        #expect(error?.message == "The proxy before pictures.test could not be found.")
    }
}
