// Every option: good, bad and empty. The examples must be complete: a new option fails a test until it has some.

import KFImageURLs
import KFImageURLsTestSupport
import Testing

@Suite struct OptionTests {
    private let permissive = settings {
        $0.allowsSecurityOptions = true
        $0.presets = ["known": ["w:77"]]
    }

    @Test("Every option of the table has its examples")
    func completeness() {
        let examples = Set(OptionExample.all.map(\.name))
        for option in OptionTable.all {
            #expect(option.names.filter(examples.contains).count == 1, "\(option.names)")
        }
        #expect(examples.count == OptionTable.all.count)
    }

    @Test("No name belongs to two options, and each has a sentence of help")
    func names() {
        let names = OptionTable.all.flatMap(\.names)
        #expect(Set(names).count == names.count)
        #expect(OptionTable.all.allSatisfy { $0.help.hasSuffix(".") && !$0.arguments.isEmpty })
    }

    @Test("Good arguments make a plan, under all names of the option the same", arguments: OptionExample.all)
    func good(_ example: OptionExample) throws {
        let option = try #require(OptionTable.all.first { $0.names.contains(example.name) })
        var plans: Set<ImagePlan> = []
        for arguments in example.good {
            let plan = try plan("\(example.name):\(arguments)", settings: permissive)
            plans.insert(plan)
            for name in option.names {
                #expect(try KFImageURLsTests.plan("\(name):\(arguments)", settings: permissive) == plan)
            }
        }
        // They do something: at least one is no default.
        #expect(plans.contains { $0 != (try? KFImageURLsTests.plan("")) })
    }

    @Test("Bad arguments are not found, and the reason names the option", arguments: OptionExample.all)
    func bad(_ example: OptionExample) {
        for arguments in example.bad {
            let error = error(ofOptions: "\(example.name):\(arguments)", settings: permissive)
            #expect(error?.status == 404, "\(example.name):\(arguments)")
            if error != .expired && example.name != "pr" {
                #expect(error?.reason.contains("\"\(example.name)\"") == true)
            }
        }
    }

    @Test("An option that is given twice is as given once, under any of its names", arguments: OptionExample.all)
    func twice(_ example: OptionExample) throws {
        let option = try #require(OptionTable.all.first { $0.names.contains(example.name) })
        for arguments in example.good {
            let once = try plan("\(example.name):\(arguments)", settings: permissive)
            for name in option.names {
                let both = "\(name):\(arguments)/\(example.name):\(arguments)"
                #expect(try plan(both, settings: permissive) == once, "\(both)")
            }
        }
    }

    @Test(
        "Of an option that is given twice the last counts, where it gives every argument",
        arguments: OptionExample.all
    )
    func last(_ example: OptionExample) throws {
        let option = try #require(OptionTable.all.first { $0.names.contains(example.name) })
        // Pairs, names and tags are collected.
        guard !option.repeats else { return }
        for (index, last) in example.good.enumerated() {
            let values = last.split(separator: ":", omittingEmptySubsequences: false)
            guard values.count == option.arguments.count, !values.contains("") else { continue }
            for (other, first) in example.good.enumerated() where other != index {
                let both = "\(example.name):\(first)/w:5/\(example.name):\(last)"
                let expected = try plan("w:5/\(example.name):\(last)", settings: permissive)
                #expect(try plan(both, settings: permissive) == expected, "\(both)")
            }
        }
    }

    @Test("Empty arguments leave what was there, but a truth value alone is off", arguments: OptionExample.all)
    func empty(_ example: OptionExample) throws {
        let option = try #require(OptionTable.all.first { $0.names.contains(example.name) })
        let isTruthValue = option.arguments.map(\.words) == ["boolean"]
        let nothing = try plan(isTruthValue ? "\(example.name):0" : "", settings: permissive)
        let colons = String(repeating: ":", count: option.arguments.count)
        #expect(try plan("\(example.name):", settings: permissive) == nothing)
        #expect(try plan(example.name + colons, settings: permissive) == nothing)
        // A background is the exception: it can be taken away.
        guard example.name != "bg" else { return }
        for arguments in example.good {
            let once = try plan("\(example.name):\(arguments)", settings: permissive)
            let twice = try plan("\(example.name):\(arguments)/\(example.name):", settings: permissive)
            #expect(twice == (isTruthValue ? nothing : once))
        }
    }

