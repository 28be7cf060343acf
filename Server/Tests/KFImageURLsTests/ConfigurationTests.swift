// The configuration from the environment, and what is said to be wrong with it.

import Foundation
import KFImageURLs
import Testing

@Suite struct ConfigurationTests {
    @Test("Without variables everything has its default, and nothing is wrong")
    func defaults() {
        let (configuration, problems) = ServerConfiguration.read(["PATH": "/bin", "KF": "1"])
        #expect(configuration == ServerConfiguration())
        #expect(problems.isEmpty)
    }

    @Test("Settings are read under our names and under those of imgproxy, ours first")
    func names() {
        let (configuration, problems) = ServerConfiguration.read([
            "IMGPROXY_BIND": ":9090", "IMGPROXY_QUALITY": "70", "KF_QUALITY": "60", "IMGPROXY_TTL": "5",
            "IMGPROXY_ENABLE_WEBP_DETECTION": "true", "KF_ENFORCE_AVIF": "1",
            "KF_ALLOWED_SOURCES": "https://a/, s3://b/",
            "IMGPROXY_KEY": "736563726574", "IMGPROXY_SALT": "68656C6C6F", "KF_PRESETS": "a=w:1/h:2, b=pr:a",
            "KF_FORMAT_QUALITY": "webp=10, jpg=20", "KF_UPLOADS": "true", "KF_PATH_PREFIX": "img/",
            "KF_MAX_SRC_RESOLUTION": "1.5",
        ])
        #expect(problems.isEmpty)
        #expect(configuration.address == ServerConfiguration.Address(host: "", port: 9090))
        #expect(configuration.output.quality == 60)
        #expect(configuration.output.formatQuality == [.webp: 10, .jpeg: 20, .avif: 63, .jxl: 77])
        #expect(configuration.output.webP == .automatic)
        #expect(configuration.output.avif == .enforced)
        #expect(configuration.delivery.maxAge == 5)
        #expect(configuration.urls.prefix == "/img")
        #expect(configuration.urls.allowedSources.map(\.text) == ["https://a/", "s3://b/"])
        #expect(configuration.urls.presets == ["a": ["w:1", "h:2"], "b": ["pr:a"]])
        #expect(configuration.urls.signatures.pairs == [.init(key: Array("secret".utf8), salt: Array("hello".utf8))])
        #expect(configuration.sources.maxMegapixels == 1.5)
        #expect(configuration.takesUploads)
    }

    @Test("Of several watermarks the bytes come first, then the file") func watermark() {
        func origin(_ environment: [String: String]) -> WatermarkSettings.Origin? {
            ServerConfiguration.read(environment).configuration.watermark.origin
        }
        var settings = ["IMGPROXY_WATERMARK_URL": "https://a/b.png"]
        #expect(origin(settings) == .source("https://a/b.png"))
        settings["KF_WATERMARK_PATH"] = "/b.png"
        #expect(origin(settings) == .file("/b.png"))
        for text in ["+/8=", "-_8"] {
            settings["IMGPROXY_WATERMARK_DATA"] = text
            #expect(origin(settings) == .data(.init([0xFB, 0xFF])))
        }
        #expect(ServerConfiguration.read(["KF_WATERMARK_OPACITY": "0.3"]).configuration.watermark.opacity == 0.3)
    }

    @Test("gs:// needs an HMAC key") func cloud() {
        var settings = ["KF_USE_GCS": "1", "KF_GCS_ACCESS_KEY_ID": "id"]
        let problems = ServerConfiguration.read(settings).problems
        #expect(problems.map(\.name) == ["KF_USE_GCS"] && problems.allSatisfy(\.isError))
        settings["KF_GCS_SECRET_ACCESS_KEY"] = "secret"
        #expect(ServerConfiguration.read(settings).problems.isEmpty)
    }

