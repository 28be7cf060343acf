// What answers have: status codes, fields, bodies.

import Foundation
import KFImageURLs
import Kingfisher
import KingfisherServer
import Testing

private let path = "/_/rs:fill:3:2/plain/https://example.com/a/cat.jpg"

@Suite(.timeLimit(.minutes(10))) struct AnswerTests {
    @Test("A result is sent with all fields, and the plan is that of the raw path")
    func result() async throws {
        try await RunningServer.with(["KF_ALLOW_ORIGIN": "https://example.org"]) { server in
            let answer = try await server.get(path + "@png?ignored")
            let image = server.renderer.image
            #expect(answer.status == 200)
            #expect(answer.body == Array(image.image.data))
            #expect(answer.fields["content-type"] == "image/png")
            #expect(answer.fields["content-length"] == "\(image.image.data.count)")
            #expect(answer.fields["etag"] == image.entityTag)
            #expect(answer.fields["cache-control"] == "max-age=31536000, public")
            #expect(answer.fields["content-disposition"] == "inline; filename=\"cat.png\"")
            #expect(answer.fields["access-control-allow-origin"] == "https://example.org")
            #expect(answer.fields["x-content-type-options"] == "nosniff")
            #expect(answer.fields["x-request-id"]?.isEmpty == false)
            #expect(answer.fields["vary"] == nil)
            #expect(answer.fields["content-security-policy"]?.contains("sandbox") == true)
            let plan = try #require(server.renderer.plans.first)
            #expect(plan.source == "https://example.com/a/cat.jpg")
            #expect(plan.resizing.width == 3 && plan.output.format == .png)
        }
    }

    @Test("HEAD has the fields of GET and no body; other methods are refused")
    func methods() async throws {
        try await RunningServer.with { server in
            let get = try await server.get(path)
            let head = try await server.get(path, method: "HEAD")
            var (one, other) = (get.fields, head.fields)
            for name in ["date", "x-request-id"] { (one[name], other[name]) = (nil, nil) }
            #expect(head.status == 200 && one == other)
            for method in ["POST", "PUT", "DELETE"] {
                let answer = try await server.get(path, ["Content-Length": "0"], method: method)
                #expect(answer.status == 405 && answer.fields["allow"] == "GET, HEAD, OPTIONS")
                #expect(answer.fields["content-security-policy"]?.contains("sandbox") == true)
            }
            #expect(try await server.get("/health").text == "imgproxy is running\nDecoders: in this process\n")
            #expect(try await server.get("/health", method: "HEAD").status == 200)
        }
    }

    @Test("OPTIONS says what scripts of other sites may send, where they may at all") func options() async throws {
        for origin in ["https://example.org", nil] {
            try await RunningServer.with(origin.map { ["KF_ALLOW_ORIGIN": $0] } ?? [:]) { server in
                let answer = try await server.get(path, ["Access-Control-Request-Headers": "x-a"], method: "OPTIONS")
                #expect(answer.status == 200 && answer.fields["allow"] == "GET, HEAD, OPTIONS")
                #expect(answer.fields["access-control-allow-origin"] == origin)
                #expect(answer.fields["access-control-allow-methods"] == origin.map { _ in "GET, HEAD, OPTIONS" })
                #expect(answer.fields["access-control-allow-headers"] == origin.map { _ in "*" })
                #expect(server.renderer.plans.isEmpty)
            }
        }
    }

    @Test(
        "A client that has the result gets 304 without a body, with the fields that caches need",
        arguments: ["\"made-up\"", "W/\"made-up\"", "\"other\", \"made-up\"", "*"]
    )
    func notModified(field: String) async throws {
        try await RunningServer.with(["KF_AUTO_WEBP": "1"]) { server in
            let answer = try await server.get(path, ["If-None-Match": field])
            #expect(answer.status == 304)
            #expect(answer.fields["etag"] == "\"made-up\"" && answer.fields["vary"] == "Accept")
            #expect(answer.fields["cache-control"] != nil && answer.fields["content-type"] == nil)
            #expect(try await server.get(path, ["If-None-Match": "\"other\""]).status == 200)
        }
        try await RunningServer.with(["KF_USE_ETAG": "0"]) { server in
            let answer = try await server.get(path, ["If-None-Match": field])
            #expect(answer.status == 200 && answer.fields["etag"] == nil)
        }
    }

    @Test("Errors have their codes, and their reasons only for those who develop")
    func errors() async throws {
        let error = RenderingError(status: 422, kind: "not_an_image", reason: "This is a text.")
        for isDeveloped in [false, true] {
            let settings = ["KF_KEY": "00", "KF_SALT": "00", "KF_TRUSTED_SIGNATURES": "_", "KF_ALLOW_ORIGIN": "*"]
            try await RunningServer.with(settings, isDeveloped: isDeveloped) { server in
                server.renderer.fail("https://example.com/a/cat.jpg", with: error)
                let wrong = try await server.get("/wrong/plain/https://example.com/")
                #expect(wrong.status == 403)
                #expect(wrong.text == (isDeveloped ? "The signature is not that of this path." : "Forbidden"))
                let unknown = try await server.get("/_/gradient:1/plain/https://example.com/")
                #expect(unknown.status == 404)
                #expect(unknown.text == (isDeveloped ? "Unknown processing option \"gradient\"." : "Not Found"))
                let failed = try await server.get(path)
                #expect(failed.status == 422)
                #expect(failed.text == (isDeveloped ? error.reason : "Unprocessable Entity"))
                #expect(failed.fields["cache-control"] == "no-store")
                #expect(failed.fields["access-control-allow-origin"] == "*")
                for bad in ["/_", "/_/plain/", "//", "/_/plain/%F", "*"] {
                    #expect(try await server.get(bad).status == 404, "\(bad)")
                }
            }
        }
    }

    @Test("A URL that ends to be valid shortens the time in caches")
    func expiry() async throws {
        try await RunningServer.with(["KF_TTL": "1000"]) { server in
            let soon = Int(Date().timeIntervalSince1970) + 500
            let answer = try await server.get("/_/exp:\(soon)/plain/https://example.com/a")
            let field = try #require(answer.fields["cache-control"])
            let seconds = try #require(Int(field.replacing("max-age=", with: "").replacing(", public", with: "")))
            #expect((300...500).contains(seconds))
            let later = try await server.get("/_/exp:\(soon + 5000)/plain/https://example.com/a")
            #expect(later.fields["cache-control"] == "max-age=1000, public")
            #expect(try await server.get("/_/exp:1/plain/https://example.com/a").status == 404)
        }
    }

    @Test("The status of a source's server is not taken for a limit of this one", arguments: [429, 499])
    func statusOfSource(status: Int) async throws {
        let error = RenderingError(status: status, kind: "source_status", reason: "")
        for (fallback, expected) in [("", status), ("https://example.com/instead.png", 200)] {
            try await RunningServer.with(["KF_FALLBACK_IMAGE_URL": fallback, "KF_FALLBACK_IMAGE_TTL": "7"]) { server in
                server.renderer.fail("https://example.com/a/cat.jpg", with: error)
                let answer = try await server.get(path)
                #expect(answer.status == expected && answer.fields["retry-after"] == nil)
            }
        }
    }

    @Test("A fallback takes the place of images that cannot be made, with the URL's options and a status of its own")
    func fallback() async throws {
        let settings = ["KF_FALLBACK_IMAGE_URL": "https://example.com/instead.png", "KF_FALLBACK_IMAGE_TTL": "7"]
        let error = RenderingError(status: 502, kind: "source", reason: "")
        for (code, status) in [("", 200), ("0", 502), ("203", 203)] {
            try await RunningServer.with(settings.merging(["KF_FALLBACK_IMAGE_HTTP_CODE": code]) { $1 }) { server in
                server.renderer.fail("https://example.com/a/cat.jpg", with: error)
                let answer = try await server.get(path)
                #expect(answer.status == status && answer.fields["cache-control"] == "max-age=7, public")
                #expect(answer.body == Array(server.renderer.image.image.data))
                #expect(server.renderer.plans.map(\.resizing.width) == [3, 3])
                server.renderer.fail("https://example.com/instead.png", with: error)
                #expect(try await server.get(path).status == 502)
                #expect(try await server.get("/_/w:x/plain/https://example.com/a").status == 404)
            }
        }
    }

    @Test("Request identifiers are taken over when they are harmless")
    func identifiers() async throws {
        try await RunningServer.with { server in
            #expect(try await server.get(path, ["X-Request-ID": "a-B_9.~"]).fields["x-request-id"] == "a-B_9.~")
            for bad in ["a b", "\"", "é", String(repeating: "a", count: 65)] {
                let identifier = try await server.get(path, ["X-Request-ID": bad]).fields["x-request-id"]
                #expect(identifier != bad && identifier?.isEmpty == false)
            }
        }
    }

    static let names = [
        ("/_/fn:cat/plain/https://e.com/a", "inline; filename=\"cat.png\""),
        ("/_/att:1/plain/https://e.com/a.b.jpg", "attachment; filename=\"a.b.png\""),
        ("/_/plain/https://e.com/", "inline; filename=\"image.png\""),
        ("/_/plain/https://e.com", "inline; filename=\"image.png\""),
        ("/_/plain/https://e.com/a%3Fb=c/d.jpg", "inline; filename=\"a.png\""),
        ("/_/fn:a%22b%5Cc/plain/https://e.com/a", "inline; filename=\"a_b_c.png\""),
        ("/_/fn:caf%C3%A9/plain/https://e.com/a", "inline; filename=\"caf_.png\"; filename*=UTF-8''caf%C3%A9.png"),
        ("/_/plain/local:///3js%25205%3Fa%23b.jpg", "inline; filename=\"3js_205?a#b.png\""),
        ("/_/plain/https://e.com/a%250D%250ASet-Cookie:b.jpg", "inline; filename=\"a__Set-Cookie:b.png\""),
    ]

    @Test("No name leaves its place in Content-Disposition", arguments: names)
    func disposition(path: String, field: String) async throws {
        try await RunningServer.with { server in
            let answer = try await server.get(path)
            #expect(answer.fields["content-disposition"] == field && answer.fields["set-cookie"] == nil)
        }
    }
}
