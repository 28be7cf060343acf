// Errors that say what is wrong with a URL.

import Foundation
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
}