    @Test("An empty variable is as if it were not set, but for that of the separator that there may not be")
    func empty() {
        let environment = Dictionary(uniqueKeysWithValues: SettingsTable.all.map { ($0.names[0], "") })
        let (configuration, problems) = ServerConfiguration.read(environment)
        var expected = ServerConfiguration()
        expected.sources.querySeparator = ""
        #expect(configuration == expected)
        #expect(problems.isEmpty)
        let own = ["IMGPROXY_SOURCE_URL_QUERY_SEPARATOR": "", "KF_SOURCE_URL_QUERY_SEPARATOR": "#"]
        #expect(ServerConfiguration.read(own).configuration.sources.querySeparator == "#")
        #expect(ServerConfiguration.read([:]).configuration.sources.querySeparator == "?")
    }

    static let wrong = [
        ("KF_WATERMARK_DATA", "a b"), ("KF_WATERMARK_OPACITY", "1.1"), ("KF_BIND", "8080"),
        ("KF_BIND", "localhost:65536"), ("KF_BIND", "::1:80"), ("KF_QUALITY", "0"),
        ("KF_QUALITY", "101"), ("KF_QUALITY", "x"), ("KF_SIGNATURE_SIZE", "33"), ("KF_SIGNATURE_SIZE", "0"),
        ("KF_TIMEOUT", "-1"), ("KF_MAX_SRC_RESOLUTION", "0"), ("KF_AUTO_WEBP", "yes"), ("KF_FORMAT_QUALITY", "webp"),
        ("KF_FORMAT_QUALITY", "exe=10"), ("KF_PRESETS", "a"), ("KF_PRESETS", "a=w:x"), ("KF_PRESETS", "a=pr:b"),
        ("KF_PREFERRED_FORMATS", "jpeg,exe"), ("KF_REQUESTS_QUEUE_SIZE", "-1"), ("IMGPROXY_QUALITY", "x"),
        ("KF_ALOWED_SOURCES", "https://a/"), ("KF_", "1"), ("KF_ONLY_PRESETS", "1"),
        ("KF_FALLBACK_IMAGE_HTTP_CODE", "101"), ("KF_FALLBACK_IMAGE_HTTP_CODE", "600"), ("KF_LOG_LEVEL", "loud"),
        ("IMGPROXY_NETWORK", "unix"), ("KF_USE_LINEAR_COLORSPACE", "2"), ("KF_MAX_CLIENTS", "-1"),
        ("PORT", "x"), ("KF_WEBP_EFFORT", "7"), ("KF_AVIF_SPEED", "11"), ("KF_PNG_QUANTIZATION_COLORS", "1"),
        ("KF_ETAG_BUSTER", "a\"b"), ("KF_LAST_MODIFIED_BUSTER", "yesterday"), ("KF_FALLBACK_IMAGE_DATA", "%"),
        ("KF_PROMETHEUS_NAMESPACE", "1a"), ("KF_COOKIE_BASE_URL", "a"), ("KF_URL_REPLACEMENTS", "a"),
        ("KF_USER_AGENT", "a\r\nb"),
    ]

    @Test("What is wrong is an error by the name of the variable", arguments: wrong)
    func wrongValue(name: String, value: String) {
        let (_, problems) = ServerConfiguration.read([name: value])
        #expect(problems.map(\.name) == [name])
        #expect(problems.allSatisfy { $0.isError })
    }

    @Test("Names that only imgproxy knows, and hosts without an end, are warnings")
    func warnings() {
        let (_, problems) = ServerConfiguration.read([
            "IMGPROXY_SENTRY_DSN": "x", "KF_ALLOWED_SOURCES": "https://example.com",
        ])
        #expect(problems.map(\.name) == ["IMGPROXY_SENTRY_DSN", "KF_ALLOWED_SOURCES"])
        #expect(!problems.contains { $0.isError })
    }

