// Certificates and proxies of `kf fetch`: accepted, refused, broken.

import Foundation
import KingfisherTestSupport
import Testing

@testable import kf

@Suite(.tags(.processes)) struct TrustTests {
    let place = TestDirectory()

    private func fetch(
        _ url: String,
        _ arguments: [String] = [],
        variables: [String: String] = [:]
    ) async throws -> KFResult {
        let options = ["--timeout", "240", "--cache-dir", "cache", "-o", "out.png"]
        return try await place.kf(["fetch", url] + options + arguments, variables: variables)
    }

    /// Expects one line with these words, no secret, and nothing in the cache.
    private func expectFailure(_ result: KFResult, _ words: String) {
        #expect(result.status == 1)
        #expect(result.errorLines.count == 1, "\(result.errors)")
        #expect(result.errors.contains(words), "\(result.errors)")
        #expect(!result.errors.contains("s3cret"), "\(result.errors)")
        #expect(place.files("cache") == [])
    }

    /// Runs a test with a server that has an image.
    private func withImage(
        _ certificate: TestCertificate? = nil,
        _ body: (TestServer) async throws -> Void
    ) async throws {
        try await withServer(certificate) { server in
            server.route("/a.png", .data(try SampleImages.png()))
            try await body(server)
        }
    }

    // MARK: Certificates

    @Test(
        "The error says what is wrong with a certificate, also if its issuer is trusted",
        arguments: [
            (.selfSigned, "is self-signed; if you trust that, --cacert FILE trusts"),
            (.expired, "has expired; the server needs a new one"),
            (.otherHost, "is for another host; check the name"),
            (.unknownIssuer, "is from an issuer that is not trusted; if you trust that, --cacert FILE trusts"),
        ] as [(TestCertificate, String)]
    )
    func badCertificates(certificate: TestCertificate, words: String) async throws {
        let authority = try place.write(Data(TestCertificate.authorityPEM.utf8), "authority.pem")
        try await withImage(certificate) { server in
            let result = try await fetch(server.url("/a.png").absoluteString, ["--cacert", authority])
            expectFailure(result, "The certificate of localhost:\(server.port) \(words)")
            #expect(server.requests.isEmpty)
        }
    }

    @Test("Only an issuer that --cacert or SSL_CERT_FILE names is trusted")
    func trustedIssuer() async throws {
        let authority = try place.write(Data(TestCertificate.authorityPEM.utf8), "authority.pem")
        try await withImage(.issued) { server in
            let url = server.url("/a.png").absoluteString
            expectFailure(try await fetch(url), "is from an issuer that is not trusted")
            let named = try await fetch(url, ["--cacert", authority])
            #expect(named.status == 0, "\(named.errors)")
            #expect(try place.data("out.png") == SampleImages.png())
            let found = try await fetch(url, ["--refresh"], variables: ["SSL_CERT_FILE": authority])
            #expect(found.status == 0, "\(found.errors)")
        }
    }

    @Test("The error for an unreadable file of certificates has its path, also if SSL_CERT_FILE names it")
    func unreadableEnvironmentFile() async throws {
        try await withImage(.issued) { server in
            let url = server.url("/a.png").absoluteString
            let result = try await fetch(url, variables: ["SSL_CERT_FILE": place.path("missing.pem")])
            expectFailure(result, "The file of trusted certificates cannot be read")
            #expect(result.errors.contains("missing.pem"), "\(result.errors)")
        }
    }

    // MARK: Proxies

    @Test("Requests go through the proxy of the option or of the environment")
    func workingProxy() async throws {
        try await withImage { server in
            let url = "http://images.invalid/a.png"
            server.route(url, .data(try SampleImages.png()))
            let proxy = "http://someone:s3cret@127.0.0.1:\(server.port)"
            for (arguments, variables) in [
                (["--proxy", proxy], [:]),
                (["--proxy", "127.0.0.1:\(server.port)"], ["http_proxy": "http://127.0.0.1:1"]),
                ([], ["http_proxy": proxy]), ([], ["all_proxy": proxy]),
            ] as [([String], [String: String])] {
                let result = try await fetch(url, ["--refresh"] + arguments, variables: variables)
                #expect(result.status == 0, "\(result.errors)")
                #expect(!(result.output + result.errors).contains("s3cret"))
            }
            #expect(server.requests.map(\.uri) == [url, url, url, url])
        }
    }

    @Test("No proxy is used if no_proxy excludes the host or --proxy is empty")
    func noProxy() async throws {
        let port = try RefusingPort()
        try await withImage { server in
            let url = server.url("/a.png").absoluteString
            let proxy = ["http_proxy": "http://127.0.0.1:\(port.number)"]
            expectFailure(try await fetch(url, variables: proxy), "refused the connection")
            let empty = try await fetch(url, ["--proxy", ""], variables: proxy)
            #expect(empty.status == 0, "\(empty.errors)")
            let excepted = try await fetch(
                url,
                ["--refresh"],
                variables: proxy.merging(["no_proxy": "127.0.0.1"]) { $1 }
            )
            #expect(excepted.status == 0, "\(excepted.errors)")
        }
    }

    @Test("The error for a proxy that refuses the connection names it") func closedProxy() async throws {
        let port = try RefusingPort()
        let result = try await fetch(
            "http://images.invalid/a.png",
            ["--proxy", "http://someone:s3cret@127.0.0.1:\(port.number)"]
        )
        let words = "The proxy 127.0.0.1:\(port.number) before images.invalid refused the connection; check --proxy"
        expectFailure(result, words)
    }

    @Test("The error for a proxy that refuses the tunnel has its name and status", arguments: [403, 407])
    func refusedTunnel(status: Int) async throws {
        try await withImage { server in
            server.route("images.invalid:443", .status(status))
            let proxy = "http://someone:s3cret@127.0.0.1:\(server.port)"
            let result = try await fetch("https://images.invalid/a.png", ["--proxy", proxy])
            expectFailure(result, "The proxy before images.invalid ")
            #expect(result.errors.contains("(status \(status)); check --proxy"), "\(result.errors)")
        }
    }

    @Test("The error for a proxy whose name cannot be resolved is about the proxy") func unknownProxy() async throws {
        let result = try await fetch(
            "http://images.invalid/a.png",
            ["--proxy", "http://me:s3cret@nowhere.invalid:8080"]
        )
        expectFailure(result, "The proxy before images.invalid could not be found; check --proxy")
    }
}
