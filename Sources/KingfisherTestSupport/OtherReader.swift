// Other programs that read images, for tests of what the encoders write.

public import Foundation

/// Pillow, and avifdec for AVIF, which Pillow reads in its newest versions only.
@_spi(Server) public enum OtherReader {
    /// What another program sees in an image.
    public struct Sight: Sendable {
        /// Width and height of the image in pixels; of an icon, those of the largest one.
        public let size: [Int]
        /// The number of frames, all of which can be decoded.
        public let frameCount: Int
        /// Red, green and blue of the first pixel and of the last one.
        public let colors: [[Int]]
    }

    /// What to do where the programs are missing.
    public static let advice = "Pillow or avifdec is missing; Scripts/install-dependencies desktop installs them"

    /// Whether both are installed, which the first question finds out by starting them.
    public static let isInstalled =
        python != nil && (try? output(of: "avifdec", ["--version"])) != nil

    /// Reads files of one format.
    ///
    /// This blocks until the program has ended.
    ///
    /// - Parameters:
    ///   - images: The files.
    ///   - fileExtension: The extension of their names.
    /// - Returns: What was seen in each.
    /// - Throws: An error when there is one that is not read in whole, or no program.
    public static func read(_ images: [Data], fileExtension: String) throws -> [Sight] {
        let folder = FileManager.default.temporaryDirectory.appending(path: "kf-seen-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let paths = try images.enumerated().map { index, data in
            let url = folder.appending(path: "\(index).\(fileExtension)")
            try data.write(to: url)
            return url.path
        }
        let text = try output(of: python ?? "/usr/bin/python3", ["-c", program] + paths)
        let lines = text.split(separator: "\n").map { $0.split(separator: " ").compactMap { Int($0) } }
        guard lines.count == images.count, lines.allSatisfy({ $0.count == 9 }) else { throw Failed(words: text) }
        return lines.map { line in
            Sight(
                size: Array(line[0..<2]),
                frameCount: line[2],
                colors: [Array(line[3..<6]), Array(line[6..<9])]
            )
        }
    }

    private struct Failed: Error {
        let words: String
    }

    /// The first interpreter that has Pillow: the one in `PATH`, or the system's.
    private static let python = ["python3", "/usr/bin/python3"].first { program in
        (try? output(of: program, ["-c", "import PIL"])) != nil
    }

    private static let program = """
        import subprocess, sys
        from PIL import Image
        Image.MAX_IMAGE_PIXELS = None
        for path in sys.argv[1:]:
            count = 0
            if path.endswith(".avif"):
                run = lambda *words: subprocess.run(["avifdec", *words], check=True, capture_output=True, text=True)
                count = run("--info", path).stdout.count("Decoded frame")
                run(path, path + ".png")
                path += ".png"
            with Image.open(path) as image:
                for index in reversed(range(getattr(image, "n_frames", 1))):
                    image.seek(index)
                    image.load()
                    count = max(count, index + 1)
                rgb = image.convert("RGB")
                last = (image.width - 1, image.height - 1)
                print(image.width, image.height, count, *rgb.getpixel((0, 0)), *rgb.getpixel(last))
        """

    /// What a program prints, once it has ended.
    private static func output(of program: String, _ arguments: [String]) throws -> String {
        let (process, output, errors) = (Process(), Pipe(), Pipe())
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [program] + arguments
        (process.standardOutput, process.standardError) = (output, errors)
        try process.run()
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        let words = String(decoding: try errors.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failed(words: words) }
        return text
    }
}
