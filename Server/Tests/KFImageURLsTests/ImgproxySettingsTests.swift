// The settings of imgproxy: each has an outcome, and its own defaults start a server that says little.

import Foundation
import Testing

@testable import KFImageURLs

@Suite struct ImgproxySettingsTests {
    private static func lines(of name: String) throws -> [String] {
        try resource(name).split(separator: "\n").map(String.init)
    }

    /// The defaults of imgproxy's documentation, as an environment.
    static func defaults() throws -> [String: String] {
        let pairs = try lines(of: "imgproxy-defaults.env").map { line in
            let parts = line.split(separator: "=", maxSplits: 1).map(String.init)
            return (try #require(parts.first), parts.count > 1 ? parts[1] : "")
        }
        return Dictionary(pairs) { $1 }
    }

    @Test("Each of imgproxy's settings has one outcome, and is on the reference page with it") func outcomes() throws {
        let names = try Self.lines(of: "imgproxy-settings.txt")
        #expect(names.count == 187)
        let known = Dictionary(grouping: ImgproxySettings.all, by: \.name)
        let page = ReferencePage.markdown
        for name in names {
            #expect(known[name]?.count == 1, "\(name)")
            let outcomes = ["`KF_", "refused", "ignored |"]
            #expect(outcomes.contains { page.contains("| `\(name)` | \($0)") }, "\(name)")
        }
        let former = ["IMGPROXY_ENABLE_WEBP_DETECTION", "IMGPROXY_ENABLE_AVIF_DETECTION"]
        #expect(Set(known.keys).subtracting(names) == Set(former))
        #expect(Set(ImgproxySettings.pro.keys).isDisjoint(with: known.keys))
    }

    @Test("A refused setting is an error that says what to do, unless it has a value that changes nothing")
    func refusals() {
        for (name, setting) in ImgproxySettings.unread {
            for value in setting.harmless + [""] {
                let problems = ServerConfiguration.read([name: value]).problems
                #expect(problems.isEmpty, "\(name)=\(value): \(problems)")
            }
            let problems = ServerConfiguration.read([name: "7"]).problems
            #expect(problems.map(\.name) == [name])
            #expect(problems.map(\.isError) == [setting.instead != nil], "\(name)")
            #expect(setting.instead.map { problems.first?.text == $0 } != false)
        }
    }

    @Test("Settings that differ in imgproxy are read, and have its defaults once one of its names is set")
    func differences() {
        for (name, value) in ImgproxySettings.initial {
            let problems = ServerConfiguration.read(["IMGPROXY_" + name: value]).problems
            #expect(problems.isEmpty, "\(name)")
            let implied = ServerConfiguration.read(["IMGPROXY_QUALITY": "80"]).configuration
            let shown = Dictionary(uniqueKeysWithValues: implied.inForce.map { ($0.name, $0.value) })
            #expect(shown["KF_" + name] == value)
        }
        let implied = ServerConfiguration.read(["IMGPROXY_QUALITY": "80"]).configuration
        #expect(
            !implied.sources.allowsPrivateAddresses && implied.maxMakings == nil && implied.sources.maxBytes == 20 << 20
        )
        #expect(
            ServerConfiguration.read(["IMGPROXY_QUALITY": "80", "KF_MAX_ANIMATION_FRAMES": "9"]).configuration.sources
                .maxFrames == 9
        )
        #expect(ServerConfiguration.read(["KF_QUALITY": "80"]).configuration.sources.maxFrames == 100)
    }

    @Test("imgproxy's own defaults start a server, which says one thing about them: what a queue of 0 is here")
    func documentedDefaults() throws {
        let (configuration, problems) = ServerConfiguration.read(try Self.defaults())
        #expect(
            problems.map(\.name) == ["IMGPROXY_REQUESTS_QUEUE_SIZE"] && problems.allSatisfy { !$0.isError },
            "\(problems)"
        )
        #expect(configuration.maxMakings == nil && configuration.sources.maxFrames == 1)
        #expect(configuration.sources.allowsPrivateAddresses && configuration.sources.maxBytes == 0)
    }

    @Test("What has no meaning is named in one warning, and what only the Pro edition has where it is changed")
    func meaningless() {
        let environment = [
            "IMGPROXY_SENTRY_DSN": "x", "IMGPROXY_DATADOG_ENABLE": "t", "IMGPROXY_LOG_MEM_STATS": "0",
            "IMGPROXY_STRIP_METADATA_DPI": "72", "IMGPROXY_WEBP_COMPRESSION": "lossless", "IMGPROXY_INVENTED": "1",
        ]
        let problems = ServerConfiguration.read(environment).problems
        #expect(problems.allSatisfy { !$0.isError })
        let named = "IMGPROXY_DATADOG_ENABLE, IMGPROXY_SENTRY_DSN, IMGPROXY_WEBP_COMPRESSION"
        #expect(problems.map(\.name) == [named, "IMGPROXY_INVENTED"])
    }

    @Test("Messages have the names that are in the environment") func names() {
        func problems(_ environment: [String: String]) -> [ConfigurationProblem] {
            ServerConfiguration.read(environment).problems
        }
        #expect(problems(["IMGPROXY_KEY": "00"]).map(\.name) == ["IMGPROXY_SALT"])
        #expect(problems(["KF_KEY": "00"]).map(\.name) == ["KF_SALT"])
        let preset = problems(["IMGPROXY_ONLY_PRESETS": "1"])
        #expect(preset.map(\.name) == ["IMGPROXY_ONLY_PRESETS"])
        #expect(preset.first?.text.contains("set IMGPROXY_PRESETS") == true)
        #expect(problems(["IMGPROXY_PRESETS": "a=w:x"]).map(\.name) == ["IMGPROXY_PRESETS"])
        #expect(problems(["IMGPROXY_ALLOWED_SOURCES": "https://a/,local://"]).isEmpty)
    }

    @Test("Levels in any case, a queue and clients of 0 are read as in imgproxy, and PORT where no address is set")
    func values() {
        let (configuration, problems) = ServerConfiguration.read([
            "IMGPROXY_LOG_LEVEL": "warn", "IMGPROXY_KEEP_ALIVE_TIMEOUT": "0", "IMGPROXY_MAX_CLIENTS": "0", "PORT": "99",
        ])
        #expect(problems.isEmpty)
        #expect(configuration.logLevel == .warning && configuration.keepAliveTimeout == 0)
        #expect(configuration.maxClients == 0 && configuration.address.port == 99)
        let shouted = ServerConfiguration.read([
            "IMGPROXY_LOG_LEVEL": "WARN", "IMGPROXY_LOG_FORMAT": "Pretty", "IMGPROXY_WEBP_PRESET": "Default",
        ])
        #expect(shouted.problems.isEmpty && shouted.configuration.logLevel == .warning)
        #expect(shouted.configuration.logFormat == .text)
        let bound = ServerConfiguration.read(["PORT": "tcp://1.2.3.4:80", "KF_BIND": "a:1"])
        #expect(bound.problems.isEmpty && bound.configuration.address == .init(host: "a", port: 1))
    }
}
