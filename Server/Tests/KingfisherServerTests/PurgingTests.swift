// Requests to purge: who may, what they ask for, and what they do to results.

import Foundation
import KFImageURLs
import Kingfisher
import KingfisherServer
import KingfisherTestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct PurgingTests {
    private let token = ["KF_PURGE_TOKEN": "let-me"]
    private let known = ["Authorization": "Bearer let-me"]

    @Test("Nothing can be purged without a token that is set and sent") func unknownToken() async throws {
        try await RunningServer.with { server in
            let answer = try await server.get("/purge", known, method: "POST", body: #"{"all": true}"#)
            #expect(answer.status == 404)
            #expect(server.renderer.purges.isEmpty)
        }
        try await RunningServer.with(token) { server in
            for fields in [
                [:], ["Authorization": "Bearer let-m"], ["Authorization": "let-me"], ["Authorization": "Bearer "],
            ] {
                let path = "/_/plain/https://example.com/a"
                let posted = try await server.get("/purge", fields, method: "POST", body: #"{"all": true}"#)
                let purged = try await server.get(path, fields, method: "PURGE")
                #expect(posted.status == 401 && purged.status == 401)
            }
            #expect(server.renderer.purges.isEmpty)
            #expect(!server.log.all.contains { $0.contains("let-me") })
        }
    }

    /// Bodies, and what they purge.
    private static let bodies: [(String, PurgeScope, PurgeMode)] = [
        (#"{"source": "https://example.com/a"}"#, .source(key: "https://example.com/a"), .invalidate),
        (#"{"source": "https://example.com/a", "mode": "delete"}"#, .source(key: "https://example.com/a"), .delete),
        (#"{"tag": "product-17", "mode": "invalidate"}"#, .tag("product-17"), .invalidate),
        (#"{"prefix": "https://example.com/"}"#, .prefix("https://example.com/"), .invalidate),
        (#"{"all": true, "mode": "delete"}"#, .all, .delete),
    ]

    @Test("A body says what is purged, and how", arguments: bodies.indices) func body(index: Int) async throws {
        let (body, scope, mode) = Self.bodies[index]
        try await RunningServer.with(token) { server in
            let answer = try await server.get("/purge", known, method: "POST", body: body)
            #expect(answer.status == 200)
            #expect(server.renderer.purges.first?.scope == scope && server.renderer.purges.first?.mode == mode)
        }
    }

    private static let wrongBodies = [
        "", "{}", "[]", "x", #"{"all": false}"#, #"{"tag": ""}"#, #"{"tag": "a", "all": true}"#,
        #"{"tag": "a", "mode": "now"}"#, #"{"tag": 1}"#, String(repeating: " ", count: 70_000) + #"{"all": true}"#,
    ]

    @Test("A body that is not understood purges nothing", arguments: wrongBodies) func wrongBody(body: String)
        async throws
    {
        try await RunningServer.with(token) { server in
            let answer = try await server.get("/purge", known, method: "POST", body: body)
            #expect(answer.status == 400)
            #expect(server.renderer.purges.isEmpty)
        }
    }

    @Test("PURGE on the path of an image deletes all results of its source") func purgedPath() async throws {
        try await RunningServer.with(token) { server in
            let path = "/_/rs:fill:3:2/plain/https://example.com/a@png"
            let answer = try await server.get(path, known, method: "PURGE")
            #expect(answer.status == 200)
            #expect(server.renderer.purges.first?.scope == .source(key: "https://example.com/a"))
            #expect(server.renderer.purges.first?.mode == .delete)
            let refused = try await server.get("/_/x:1/plain/https://example.com/a", known, method: "PURGE")
            #expect(refused.status == 404)
        }
    }

    @Test("Tags of a URL are sent, and results are made anew when one of them is purged") func tags() async throws {
        try await RunningServer.with { server in
            let answer = try await server.get("/_/ct:b:a/plain/https://example.com/a@png")
            #expect(answer.fields["cache-tag"] == "a,b")
        }
        try await RenderingRig.run { rig in
            rig.server.route("/a", try Quadrants.png())
            let request = try rig.request("rs:fill:4:4/ct:one/f:png")
            func isMade() async throws -> Bool { try await rig.renderer.render(request).image.cacheType == .none }
            #expect(try await isMade())
            #expect(try await isMade() == false)
            try await rig.renderer.purge(.tag("two"), .delete)
            #expect(try await isMade() == false)
            try await rig.renderer.purge(.tag("one"), .delete)
            #expect(try await isMade())
            try await rig.renderer.purge(request.plan, .delete)
            #expect(try await isMade())
        }
    }

    @Test("The beginning of sources is read as a source is") func prefix() async throws {
        try await RenderingRig.run { rig in
            let folder = rig.directory.appending(path: "files/a ä")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try #require(Quadrants.image().pngData()).write(to: folder.appending(path: "b.png"))
            rig.server.route("/c%20d", try Quadrants.png())
            let requests = [
                try rig.request("w:4/f:png", source: "local:///a%20%C3%A4/b.png"),
                try rig.request("w:4/f:png", source: "\(rig.server.url("/"))c%2520d"),
            ]
            let site = rig.server.url("/").absoluteString
            let prefixes = [
                ["local:///a ä/", "local:///a ä/b", "local:///a ä/b.p", "local:///"],
                ["\(site)c d", "\(site)c%20", "\(site)c%2", "\(site)c%", site],
            ]
            for (request, prefixes) in zip(requests, prefixes) {
                _ = try await rig.renderer.render(request)
                for prefix in prefixes {
                    #expect(try await rig.renderer.render(request).image.cacheType != .none)
                    try await rig.renderer.purge(.prefix(prefix + "x"), .delete)
                    #expect(try await rig.renderer.render(request).image.cacheType != .none, "\(prefix)x")
                    try await rig.renderer.purge(.prefix(prefix), .delete)
                    #expect(try await rig.renderer.render(request).image.cacheType == .none, "\(prefix)")
                }
            }
        }
    }

    private static let tiers: [(tier: String?, leases: String?, isRight: Bool)] = [
        (nil, nil, true), ("redis://127.0.0.1:1", nil, true),
        ("s3://bucket/a/b?endpoint=http://127.0.0.1:1", nil, true),
        ("s3://bucket?region=eu-central-1", "redis://:secret@127.0.0.1:1/2", true), (nil, "redis://127.0.0.1", false),
        ("redis://127.0.0.1", "redis://127.0.0.1", false), ("http://127.0.0.1", nil, false), ("s3://", nil, false),
        ("s3://bucket?zone=1", nil, false), ("s3://bucket?endpoint=x", nil, false),
    ]

    @Test("URLs of stores that are wrong are named, without their passwords", arguments: tiers.indices)
    func tier(index: Int) throws {
        var fleet = FleetSettings()
        (fleet.tier, fleet.leases) = (Self.tiers[index].tier, Self.tiers[index].leases)
        if Self.tiers[index].isRight {
            let tier = try fleet.makeTier()
            #expect((tier == nil) == (fleet.tier == nil) && tier?.name.contains("secret") != true)
        } else {
            #expect(throws: InvalidConfiguration.self) { try fleet.makeTier() }
        }
    }
}