    @Test("More arguments than an option takes are not found", arguments: OptionExample.all)
    func tooMany(_ example: OptionExample) throws {
        let option = try #require(OptionTable.all.first { $0.names.contains(example.name) })
        guard !option.repeats else { return }
        let colons = String(repeating: ":", count: option.arguments.count + 1)
        #expect(error(ofOptions: example.name + colons, settings: permissive)?.status == 404)
    }

    @Test("Arguments arrive where they belong")
    func values() throws {
        let resizing = try plan("rs:fill-down:300:200:1:1:noea:4:0.5/mw:5/mh:6/z:2:3/dpr:1.5").resizing
        #expect(resizing.kind == .fillDown && resizing.width == 300 && resizing.height == 200 && resizing.enlarges)
        #expect(resizing.minWidth == 5 && resizing.minHeight == 6 && resizing.dpr == 1.5)
        #expect(resizing.zoomX == 2 && resizing.zoomY == 3)
        #expect(try plan("z:2").resizing.zoomY == 2)
        let canvas = try plan("rs:::::1:noea:4:0.5/exar:1:so").canvas
        #expect(canvas.extends && canvas.gravity == Gravity(.northEast, x: 4, y: 0.5))
        #expect(canvas.extendsToAspectRatio && canvas.aspectRatioGravity == Gravity(.south))
        #expect(try plan("pd:1:2:3").padding == ImagePlan.Sides(top: 1, right: 2, bottom: 3, left: 2))
        #expect(try plan("rot:-90").turning.rotation == .threeQuarters)
        #expect(try plan("bg:f80").background == Color(red: 255, green: 136, blue: 0))
        #expect(try plan("bg:1:2:3").background == Color(red: 1, green: 2, blue: 3))
        #expect(try plan("bg:fff/bg:").background == nil)
        #expect(try plan("t:10:0f0:1:0").trim.color == Color(red: 0, green: 255, blue: 0))
        #expect(try plan("fn:YSBi:1").delivery.filename == "a b")
        #expect(try plan("fn:a%20b").delivery.filename == "a b")
        #expect(try plan("skp:jpg/skp:png").output.keptFormats == [.jpeg, .png])
        #expect(try plan("wm:0.5:re:1:2:0.25").watermark.position == .tiled)
    }

    @Test("The quality is the URL's, the URL's for the format, the server's for it, the server's")
    func quality() throws {
        let server = OutputSettings()
        #expect(try plan("q:10/fq:webp:20").quality(of: .webp, in: server) == 10)
        #expect(try plan("fq:webp:20").quality(of: .webp, in: server) == 20)
        #expect(try plan("fq:webp:20").quality(of: .avif, in: server) == 63)
        #expect(try plan("").quality(of: .jpeg, in: server) == 80)
    }

    @Test("A quality is found where the URL has a method, or the server has one and the URL no quality")
    func qualitySearch() throws {
        func search(_ options: String, _ settings: [String: String] = [:]) throws -> String? {
            let (configuration, problems) = ServerConfiguration.read(settings)
            #expect(problems.isEmpty)
            return try plan(options).qualitySearch(in: configuration.output).map { "\($0.score) \($0.qualities)" }
        }
        let server = [
            "KF_AUTOQUALITY_METHOD": "ssimulacra2", "KF_AUTOQUALITY_TARGET": "60", "KF_AUTOQUALITY_MIN": "20",
            "KF_AUTOQUALITY_MAX": "90",
        ]
        for options in ["", "aq::60:30", "q:50", "aq:none"] { #expect(try search(options) == nil, "\(options)") }
        #expect(try search("aq:ssimulacra2/q:50") == "75.0 1...100")
        #expect(try search("", server) == "60.0 20...90")
        #expect(try search("aq::80::70", server) == "80.0 20...70")
        #expect(try search("aq:ssimulacra2:80:95/q:50", server) == "80.0 90...90")
        for options in ["q:50", "fq:webp:50", "aq:none"] { #expect(try search(options, server) == nil, "\(options)") }
        #expect(try search("q:0/fq:webp:0", server) != nil)
    }
}