    @Test("Secrets are in no message and in no list")
    func secrets() {
        let (_, problems) = ServerConfiguration.read(["KF_KEY": "hunter2", "KF_SALT": "00"])
        #expect(problems.contains { $0.name == "KF_KEY" })
        #expect(!problems.contains { $0.text.contains("hunter2") })
        let (configuration, _) = ServerConfiguration.read([
            "KF_KEY": "736563726574", "KF_SALT": "68656C6C6F", "KF_TRUSTED_SIGNATURES": "hunter2",
        ])
        let inForce = Dictionary(uniqueKeysWithValues: configuration.inForce.map { ($0.name, $0.value) })
        #expect(inForce["KF_KEY"] == "(set)" && inForce["KF_SALT"] == "(set)")
        #expect(inForce["KF_TRUSTED_SIGNATURES"] == "(set)")
        #expect(inForce["KF_QUALITY"] == "80")
    }

    @Test("What is in force, set as it is shown, is the same configuration")
    func shownAndReadAgain() {
        let (configuration, _) = ServerConfiguration.read([
            "KF_BIND": "[::1]:99", "KF_PRESETS": "a=w:1/h:2,b=pr:a", "KF_ALLOWED_SOURCES": "https://a/,https://*.b/",
            "KF_AUTO_AVIF": "1", "KF_MAX_SRC_RESOLUTION": "1.5", "KF_FORMAT_QUALITY": "webp=1,avif=2",
        ])
        let shown = Dictionary(uniqueKeysWithValues: configuration.inForce.map { ($0.name, $0.value) })
        let again = ServerConfiguration.read(shown)
        #expect(again.problems.isEmpty)
        #expect(again.configuration == configuration)
    }

    @Test("User names and passwords of URLs are neither shown nor complained about")
    func credentials() {
        let (configuration, problems) = ServerConfiguration.read([
            "KF_BASE_URL": "https://hidden:hid@den@example.com/a@b/", "KF_FALLBACK_IMAGE_URL": "http://hidden@c/d",
            "KF_ALLOWED_SOURCES": "https://a/@,https://hidden:x@e", "KF_MAX_REDIRECTS": "http://hidden:1@f",
        ])
        let shown = Dictionary(uniqueKeysWithValues: configuration.inForce.map { ($0.name, $0.value) })
        #expect(shown["KF_BASE_URL"] == "https://***@example.com/a@b/")
        #expect(shown["KF_FALLBACK_IMAGE_URL"] == "http://***@c/d")
        #expect(shown["KF_ALLOWED_SOURCES"] == "https://a/@,https://***@e")
        #expect(
            problems.map(\.name) == ["KF_ALLOWED_SOURCES", "KF_FALLBACK_IMAGE_TTL", "KF_MAX_REDIRECTS"]
                && !"\(problems) \(shown)".contains("hid")
        )
        #expect(configuration.urls.baseURL == "https://hidden:hid@den@example.com/a@b/")
    }

    @Test("What lets a URL choose its host, or keeps a failure for long, is a warning")
    func doubtfulURLs() {
        func problems(_ name: String, _ value: String) -> [String] {
            ServerConfiguration.read([name: value]).problems.filter { !$0.isError }.map(\.name)
        }
        #expect(problems("KF_BASE_URL", "https://cdn.example.com") == ["KF_BASE_URL"])
        #expect(problems("KF_BASE_URL", "https://cdn.example.com/") == [])
        #expect(problems("KF_FALLBACK_IMAGE_URL", "local:///a.png") == ["KF_FALLBACK_IMAGE_TTL"])
    }

    @Test("A server without a key is protected on loopback addresses only")
    func protection() {
        func isProtected(_ bind: String) -> Bool {
            ServerConfiguration.read(["KF_BIND": bind]).configuration.isProtected
        }
        for bind in ["127.0.0.1:80", "localhost:80", "[::1]:80", "127.9.9.9:80"] { #expect(isProtected(bind)) }
        for bind in [":80", "0.0.0.0:80", "127.evil.org:80", "127.0.0.1.evil.org:80", "[::]:80"] {
            #expect(!isProtected(bind))
        }
        #expect(ServerConfiguration.read(["KF_KEY": "00", "KF_SALT": "00"]).configuration.isProtected)
    }

    @Test("No name belongs to two settings")
    func uniqueNames() {
        let names = SettingsTable.all.flatMap(\.names)
        #expect(Set(names).count == names.count)
    }
}
