// Checks widgets on GLib's main loop, which a test process cannot run: its main thread belongs to the tests. Prints a
// line for each check; KingfisherGTKTests reads them.

#if canImport(CKFGTK4)
import CKFGTK4
import Foundation
import Kingfisher
import KingfisherGTK

/// One check: its name and its code.
struct Check {
    let name: String
    let body: @MainActor (Stage) async throws -> Void
}

@main
@MainActor
struct Checks {
    static let all: [Check] = [
        drawingChecks, loadChecks, animationChecks, lifetimeChecks, windowChecks, loopChecks, paintableChecks,
        contentChecks, zoomChecks, reductionChecks, listChecks, layoutChecks, memoryChecks, pointerChecks,
    ].flatMap { $0 }

    /// The check that comes to an end with the main loop.
    static let last = "lastWindow"

    /// Runs the checks that are named, or all of them.
    ///
    /// `--list` names them. `--accessible` prints what a screen reader finds in a window; behind it there may be a name
    /// for the program. `--accessible-program` does so for another program. `--application` quits while windows are
    /// open.
    static func main() throws {
        let names = CommandLine.arguments.dropFirst()
        if names.first == "--list" { return print((all.map(\.name) + [last]).joined(separator: "\n")) }
        if names.first == "--accessible-program", let line = names.dropFirst().first {
            return try AccessibleProgram.run(names.dropFirst(2), until: line)
        }
        if names.first == "--accessible", let name = names.dropFirst().first { g_set_prgname(name) }
        do { try KFGTK.initialize() } catch {
            FileHandle.standardError.write(Data("\(error)\n".utf8))
            exit(3)
        }
        if names.first == "--accessible" { return AccessibleWindow.run() }
        if names.first == "--application" { return QuitApplication.run() }
        Task { @MainActor in
            for check in all where names.isEmpty || names.contains(check.name) { await run(check) }
            let window = KFWindow(title: last, content: KFCrossPlatformView())
            window.present()
            window.close()
        }
        KFMainLoop.run()
        print("\(last): ok")
    }

    private static func run(_ check: Check) async {
        let stage = Stage()
        do { try await check.body(stage) } catch { stage.failures.append("\(error)") }
        stage.close()
        let outcome = stage.failures.isEmpty ? "ok" : "failed: " + stage.failures.joined(separator: "; ")
        print("\(check.name): \(outcome.replacingOccurrences(of: "\n", with: " "))")
        fflush(nil)
    }
}
#else
import Foundation

/// Says what is missing.
@main
struct Checks {
    static func main() {
        let text =
            "kf-widget-checks: GTK 4 was missing when this was built: install libgtk-4-dev and build again, from clean\n"
        FileHandle.standardError.write(Data(text.utf8))
        exit(EXIT_FAILURE)
    }
}
#endif
