// Presses the keys of kf-desktop, on a display that exists in memory only.

import Foundation
import KFImaging
import Testing

@Suite(.tags(.processes)) final class DesktopKeyTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("kf-\(UUID().uuidString)")
    private static let colors: [UInt32] = [0x12C8A5, 0xC83214, 0x3232C8]

    /// Three images that are wider than the screen, in this order, and a file that is none.
    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for (number, color) in Self.colors.enumerated() {
            let bitmap = Bitmap(width: 1600, height: 800, hasAlpha: false) { buffer, _ in
                buffer.bindMemory(to: UInt32.self).update(repeating: 0xFF00_0000 | color)
            }
            let data = try #require(Image(cgImage: bitmap).pngData())
            try data.write(to: folder.appendingPathComponent("\(number + 1).png"))
        }
        try Data("not an image".utf8).write(to: folder.appendingPathComponent("4.png"))
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func start(_ arguments: String...) throws -> Screen {
        try Screen(
            "kf-desktop",
            [folder.path] + arguments,
            environment: ["XDG_CACHE_HOME": folder.appendingPathComponent(".cache").path, "GDK_SCALE": "1"]
        )
    }

    /// Whether one image alone is shown.
    private func shows(_ number: Int, on screen: Screen) async throws -> Bool {
        try await screen.shows(Self.colors[number - 1], atX: 400, y: 330)
    }

    @Test("Keys go to the next image and to the one before, to the first and the last, wherever the focus is")
    func moving() async throws {
        let screen = try start("--open", "1")
        defer { screen.end() }
        try #require(try await shows(1, on: screen))
        for (keys, number) in [
            (["Right"], 2), (["Page_Down"], 3), (["Home"], 1), (["End", "Left"], 3), (["Page_Up"], 2),
            // Zoomed in, arrow keys would move the image.
            (["1", "Right"], 3),
            // The focus is on a button.
            (["Tab", "Left"], 2), (["Tab", "Tab", "Right"], 3),
        ] {
            for key in keys { screen.press(key) }
            #expect(try await shows(number, on: screen), "\(keys)")
        }
    }

    @Test("Full screen is entered from the image and from the grid; Escape leaves it, and then the image")
    func fullScreen() async throws {
        let screen = try start("--open", "2")
        defer { screen.end() }
        // Beside the image are its details.
        let isBeside = { (frame: Frame) in frame[1000, 330] != Self.colors[1] && frame[400, 330] == Self.colors[1] }
        #expect(try await screen.shows(isBeside))
        screen.press("F11")
        #expect(try await screen.shows(Self.colors[1], atX: 1000, y: 330), "the image is as wide as the screen")
        screen.press("Escape")
        #expect(try await screen.shows(isBeside), "the image is in its window again")
        screen.press("Escape")
        let isGrid = { (frame: Frame) in Self.colors.allSatisfy { frame.count($0) > 10_000 } }
        #expect(try await screen.shows { isGrid($0) && $0[100, 25] != Self.colors[0] })
        screen.press("F11")
        #expect(try await screen.shows { isGrid($0) && $0[100, 25] == Self.colors[0] }, "no bar is above the grid")
        screen.press("F11")
        #expect(try await screen.shows { isGrid($0) && $0[100, 25] != Self.colors[0] })
    }

    @Test("Keys zoom wherever the focus is, and move an image that is zoomed in") func zooming() async throws {
        let screen = try start("--open", "1")
        defer { screen.end() }
        let image = Self.colors[0]
        // All of it is lower than its place.
        #expect(try await screen.shows { $0[400, 330] == image && $0[400, 60] != image })
        screen.press("Tab", "1")
        #expect(try await screen.shows(image, atX: 400, y: 60))
        screen.press("minus", "minus", "minus", "minus")
        #expect(try await screen.shows { $0[400, 330] == image && $0[400, 60] != image })
        screen.press("plus", "plus", "plus", "plus")
        #expect(try await screen.shows(image, atX: 400, y: 60))
        screen.press("0")
        #expect(try await screen.shows { $0[400, 330] == image && $0[400, 60] != image })
    }

    @Test("Why an image cannot be shown is said in full screen, too") func brokenImage() async throws {
        let screen = try start("--open", "4")
        defer { screen.end() }
        #expect(try await screen.shows { $0.count(0xE0454D) > 300 })
        screen.press("F11")
        let isShown = try await screen.shows { frame in
            // The details beside the image are not there, so that its symbol is in the middle; the text is below it.
            let (columns, rows) = (400..<624, frame.rows(with: 0xE0454D, in: 490..<534))
            guard let bottom = rows.last, frame.runs(of: 0xE0454D, inRow: bottom - 2).count == 1 else { return false }
            return (bottom + 1..<bottom + 80).contains { y in columns.count { frame[$0, y] < 0x606060 } > 10 }
        }
        #expect(isShown)
    }
}
