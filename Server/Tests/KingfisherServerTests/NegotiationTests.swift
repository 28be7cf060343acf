// Which formats a client gets.

import Foundation
import KFImageURLs
import Kingfisher
import KingfisherServer
import Testing

@Suite(.timeLimit(.minutes(10))) struct NegotiationTests {
    private static let all = ["KF_AUTO_WEBP": "1", "KF_AUTO_AVIF": "1"]

    static let cases: [(String?, [FileFormat])] = [
        (nil, []), ("", []), ("*/*", []), ("image/*", []), ("image/avif,image/webp,*/*;q=0.8", [.avif, .webp]),
        ("image/webp, image/avif", [.avif, .webp]), ("image/webp;q=1, image/avif;q=0.5", [.webp, .avif]),
        ("image/webp;q=0, image/avif", [.avif]), ("image/webp; q=0.5, image/jpeg", []), ("IMAGE/WEBP", [.webp]),
        ("image/webp;q=0.5,*/*;q=0.8", []), ("image/webp;q=0.8,image/*;q=0.5", [.webp]), ("image/webp;q=x", []),
        ("image/jxl", []), ("text/html,image/webp;v=1;q=0.9,,;", [.webp]), ("image/webpx", []),
    ]

    @Test("Accepted formats by weight, where they are switched on and can be written", arguments: cases)
    func preferred(accept: String?, formats: [FileFormat]) {
        let configuration = ServerConfiguration.read(Self.all).configuration
        #expect(negotiated(ImagePlan(), accept: accept, configuration).preferredFormats == formats)
        let off = negotiated(ImagePlan(), accept: accept, ServerConfiguration())
        #expect(off == RenderingRequest(plan: ImagePlan()))
    }

    @Test("A format in the URL counts, unless another is enforced; raw sources stay as they are")
    func named() {
        var plan = ImagePlan()
        plan.output.format = .png
        let automatic = ServerConfiguration.read(Self.all).configuration
        #expect(negotiated(plan, accept: "image/webp", automatic) == RenderingRequest(plan: plan))
        let enforced = ServerConfiguration.read(["KF_ENFORCE_WEBP": "1"]).configuration
        #expect(negotiated(plan, accept: "*/*", enforced) == RenderingRequest(plan: plan))
        #expect(negotiated(plan, accept: "image/webp", enforced).plan.output.format == .webp)
        plan.output.isRaw = true
        #expect(negotiated(plan, accept: "image/webp", enforced) == RenderingRequest(plan: plan))
    }

    @Test("Clients that accept an enforced format get it whatever the URL names; others do not")
    func enforced() async throws {
        for (settings, type) in [("KF_ENFORCE_WEBP", "image/webp"), ("KF_ENFORCE_AVIF", "image/avif")] {
            let output = ServerConfiguration.read([settings: "1"]).configuration.output
            try await RenderingServer.run({ $0.output = output }) { server in
                for (options, accept, expected) in [
                    ("", type, type), ("@png", type, type), ("@jpg", type, type), ("@png", "*/*", "image/png"),
                    ("", "image/jpeg", "image/jpeg"),
                ] {
                    let path = "/_/w:20/plain/local:///b.jpg" + options
                    let answer = try await server.get(path, ["Accept": accept])
                    #expect(answer.fields["content-type"] == expected)
                }
            }
        }
    }

    @Test("An enforced format that is not for animations leaves them to one that is, unless a still is asked for")
    func enforcedAnimations() async throws {
        let both = "image/avif,image/webp"
        for (settings, accept, ending, type) in [
            (["KF_ENFORCE_AVIF": "1", "KF_AUTO_WEBP": "1"], both, "", "image/webp"),
            (["KF_ENFORCE_AVIF": "1", "KF_ENFORCE_WEBP": "1"], both, "@gif", "image/webp"),
            (["KF_ENFORCE_AVIF": "1", "KF_AUTO_WEBP": "1"], both, "@gif", "image/gif"),
            (["KF_ENFORCE_AVIF": "1"], "image/avif", "", "image/gif"),
            (["KF_ENFORCE_AVIF": "1"], "image/avif", "@jpg", "image/avif"),
        ] {
            let output = ServerConfiguration.read(settings).configuration.output
            try await RenderingServer.run({ $0.output = output }) { server in
                let answer = try await server.get("/_/w:20/plain/local:///c.gif" + ending, ["Accept": accept])
                #expect(answer.fields["content-type"] == type, "\(settings) \(ending)")
                let frames = try ImageInfo(data: Data(answer.body)).frameCount
                #expect(frames == (ending == "@jpg" ? 1 : 3), "\(settings) \(ending)")
                let still = try await server.get("/_/w:20/plain/local:///a.png" + ending, ["Accept": accept])
                #expect(still.fields["content-type"] == "image/avif", "\(settings) \(ending)")
            }
        }
    }

    @Test("Answers vary by Accept where that counts, and the renderer is told what the client prefers")
    func answers() async throws {
        try await RunningServer.with(["KF_AUTO_WEBP": "1"]) { server in
            let answer = try await server.get("/_/plain/https://e.com/a", ["Accept": "image/webp"])
            #expect(answer.fields["vary"] == "Accept")
            #expect(server.renderer.preferences == [[.webp]])
        }
    }
}
