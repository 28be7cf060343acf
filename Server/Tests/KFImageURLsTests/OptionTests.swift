// Every option: good, bad and empty. The examples must be complete: a new option fails a test until it has some.

import KFImageURLs
import Testing

/// An option by its short name, with arguments that it takes and with some that it does not.
struct OptionExample: Sendable, CustomTestStringConvertible {
    let name: String
    let good: [String]
    let bad: [String]

    var testDescription: String { name }

    private static let booleans = ["1", "0", "true", "nonsense"]
    private static let counts = ["0", "1", "300"]
    private static let badCounts = ["-1", "x", "1.5", "1e2", " 1", "99999999999999999999"]
    private static let badNumbers = ["-1", "x", "nan", "inf", "1e999", "1,5"]
    private static let gravities = [
        "no", "so", "ea", "we", "noea", "nowe", "soea", "sowe", "ce:10", "ce::-0.5", "fp:0:1",
    ]
    private static let badGravities = [
        "xx", "fp", "fp:0.5", "fp:0.5:", "fp::0.5", "fp:0.5:2", "fp:-1:0", "sm:1", "no:x",
    ]

    static let all: [OptionExample] = [
        .init(
            name: "rs",
            good: ["fill", "fit:10", "fill-down:10:20:1:1:no:1:2", "force", "auto", "::10"],
            bad: ["x", "fit:-1", "fit:1:x", "fit:1:1:1:1:sm", "fit:1:1:1:1:fp:1"]
        ),
        .init(name: "s", good: ["10", "10:20:1:1:fp:0.5:1", ":20"], bad: ["x", "1:-1", "1:1:1:1:sm", "1:1:1:1:fp"]),
        .init(name: "rt", good: ["fit", "fill", "fill-down", "force", "auto"], bad: ["Fit", "crop", "fill_down"]),
        .init(name: "w", good: counts, bad: badCounts),
        .init(name: "h", good: counts, bad: badCounts),
        .init(name: "mw", good: counts, bad: badCounts),
        .init(name: "mh", good: counts, bad: badCounts),
        .init(name: "z", good: ["0.5", "2:3", "1e2", ":2"], bad: badNumbers + ["0", "1:0", "1:x", "1001"]),
        .init(name: "dpr", good: ["0.5", "2", "1e2"], bad: badNumbers + ["0", "1001"]),
        .init(name: "el", good: booleans, bad: []),
        .init(name: "ex", good: booleans + ["1:no:1:2", ":so"], bad: ["1:sm", "1:fp:1", "1:xx"]),
        .init(name: "exar", good: booleans + ["1:no:1:2"], bad: ["1:sm", "1:fp:1", "1:xx"]),
        .init(name: "g", good: gravities + ["sm", "sm::"], bad: badGravities),
        .init(
            name: "c",
            good: ["100", "0.5:0", ":1e2"] + gravities.map { "1:1:" + $0 } + ["1:1:sm"],
            bad: badNumbers + ["1:x"] + badGravities.map { "1:1:" + $0 }
        ),
        .init(
            name: "t",
            good: ["10", "0:ff00ff", "1:f0f:1:1", ":fff"],
            bad: badNumbers + ["1:ff", "1:#fff", "1:ggg"]
        ),
        .init(
            name: "pd",
            good: ["1", "1:2", "1:2:3", "1:2:3:4", ":::4"],
            bad: badCounts + ["1:x", "1:2:-3", "1:2:3:x"]
        ),
        .init(name: "ar", good: booleans, bad: []),
        .init(name: "rot", good: ["0", "90", "180", "270", "360", "-90", "450"], bad: ["45", "x", "90.0", "1"]),
        .init(name: "fl", good: booleans + ["1:1", ":1"], bad: []),
        .init(
            name: "bg",
            good: ["fff", "FF8000", "255:128:0"],
            bad: ["ff", "fffffff", "256:0:0", "1:2", "1::3", "x:y:z"]
        ),
        .init(name: "bl", good: ["0", "2.5", "1e1"], bad: badNumbers),
        .init(name: "sh", good: ["0", "2.5"], bad: badNumbers),
        .init(name: "pix", good: counts, bad: badCounts),
        .init(
            name: "wm",
            good: ["0.5", "1:re", "1:ch", "1:soea:10:-20:0.5", "0"],
            bad: ["2", "-0.1", "x", "1:sm", "1:fp", "1:ce:x", "1:ce:1:1:-1"]
        ),
        .init(name: "f", good: ["jpg", "jpeg", "png", "webp", "avif", "gif"], bad: ["exe", "JPG", "best", "."]),
        .init(name: "q", good: ["0", "1", "100"], bad: badCounts + ["101"]),
        .init(
            name: "fq",
            good: ["webp:50", "jpg:1:avif:100"],
            bad: ["webp", "x:50", "webp:101", "webp:50:avif", ":5"]
        ),
        .init(name: "mb", good: counts, bad: badCounts),
        .init(name: "skp", good: ["jpg", "jpg:png:svg"], bad: ["exe", "jpg:exe"]),
        .init(name: "raw", good: booleans, bad: []),
        .init(name: "sm", good: booleans, bad: []),
        .init(name: "kcr", good: booleans, bad: []),
        .init(name: "scp", good: booleans, bad: []),
        .init(name: "ph", good: booleans, bad: []),
        .init(name: "eth", good: booleans, bad: []),
        .init(name: "pr", good: ["known", "known:known"], bad: ["unknown", "known:unknown"]),
        .init(name: "cb", good: ["v1", "%20"], bad: []),
        .init(name: "exp", good: ["0", "4102444800"], bad: badCounts + ["1"]),
        .init(name: "fn", good: ["a", "a%20b", "YSBi:1", "%zz"], bad: ["a%0Ab", "a%2Fb", "!:1", "_w:1", "Lw:1"]),
        .init(name: "att", good: booleans, bad: []),
        .init(name: "msr", good: ["0.5", "50"], bad: badNumbers + ["0"]),
        .init(name: "msfs", good: counts, bad: badCounts),
        .init(name: "maf", good: ["1", "100"], bad: badCounts + ["0"]),
        .init(name: "mafr", good: ["0", "0.5"], bad: badNumbers),
        .init(name: "mrd", good: counts, bad: badCounts),
    ]
}

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

    @Test("Empty arguments leave what was there", arguments: OptionExample.all)
    func empty(_ example: OptionExample) throws {
        let option = try #require(OptionTable.all.first { $0.names.contains(example.name) })
        let nothing = try plan("")
        let colons = String(repeating: ":", count: option.arguments.count)
        #expect(try plan("\(example.name):", settings: permissive) == nothing)
        #expect(try plan(example.name + colons, settings: permissive) == nothing)
        // A background is the exception: it can be taken away.
        guard example.name != "bg" else { return }
        for arguments in example.good {
            let once = try plan("\(example.name):\(arguments)", settings: permissive)
            #expect(try plan("\(example.name):\(arguments)/\(example.name):", settings: permissive) == once)
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
}
