// Runs kf-desktop on folders and files of the disk, on a display that exists in memory only.

import Foundation
import KFImaging
import KFSupport
import Testing

@Suite struct DesktopTests {
    /// A folder that is removed with this object.
    private final class Folder {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("kf-\(UUID().uuidString)")

        init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }

        deinit { try? FileManager.default.removeItem(at: url) }

        func write(_ data: Data, _ path: String) throws {
            let file = url.appendingPathComponent(path)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try data.write(to: file)
        }
    }

    private let screenshots: Folder
    private let images: Folder

    init() throws { (screenshots, images) = (try Folder(), try Folder()) }

    private func plain(_ color: UInt32) throws -> Data {
        let bitmap = Bitmap(width: 120, height: 90, hasAlpha: false) { buffer, _ in
            buffer.bindMemory(to: UInt32.self).update(repeating: 0xFF00_0000 | color)
        }
        return try #require(Image(cgImage: bitmap).pngData())
    }

    private func run(_ arguments: [String]) async throws -> Program.Run {
        try await Program.run(
            "kf-desktop",
            arguments,
            environment: ["XDG_CACHE_HOME": screenshots.url.path, "GDK_SCALE": "1"]
        )
    }

    /// The colours of an image, and how many pixels have each.
    private func colors(of file: URL) throws -> [UInt32: Int] {
        let image = try #require(Image(data: try Data(contentsOf: file)))
        let bitmap = try #require(image.cgImage)
        var counts: [UInt32: Int] = [:]
        bitmap.withUnsafeBytes { buffer in
            for y in 0..<bitmap.height {
                for x in 0..<bitmap.width {
                    let pixel = buffer.loadUnaligned(fromByteOffset: y * bitmap.bytesPerRow + x * 4, as: UInt32.self)
                    counts[pixel & 0xFFFFFF, default: 0] += 1
                }
            }
        }
        return counts
    }

    @Test("The images of a folder and of the folders in it are shown; files that cannot be decoded do no harm")
    func folder() async throws {
        try images.write(try plain(0x12C8A5), "one.png")
        try images.write(try plain(0xC83214), "inside/two.png")
        try images.write(Data("not an image".utf8), "broken.jpg")
        try images.write(Data("a text".utf8), "notes.txt")
        try FileManager.default.createSymbolicLink(
            atPath: images.url.appendingPathComponent("gone.png").path,
            withDestinationPath: "/nowhere"
        )
        let file = screenshots.url.appendingPathComponent("window.png")
        let run = try await run([images.url.path, "--screenshot", file.path])
        #expect(run.status == 0, "\(run.output)")
        let counts = try colors(of: file)
        #expect(counts[0x12C8A5, default: 0] > 10_000 && counts[0xC83214, default: 0] > 10_000)
        // The labels of the two that failed; the text is not among the images.
        #expect(counts[0x8A8A8A, default: 0] > 200)
    }

    @Test("A folder without images is said to be one") func emptyFolder() async throws {
        let run = try await run([images.url.path])
        #expect(run.status == 1 && run.output.contains("There are no images in \(images.url.path)"), "\(run.output)")
    }

    @Test("The detail of one of several files is shown") func files() async throws {
        try images.write(try plain(0x12C8A5), "one.png")
        let file = screenshots.url.appendingPathComponent("window.png")
        let path = images.url.appendingPathComponent("one.png").path
        let run = try await run([path, path + ".missing", "--open", "1", "--screenshot", file.path])
        #expect(run.status == 0, "\(run.output)")
        #expect(try colors(of: file)[0x12C8A5, default: 0] > 5_000)
    }
}
