// URLs that nothing can be loaded from, redirects to such, and the errors that say what is wrong with them.

import Foundation
import KFTransport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite(.timeLimit(.minutes(5))) struct URLRefusalTests {
    @Test("An error says if a URL is none to load from, and no other error does") func kinds() async throws {
        try await Rig.run { rig in
            rig.server.route("/broken", .data(Data("no image".utf8)))
            func refusal(of url: URL) async -> URLRefusal? {
                await failure { try await rig.manager.retrieveEncoded(with: url) }?.urlRefusal
            }
            for text in ["ftp://host/a.png", "gopher://host", "http:///nowhere", "//host/a.png"] {
                let url = try #require(URL(string: text))
                #expect(await refusal(of: url) == .unsupported, "\(text)")
            }
            let data = try #require(URL(string: "data:image/png;base64,&&&"))
            #expect(await refusal(of: data) == .malformedData)
            for path in ["/missing", "/broken"] { #expect(await refusal(of: rig.server.url(path)) == nil, "\(path)") }
            rig.manager.allowsFileURLs = false
            #expect(await refusal(of: URL(fileURLWithPath: "/etc/hosts")) == .file)
            rig.manager.downloader.addressPolicy = .publicOnly
            #expect(await refusal(of: rig.server.url("/broken")) == .address)
        }
    }

    @Test(
        "A URL that the HTTP client does not accept is an error, not a trap",
        arguments: [
            "http://127.0.0.1:99999/a", "http://[::1]:70000/a", "http://127.0.0.1:0/a", "unix:///tmp/socket",
            "ftp://a/b",
            "http+unix://%2Ftmp%2Fsocket/a",
        ]
    )
    func impossibleURLs(_ text: String) async throws {
        let url = try #require(URL(string: text))
        let downloader = ImageDownloader(name: "test")
        let error = try #require(await Caller.load(url, with: downloader).error)
        #expect(error.urlError?.code == .unsupportedURL)
    }

    @Test(
        "A redirect to a scheme other than HTTP and HTTPS is an error",
        arguments: [
            "http://127.0.0.1:65536/a", "http+unix://%2Ftmp%2Fsocket/a", "unix:///tmp/socket", "file:///etc/passwd",
            "ftp://127.0.0.1/a",
        ]
    )
    func redirectScheme(_ location: String) async throws {
        try await withDownloader { server, downloader in
            server.route("/a", .redirect(to: location))
            let error = await Caller.load(server.url("/a"), with: downloader).error
            #expect(error != nil)
        }
    }
}
