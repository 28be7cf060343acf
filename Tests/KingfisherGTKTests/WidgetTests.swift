// Runs the checks of widgets in a process of its own, on a display that exists in memory only.

import Foundation
import KFImaging
import KingfisherTestSupport
import Testing

@Suite(.tags(.processes)) struct WidgetTests {
    @Test(
        "Widgets draw, load, animate and disappear as their views say, also on a screen with two pixels a point",
        arguments: CheckRun.names,
        [1, 2]
    )
    func widgets(name: String, scale: Int) async throws {
        let run = try await CheckRun.shared(scale: scale)
        #expect(run.outcomes[name] == "ok", "\(name): \(run.outcomes[name] ?? "did not come to an end\n\(run.output)")")
    }

    @Test("Every check is among the tests") func names() async throws {
        let run = try await Program.run("kf-widget-checks", ["--list"], display: .none)
        #expect(run.output.split(separator: "\n").map(String.init) == CheckRun.names)
    }

    @Test("Without a display, initialising fails with advice") func noDisplay() async throws {
        let run = try await Program.run("kf-widget-checks", [], display: .none)
        #expect(run.status == 3)
        #expect(run.output.contains("There is no display") && run.output.contains("xvfb-run"))
    }

    @Test("A screen reader finds the names of images and of the cells they are in, and no decorative ones")
    func screenReader() async throws {
        let run = try await Program.run("kf-widget-checks", ["--accessible"], bus: true)
        let lines = run.output.split(separator: "\n").map(String.init)
        #expect(lines.contains("image: a cat") && lines.contains("button: a bird"), "\(run.output)")
        #expect(lines.contains { $0.hasSuffix(": row 0") && !$0.hasPrefix("image") }, "\(run.output)")
        #expect(lines.contains("image: row 1"), "\(run.output)")
        #expect(lines.filter { $0.hasPrefix("image: ") } == ["image: a cat", "image: row 0", "image: row 1"])
        #expect(lines.contains("application: kf-widget-checks"), "\(run.output)")
    }

    @Test("A name that the program has chosen is the one a screen reader finds") func chosenName() async throws {
        let run = try await Program.run("kf-widget-checks", ["--accessible", "Gallery"], bus: true)
        #expect(run.output.split(separator: "\n").contains("application: Gallery"), "\(run.output)")
    }

    @Test("An application may quit while its windows are open, and windows it closes then leave nothing")
    func quitApplication() async throws {
        let run = try await Program.run("kf-widget-checks", ["--application"])
        #expect(run.status == 0 && run.output.hasSuffix("status 0, 3 views were open, 0 are left\n"), "\(run.output)")
    }

    @Test("The examples of the documentation have at most 15 lines of code", arguments: ["Photo/main", "Grid/Grid"])
    func shortExamples(name: String) throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../..")
        let example = try String(contentsOf: root.appendingPathComponent("Examples/\(name).swift"), encoding: .utf8)
        // The lines between those that ask whether GTK is there.
        let lines = example.split(separator: "\n").dropFirst().prefix { $0 != "#else" }
        let code = lines.filter { !$0.hasPrefix("import ") && !$0.hasPrefix("//") }
        #expect((5...15).contains(code.count))
    }

    @Test(
        "The documentation's example says what is missing, an address or a display, and ends",
        arguments: [true, false]
    )
    func exampleWithoutMeans(hasDisplay: Bool) async throws {
        let arguments = hasDisplay ? [] : ["https://example.com/cat.jpg"]
        let run = try await Program.run("gtk-example-photo", arguments, display: hasDisplay ? .ordinary : .none)
        #expect(run.status == 1 && run.output.contains(hasDisplay ? "Give the address" : "There is no display"))
        #expect(!run.output.contains("Fatal error"))
    }

    @Test("The documentation's example shows an image") func example() async throws {
        let server = try await TestServer.start()
        let bitmap = Bitmap(width: 100, height: 100, hasAlpha: false) { buffer, _ in
            buffer.bindMemory(to: UInt32.self).update(repeating: 0xFF12_C8A5)
        }
        server.route("/photo.png", .data(try #require(Image(cgImage: bitmap).pngData())))
        let screen = try Screen("gtk-example-photo", [server.url("/photo.png").absoluteString])
        let isShown = try await screen.shows(0x12C8A5, atX: 512, y: 300)
        screen.end()
        await server.stop()
        #expect(isShown)
    }
}

/// One run of all checks.
struct CheckRun: Sendable {
    let output: String
    let outcomes: [String: String]

    static let names = [
        "pictureFillsItsView", "contentModes", "imageLargerThanItsView", "orientations", "sizeInPoints", "transitions",
        "reducedMotion", "buttonStates", "indicators", "accessibleNames", "spinnersAsPlaceholders", "viewPlaceholder",
        "loadsFromNetworkMemoryAndDisk", "rapidRetargets", "imageSizedToItsView", "brokenPicture", "declaredImage",
        "hiddenAndUnparentedViews", "loadsThatReturn", "closedWindowEndsLoads",
        "framesAtTheirTimes", "ticksOnlyInView", "sleepsOutOfView", "inPhase", "animationsWithoutMotion",
        "stopsWhenUnmapped", "widgetKeepsItsView", "viewKeepsItsWidget",
        "closedWindow", "oneOfTwoWindows", "signals", "destroyedInMidLoad", "window-closed", "window-destroyed",
        "window-destroyedWithParent", "window-closedWithParent", "window-closedByUser", "window-neverShown",
        "redrawsAmongManyJobs", "mainQueueIsServed",
        "texturesAndImages", "paintables", "paintableAnimations", "paintableLoads", "releasedPaintable", "copiesPixels",
        "copiesOriginals", "copiesZoomed", "dragsImages", "zoomOfLongestImages", "zoomModes", "zoomKeepsPoint",
        "zoomLoadsMore", "zoomKeys",
        "zoomPointer", "zoomClosed", "zonePlate", "longestImages",
        "listLoadsWhatIsVisible", "listLoadsVisibleFirst", "listCancelsOnUnbind",
        "listCancelsOutOfView", "listRetriesFailedImages", "listReusesViews", "listShortenedWhileLoading",
        "listSizedToView", "listOfViewsWithoutSize", "listPlaceholdersInSight", "listInClosedWindow",
        "listOfCellsWithMore", "documentedGrid", "bindToListItem",
        "gridWithoutShifts", "sidebarWithoutShifts", "limitOfDefaultCache", "freedPixelsGoBack",
        "properties", "signalArguments", "signalResults", "namesOfWidgets",
        "lastWindow",
    ]

    private static let runs = [1, 2].map { scale in
        Task { () async throws -> CheckRun in
            let run = try await Program.run("kf-widget-checks", [], environment: ["GDK_SCALE": "\(scale)"])
            let pairs = run.output.split(separator: "\n").compactMap { line -> (String, String)? in
                let parts = line.split(separator: ":", maxSplits: 1)
                return parts.count == 2 ? (String(parts[0]), parts[1].trimmingCharacters(in: .whitespaces)) : nil
            }
            return CheckRun(output: run.output, outcomes: Dictionary(pairs, uniquingKeysWith: { $1 }))
        }
    }

    static func shared(scale: Int) async throws -> CheckRun { try await runs[scale - 1].value }
}
