// Settings that change how URLs are read: separators, names, replacements, what is allowed, files of settings.

import Foundation
import KFImageURLs
import Testing

@Suite(.timeLimit(.minutes(10))) struct URLSettingsTests {
    /// The plan of a path, with settings.
    private func plan(_ path: String, _ settings: [String: String]) throws(RequestError) -> ImagePlan {
        let (configuration, problems) = ServerConfiguration.read(settings)
        #expect(problems.isEmpty, "\(problems)")
        return try PathParser(settings: configuration.urls).parse(path).plan
    }

    private func error(of path: String, _ settings: [String: String]) -> RequestError? {
        do throws(RequestError) {
            _ = try plan(path, settings)
            return nil
        } catch {
            return error
        }
    }

    @Test("Another separator stands between an option and its arguments, in URLs and presets")
    func argumentsSeparator() throws {
        let settings = ["KF_ARGUMENTS_SEPARATOR": ";;", "KF_PRESETS": "a=w;;7/pd;;1;;;;3"]
        let plan = try plan("/_/rs;;fill;;30;;20/pr;;a/plain/http://a/b", settings)
        #expect(plan.resizing.kind == .fill && plan.resizing.height == 20 && plan.resizing.width == 7)
        #expect(plan.padding == ImagePlan.Sides(top: 1, right: 1, bottom: 3, left: 1))
        #expect(error(of: "/_/w:30/plain/http://a/b", settings) != nil)
        let presets = settings.merging(["KF_ONLY_PRESETS": "1"]) { $1 }
        #expect(try self.plan("/_/a;;a/plain/http://a/b", presets).resizing.width == 7)
    }

    @Test("A name behind a source in base64 does not count, where that is set") func filename() throws {
        let encoded = Data("http://a/b".utf8).base64EncodedString().replacing("=", with: "")
        let settings = ["KF_BASE64_URL_INCLUDES_FILENAME": "1"]
        #expect(try plan("/_/w:1/\(encoded).png/a%20name.jpg", settings).source == "http://a/b")
        #expect(try plan("/_/w:1/\(encoded).png/a%20name.jpg", settings).output.format == .png)
        #expect(try plan("/_/w:1/\(encoded)", settings).source == "http://a/b")
        #expect(try plan("/_/plain/http://a/b.jpg", settings).source == "http://a/b.jpg")
    }

    static let replacements = [
        ("mys3://=s3://bucket/", "mys3://a/b", "s3://bucket/a/b"),
        ("x://*/=https://$1.com/", "x://a/b", "https://a.com/b"),
        ("x://*/*=https://${2}/$1x/$3-$$", "x://a/b/c", "https://b//-$/c"), ("a=b;b=c", "a1", "c1"),
        ("*-=$0!", "a-b-c", "a-b-!c"),
        ("*b*c=<$1|$2>", "abbxcc", "<ab|xc>"), ("*b*/=<$1|$2>", "ab/cb/", "<a|>cb/"), ("b=c", "ab", "ab"),
    ]

    @Test("Beginnings of sources are replaced; the first star is as long as it can be", arguments: replacements)
    func replacement(setting: String, source: String, expected: String) throws {
        #expect(try plan("/_/plain/\(source)", ["KF_URL_REPLACEMENTS": setting]).source == expected)
    }

    @Test("Replacements take no longer for many places where their pieces fit") func manyPlaces() throws {
        let source = String(repeating: "ab", count: 20_000)
        let settings = ["KF_URL_REPLACEMENTS": "*a*b*a*b*a*c=x", "KF_BASE_URL": ""]
        #expect(try plan("/_/plain/\(source)", settings).source == source)
    }

    @Test("Only allowed options may stand in URLs, by the names that are allowed; presets may have all")
    func allowedOptions() throws {
        let settings = ["IMGPROXY_ALLOWED_PROCESSING_OPTIONS": "w, pr", "KF_PRESETS": "a=h:5/pr:b,b=q:7,default=el:1"]
        let plan = try plan("/_/w:3/pr:a/plain/http://a/b@png", settings)
        #expect(plan.resizing.width == 3 && plan.resizing.height == 5 && plan.output.quality == 7)
        #expect(plan.resizing.enlarges && plan.output.format == .png)
        for option in ["h:5", "width:3", "nonsense:1"] {
            let error = error(of: "/_/\(option)/plain/http://a/b", settings)
            #expect(error?.status == 404 && error?.kind == "disallowed_option", "\(option)")
        }
        #expect(error(of: "/_/h:5/plain/http://a/b", [:]) == nil)
    }

    @Test("Settings are the defaults of options, which change them") func defaults() throws {
        let settings = ["IMGPROXY_AUTO_ROTATE": "0", "KF_STRIP_METADATA": "f", "KF_KEEP_COPYRIGHT": "false"]
        let plan = try plan("/_/plain/http://a/b", settings)
        #expect(!plan.turning.followsOrientation && !plan.metadata.isStripped && !plan.metadata.keepsCopyright)
        let changed = try self.plan("/_/ar:1/sm:1/kcr:1/plain/http://a/b", settings)
        #expect(changed == (try self.plan("/_/plain/http://a/b", [:])))
    }

    /// Runs a test with a file of a text.
    private func withFile(_ text: String, _ body: (String) throws -> Void) throws {
        let url = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try text.write(to: url, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(at: url) }
        try body(url.path)
    }

    @Test("Presets have another separator, and further ones come from a file") func presets() throws {
        let settings = ["IMGPROXY_PRESETS": "a=w:1;b=w:2", "IMGPROXY_PRESETS_SEPARATOR": ";"]
        #expect(ServerConfiguration.read(settings).configuration.urls.presets == ["a": ["w:1"], "b": ["w:2"]])
        try withFile("# a comment\n\n b = w:3/h:4 \nc=q:5\n") { path in
            let read = ServerConfiguration.read(settings.merging(["IMGPROXY_PRESETS_PATH": path]) { $1 })
            #expect(read.problems.isEmpty)
            #expect(read.configuration.urls.presets == ["a": ["w:1"], "b": ["w:3", "h:4"], "c": ["q:5"]])
        }
        try withFile("a") { path in
            #expect(ServerConfiguration.read(["KF_PRESETS_PATH": path]).problems.map(\.name) == ["KF_PRESETS_PATH"])
        }
        let missing = ServerConfiguration.read(["IMGPROXY_PRESETS_PATH": "/nowhere/a"]).problems
        #expect(missing.map(\.name) == ["IMGPROXY_PRESETS_PATH"])
        #expect(missing.first?.text.contains("there is no such file") == true)
    }

    @Test("A file of variables comes before the environment, and its wrong lines are named") func environmentFile()
        throws
    {
        let text = "# a\nexport IMGPROXY_QUALITY=7 # b\nKF_TTL = \"5\"\nKF_USER_AGENT='a # b'\nKF_BASE_URL=\n"
        try withFile(text) { path in
            let read = ServerConfiguration.read(["IMGPROXY_ENV_LOCAL_FILE_PATH": path, "IMGPROXY_QUALITY": "8"])
            #expect(read.problems.isEmpty, "\(read.problems)")
            #expect(read.configuration.output.quality == 7 && read.configuration.delivery.maxAge == 5)
            #expect(read.configuration.sources.userAgent == "a # b")
        }
        try withFile("KF_TTL=5\nnonsense\nKF_QUALITY=\"6\n") { path in
            let problems = ServerConfiguration.read(["KF_ENV_LOCAL_FILE_PATH": path]).problems
            #expect(
                problems.map(\.isError) == [true, true] && problems.allSatisfy { $0.name == "KF_ENV_LOCAL_FILE_PATH" }
            )
            #expect(
                problems.map(\.text).joined().contains("Line 2") && problems.map(\.text).joined().contains("Line 3")
            )
        }
        try withFile("# as Windows ends lines\r\nKF_SECRET=a\r\n") { path in
            #expect(ServerConfiguration.read(["KF_ENV_LOCAL_FILE_PATH": path]).configuration.secret == "a")
        }
        try withFile("AWS_REGION=a") { path in
            let problems = ServerConfiguration.read(["KF_ENV_LOCAL_FILE_PATH": path]).problems
            #expect(problems.map(\.isError) == [true] && problems[0].text.hasPrefix("AWS_REGION is not read"))
        }
        #expect(ServerConfiguration.read(["KF_ENV_LOCAL_FILE_PATH": "/nowhere"]).problems.map(\.isError) == [true])
    }

    @Test("A value of such a file may name variables in capitals, and have characters behind backslashes")
    func expandedValues() throws {
        try withFile(
            #"""
            HOST=https://a.com
            KF_BASE_URL=$HOST/b/
            KF_USER_AGENT = "a ${OWN}${NONE} \$HOST" # b
            KF_SECRET='$HOST\n'
            KF_URL_REPLACEMENTS=s://*/=${HOST}/${1}/$lower/
            KF_PRESETS_SEPARATOR="\n\""
            """#
        ) { path in
            let read = ServerConfiguration.read(["KF_ENV_LOCAL_FILE_PATH": path, "OWN": "c"])
            // There is no NONE.
            #expect(read.problems.map(\.isError) == [false], "\(read.problems)")
            #expect(read.problems.first.map { $0.text.contains("Line 3") && !$0.text.contains("NONE") } == true)
            let configuration = read.configuration
            #expect(configuration.urls.baseURL == "https://a.com/b/" && configuration.sources.userAgent == "a c $HOST")
            #expect(configuration.secret == #"$HOST\n"# && configuration.urls.presetsSeparator == "\n\"")
            let shown = Dictionary(uniqueKeysWithValues: configuration.inForce.map { ($0.name, $0.value) })
            #expect(shown["KF_URL_REPLACEMENTS"] == "s://*/=https://a.com/${1}/$lower/")
        }
    }
}
