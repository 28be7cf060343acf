// Sizes and places: published cases, a page of the specification, and properties.

import Foundation
import KFImageURLs
import Testing

@Suite struct SizesTests {
    /// A line of `sizes.tsv`: the fields that describe the plan, and the size of the result.
    struct Case: Sendable, CustomTestStringConvertible {
        let line: String
        let fields: [Substring]

        var testDescription: String { line }

        func number(_ index: Int) -> Int { Int(fields[index]) ?? -1 }

        static let all: [Case] =
            ((try? resource("sizes.tsv")) ?? "").split(separator: "\n")
            .filter { !$0.hasPrefix("#") && !$0.hasPrefix("rt\t") }
            .map { Case(line: String($0), fields: $0.split(separator: "\t")) }
    }

    @Test("The cases are all there")
    func caseCount() {
        #expect(Case.all.count == 167)
    }

    @Test("A source of 200×100 gets the published size", arguments: Case.all)
    func published(_ example: Case) throws {
        let options = [
            "rs:\(example.fields[0]):\(example.number(1)):\(example.number(2)):\(example.number(3)):\(example.number(4))",
            "exar:\(example.number(5))", "rot:\(example.number(6))",
            "pd:\(example.number(7)):\(example.number(8)):\(example.number(9)):\(example.number(10))",
        ]
        let plan = try plan(options.joined(separator: "/"))
        let source = PixelSize(width: 200, height: 100)
        let geometry = ImageGeometry(source: source, plan: plan, resultLimit: example.number(11))
        #expect(geometry.size == PixelSize(width: example.number(12), height: example.number(13)))
    }

    static let boxes = ["rs:fit", "rs:fill", "rs:fill:::1", "rs:fill-down", "rs:fit/dpr:2", "rs:auto"]
    static let sizesInBox: [(PixelSize, [String])] = [
        (PixelSize(width: 1920, height: 1280), ["300x200", "300x200", "300x200", "300x200", "600x400", "300x200"]),
        (PixelSize(width: 200, height: 100), ["200x100", "200x100", "300x200", "150x100", "200x100", "200x100"]),
        (PixelSize(width: 100, height: 300), ["67x200", "100x200", "300x200", "100x67", "100x300", "67x200"]),
        (PixelSize(width: 299, height: 200), ["299x200", "299x200", "300x200", "299x199", "299x200", "299x200"]),
    ]

    @Test("Sources of four shapes fit a box of 300×200 as they should", arguments: sizesInBox)
    func inBox(source: PixelSize, expected: [String]) throws {
        for (box, expected) in zip(Self.boxes, expected) {
            let geometry = ImageGeometry(source: source, plan: try plan(box + "/s:300:200"))
            #expect("\(geometry.size.width)x\(geometry.size.height)" == expected, "\(box)")
        }
    }

    private func geometry(_ options: String, width: Int = 1000, height: Int = 600) throws -> ImageGeometry {
        ImageGeometry(source: PixelSize(width: width, height: height), plan: try plan(options))
    }

    private func rect(_ x: Int, _ y: Int, _ width: Int, _ height: Int) -> ImageGeometry.Part {
        .rect(PixelRect(origin: PixelPoint(x: x, y: y), size: PixelSize(width: width, height: height)))
    }

    @Test("A crop lies where its gravity says, otherwise where the plan's does")
    func crop() throws {
        #expect(try geometry("c:400:200").crop == rect(300, 200, 400, 200))
        #expect(try geometry("c:0.5:0:no").crop == rect(250, 0, 500, 600))
        #expect(try geometry("c:400:200/g:soea").crop == rect(600, 400, 400, 200))
        #expect(try geometry("c:400:200:nowe:10:0.1/g:soea").crop == rect(10, 60, 400, 200))
        #expect(try geometry("c:400:200:soea:10:20").crop == rect(590, 380, 400, 200))
        #expect(try geometry("c:400:200:fp:0.9:0.5").crop == rect(600, 200, 400, 200))
        #expect(try geometry("c:400:200:sm").crop == .smart(PixelSize(width: 400, height: 200)))
        #expect(try geometry("c:4000:0.0001").crop == rect(0, 300, 1000, 1))
        #expect(try geometry("c:4000:4000").crop == .all)
        #expect(try geometry("g:sm").crop == .all)
    }

    @Test("A quarter turn comes before the crop, and decoders are told where the crop was")
    func turnedCrop() throws {
        let plan = try plan("rot:90/c:100:200:nowe")
        let geometry = ImageGeometry(source: PixelSize(width: 1000, height: 600), plan: plan)
        #expect(geometry.crop == rect(0, 0, 100, 200))
        let turned = PixelSize(width: 600, height: 1000)
        let part = PixelRect(origin: PixelPoint(x: 0, y: 0), size: PixelSize(width: 100, height: 200))
        // What is at the top left after a turn clockwise was at the bottom left.
        let before = PixelRect(origin: PixelPoint(x: 0, y: 500), size: PixelSize(width: 200, height: 100))
        #expect(plan.turning.undone(for: part, in: turned) == before)
    }

