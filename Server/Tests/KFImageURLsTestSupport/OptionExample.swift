// Arguments of every option, good and bad. For the tests of options, and for paths made of them.

/// An option by its short name, with arguments that it takes and with some that it does not.
package struct OptionExample: Sendable, CustomStringConvertible {
    package let name: String
    package let good: [String]
    package let bad: [String]

    package var description: String { name }

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

    package static let all: [OptionExample] = [
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
        .init(
            name: "aq",
            good: [
                "ssimulacra2", "ssimulacra2:75:40:90", "ssimulacra2:60.5", "none", ":80", ":::50", "ssimulacra2::90:10",
            ],
            bad: [
                "dssim", "size:1000", "ml:0.02", "SSIMULACRA2", "x", "ssimulacra2:0", "ssimulacra2:101",
                "ssimulacra2:nan",
                "ssimulacra2:75:0", "ssimulacra2:75:40:101", "ssimulacra2:75:4.5", "ssimulacra2:75:40:90:1",
            ]
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
        .init(
            name: "ct",
            good: ["a", "a:product-17:x.y_z"],
            bad: ["a,b", "a%20b", "é", String(repeating: "a", count: 101)]
        ),
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