    @Test(
        "Undoing rotations and flips finds each pixel again",
        arguments: [0, 90, 180, 270],
        ["0:0", "1:0", "0:1", "1:1"]
    )
    func undone(angle: Int, flips: String) throws {
        let turning = try plan("rot:\(angle)/fl:\(flips)").turning
        // The pixels of a source of 3×2, by number; turned one step after the other.
        var pixels = [[0, 1, 2], [3, 4, 5]]
        for _ in 0..<(angle / 90) {
            pixels = pixels[0].indices.map { column in pixels.reversed().map { $0[column] } }
        }
        if turning.flipsHorizontally { pixels = pixels.map { $0.reversed() } }
        if turning.flipsVertically { pixels.reverse() }
        let turned = PixelSize(width: pixels[0].count, height: pixels.count)
        for y in pixels.indices {
            for x in pixels[y].indices {
                let pixel = PixelRect(origin: PixelPoint(x: x, y: y), size: PixelSize(width: 1, height: 1))
                let before = turning.undone(for: pixel, in: turned)
                #expect(before.origin.y * 3 + before.origin.x == pixels[y][x])
            }
        }
    }

    @Test("What fill cuts off follows the gravity, with offsets in pixels of the result")
    func cut() throws {
        #expect(try geometry("rs:fill:200:200").scaled == PixelSize(width: 333, height: 200))
        #expect(try geometry("rs:fill:200:200/g:we").cut == rect(0, 0, 200, 200))
        #expect(try geometry("rs:fill:200:200/g:ea").cut == rect(133, 0, 200, 200))
        #expect(try geometry("rs:fill:200:200/dpr:2/g:we:10").cut == rect(20, 0, 400, 400))
        #expect(try geometry("rs:fill:200:200/g:we:999").cut == rect(133, 0, 200, 200))
        #expect(try geometry("rs:fill:200:200/g:sm").cut == .smart(PixelSize(width: 200, height: 200)))
        #expect(try geometry("rs:fit:200:200/g:sm").cut == .all)
    }

    @Test("In the middle an area has half of what is left, and of one more pixel, on its left")
    func centered() throws {
        for (free, left) in [0, 1, 2, 2, 2, 3, 4, 4, 4, 5, 6, 6, 6].enumerated() {
            let crop = try geometry("c:\(51 - free):10", width: 51, height: 10).crop
            #expect(crop == (free == 0 ? .all : rect(left, 0, 51 - free, 10)), "\(free)")
            let extended = try geometry("rs:fit:\(51 + free):10:0:1", width: 51, height: 10)
            #expect(extended.position == PixelPoint(x: left, y: 0), "\(free)")
        }
    }

    @Test("A crop's middle and focus are rounded in the image as it is stored", arguments: 1...8)
    func storedMiddle(orientation: Int) throws {
        // Of 41 pixels 10 are cut off at the top left, and of 5 left over, 3 at the beginning.
        let mirrored: [(x: Bool, y: Bool)] = [
            (false, false), (true, false), (true, true), (false, true), (false, false), (true, false), (true, true),
            (false, true),
        ]
        func crop(_ options: String) throws -> ImageGeometry.Part {
            let source = PixelSize(width: 41, height: 41)
            return ImageGeometry(source: source, orientation: orientation, plan: try plan(options)).crop
        }
        let (x, y) = mirrored[orientation - 1]
        #expect(try crop("c:36:36") == rect(x ? 2 : 3, y ? 2 : 3, 36, 36))
        #expect(try crop("c:36:36/fl:1") == rect(x ? 3 : 2, y ? 2 : 3, 36, 36))
        #expect(try crop("c:36:36/rot:180") == rect(x ? 3 : 2, y ? 3 : 2, 36, 36))
        #expect(try crop("c:36:36/ar:0") == rect(3, 3, 36, 36))
        #expect(try crop("c:20:20:fp:0.5:0.5/ar:0") == rect(10, 10, 20, 20))
        #expect(try crop("c:20:20:fp:0.5:0.5") == rect(x ? 11 : 10, y ? 11 : 10, 20, 20))
        #expect(try crop("c:20:20:nowe") == rect(0, 0, 20, 20))
        #expect(try crop("c:20:20:soea:1:2") == rect(20, 19, 20, 20))
    }

    @Test("Canvases have the size or the proportions asked for, and the image lies where they say")
    func canvas() throws {
        let extended = try geometry("rs:fit:300:300:0:1:no")
        #expect(extended.canvas == PixelSize(width: 300, height: 300))
        #expect(extended.position == PixelPoint(x: 0, y: 0))
        #expect(try geometry("rs:fit:300:300:0:1").position == PixelPoint(x: 0, y: 60))
        #expect(try geometry("rs:fit:300:300/exar:1:so").position == PixelPoint(x: 0, y: 120))
        #expect(try geometry("rs:fit:300:300:0:1/pd:10").size == PixelSize(width: 320, height: 320))
    }

    @Test("The pixel ratio is lowered to what the source has, with the paddings, unless it may be enlarged")
    func pixelRatio() throws {
        #expect(try geometry("rs:fit:500:300/dpr:4/pd:10").dpr == 2)
        #expect(try geometry("rs:fit:500:300/dpr:4/pd:10").size == PixelSize(width: 1040, height: 640))
        #expect(try geometry("rs:fit:500:300:1/dpr:4/pd:10").size == PixelSize(width: 2080, height: 1280))
        #expect(try geometry("rs:fit:500:300/dpr:0.5").size == PixelSize(width: 250, height: 150))
    }

    @Test("Zoom multiplies the size, least sizes raise it, force keeps no proportions")
    func otherSizes() throws {
        #expect(try geometry("w:100/z:2").size == PixelSize(width: 200, height: 120))
        #expect(try geometry("mh:1200").size == PixelSize(width: 2000, height: 1200))
        #expect(try geometry("h:60/mw:200").scaled == PixelSize(width: 200, height: 120))
        // The side that is given still cuts.
        #expect(try geometry("h:60/mw:200").size == PixelSize(width: 200, height: 60))
        #expect(try geometry("rs:force:100:300").size == PixelSize(width: 100, height: 300))
        #expect(try geometry("rs:force:100:300/z:2:0.5").size == PixelSize(width: 200, height: 150))
    }

    @Test("The URL's limit comes before the server's")
    func limit() throws {
        let allowing = settings { $0.allowsSecurityOptions = true }
        let source = PixelSize(width: 1000, height: 600)
        let limited = try plan("mrd:50", settings: allowing)
        #expect(ImageGeometry(source: source, plan: limited, resultLimit: 500).size == PixelSize(width: 50, height: 30))
        let unlimited = try plan("mrd:0", settings: allowing)
        #expect(ImageGeometry(source: source, plan: unlimited, resultLimit: 500).size == source)
    }

    @Test("A result is within what its format holds, whatever is added around it, and little smaller than that")
    func formatLimit() throws {
        let limit = FormatLimit(side: 100, pixelCount: 6000)
        let sources = [(640, 427), (200, 301), (33, 7), (1, 1), (100, 61), (4, 16_384), (20_000, 20_000)]
        let plans = ["w:0", "rs:fill:300:200:1", "pd:7:5:3:1", "rs:fit:90:90:0:1/pd:8", "rs:fill:80:20/exar:1/dpr:3"]
        for options in plans {
            for (width, height) in sources {
                let source = PixelSize(width: width, height: height)
                let wanted = ImageGeometry(source: source, plan: try plan(options))
                let fitted = ImageGeometry(source: source, plan: try plan(options), formatLimit: limit)
                #expect(limit.holds(fitted.size) && fitted.isFittedToFormat == !limit.holds(wanted.size))
                guard fitted.isFittedToFormat else {
                    #expect(fitted == wanted)
                    continue
                }
                #expect(fitted.size.longerSide > 95 || fitted.size.width * fitted.size.height > 5500, "\(options)")
            }
        }
        let tall = ImageGeometry(
            source: PixelSize(width: 4, height: 16_384),
            plan: try plan("w:0"),
            formatLimit: FormatLimit(side: 16_383, pixelCount: .max)
        )
        #expect(tall.size == PixelSize(width: 4, height: 16_383))
    }

    @Test(
        "Numbers of any size give a size of at least a pixel",
        arguments: [
            "w:\(Int.max)/el:1", "s:\(Int.max):1:1:1/dpr:1000/z:1000", "w:1/h:\(Int.max)/exar:1", "mw:\(Int.max)",
            "rs:fill-down:1:\(Int.max)", "dpr:1e-300/w:10", "z:1e-300/w:10", "pd:\(Int.max)/dpr:1000/el:1",
            "c:1e300:1e-300:we:1e300:-1e300", "rs:force:1:1/dpr:1e-9", "rs:fill:3:\(Int.max):0:1:so:-1e300",
        ],
        [PixelSize(width: 1, height: 1), PixelSize(width: 65_000, height: 1), PixelSize(width: 0, height: 0)]
    )
    func extremes(options: String, source: PixelSize) throws {
        let geometry = ImageGeometry(source: source, plan: try plan(options))
        #expect(geometry.size.width >= 1 && geometry.size.height >= 1)
        #expect(geometry.scaled.width >= 1 && geometry.scaled.height >= 1)
    }
}
