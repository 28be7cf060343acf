// Whole programs: the tool `kf` against vipsthumbnail, Pillow and gifsicle. Compares their command lines and the files
// they write.

import Foundation
import Kingfisher

let programBenchmarks = [
    Benchmark(name: "200 photos of 1–4 megapixels → 300 px WebP, against vipsthumbnail") {
        try await againstVipsthumbnail()
    },
    Benchmark(name: "200 photos of 1–4 megapixels → 300 px WebP, against Pillow") { try await againstPillow() },
    Benchmark(name: "GIF 100 frames 500×400 → 200 px GIF, against Pillow") {
        let folder = try TemporaryFolder()
        let film = try SmallFilm(in: folder.url)
        var pairs: [(ours: Double, theirs: Double)] = []
        for _ in 0..<5 { pairs.append((try await seconds(.wall, film.shrink), try film.secondsOfPillow())) }
        return Figure(Comparison(pairs), .faster(2), try film.similarity())
    },
    Benchmark(name: "GIF 100 frames 500×400 → 200 px GIF, size, against gifsicle") {
        let folder = try TemporaryFolder()
        let film = try SmallFilm(in: folder.url)
        try film.shrink()
        return Figure(.bytes(try film.size("ours.gif")), baseline: .bytes(try film.sizeByGifsicle()), .atMostTimes(1.2))
    },
    Benchmark(name: "kf, stripped: size") {
        let folder = try TemporaryFolder()
        let copy = folder.url.appendingPathComponent("kf")
        try Program.run(["strip", "-o", copy.path, try Program.kf()])
        return Figure(.bytes(Double(try Data(contentsOf: copy).count)), .atMost(.bytes(9e6)))
    },
]

/// Two hundred photos in a folder: a dozen different ones of odd sizes, each under many names.
private struct Album {
    static let names = (0..<200).map { String(format: "photo-%03d", $0) }
    private static let distinct = 12
    let folder = try? TemporaryFolder()
    let path: String

    init() throws {
        guard let folder else { throw BenchmarkError("no folder can be made") }
        path = folder.url.path
        for number in 0..<Self.distinct {
            // 1203 × 902 pixels to 2303 × 1727 pixels.
            let width = 1203 + number * 100
            let data = try SampleImages.jpeg(width: width, height: width * 3 / 4)
            for place in stride(from: number, to: Self.names.count, by: Self.distinct) {
                try data.write(to: folder.url.appendingPathComponent(Self.names[place] + ".jpg"))
            }
        }
        for name in ["ours", "vips", "pillow"] {
            try FileManager.default.createDirectory(
                at: folder.url.appendingPathComponent(name),
                withIntermediateDirectories: true
            )
        }
    }

    /// The photos' files, or a part of them.
    func files(_ part: Range<Int> = 0..<200) -> [String] { part.map { "\(path)/\(Self.names[$0]).jpg" } }

    func shrinkByUs() throws {
        let pipeline = ["--process", "thumbnail(300x300)", "--format", "webp", "--quality", "0.75"]
        try Program.run([try Program.kf(), "process"] + files() + ["-o", "\(path)/ours/"] + pipeline)
    }

    /// The similarity of the results in a folder, the loss of WebP included: the mean of the different photos.
    func similarity(_ folder: String) throws -> Double {
        let all = try (0..<Self.distinct).map { number in
            let name = Self.names[number]
            let small = try Data(contentsOf: URL(fileURLWithPath: "\(path)/\(folder)/\(name).webp"))
            let whole = try Data(contentsOf: URL(fileURLWithPath: "\(path)/\(name).jpg"))
            guard let image = Image(data: small) else {
                throw BenchmarkError("\(folder)/\(name).webp cannot be decoded")
            }
            let result = try ExactImage(image)
            return try ExactImage(jpeg: whole).reduced(to: result.width, result.height).similarity(of: result)
        }
        return all.reduce(0, +) / Double(all.count)
    }
}

/// Two processes, one for each half of the photos, to use both cores.
@Sendable private func againstVipsthumbnail() async throws -> Figure {
    let album = try Album()
    let halves = [album.files(0..<100), album.files(100..<200)].map { files in
        ["vipsthumbnail"] + files + ["-s", "300", "-o", "\(album.path)/vips/%s.webp[Q=75]"]
    }
    var pairs: [(ours: Double, theirs: Double)] = []
    for _ in 0..<3 {
        let ours = try await seconds(.wall, album.shrinkByUs)
        pairs.append((ours, try await seconds(.wall) { try Program.runTogether(halves) }))
    }
    let similarity = Similarity(ours: try album.similarity("ours"), baseline: try album.similarity("vips"))
    return Figure(Comparison(pairs), .faster(1.3), similarity)
}

@Sendable private func againstPillow() async throws -> Figure {
    let album = try Album()
    let script = """
        import os, sys
        from PIL import Image
        for path in sys.argv[2:]:
            image = Image.open(path)
            image.thumbnail((300, 300))
            name = os.path.splitext(os.path.basename(path))[0]
            image.save(os.path.join(sys.argv[1], name + ".webp"), quality=75)
        """
    let halves = [album.files(0..<100), album.files(100..<200)].map { files in
        Python.command + ["-c", script, "\(album.path)/pillow"] + files
    }
    var pairs: [(ours: Double, theirs: Double)] = []
    for _ in 0..<3 {
        let ours = try await seconds(.wall, album.shrinkByUs)
        pairs.append((ours, try await seconds(.wall) { try Program.runTogether(halves) }))
    }
    let similarity = Similarity(ours: try album.similarity("ours"), baseline: try album.similarity("pillow"))
    return Figure(Comparison(pairs), .faster(1.2), similarity)
}

/// A film of a hundred frames that is made small.
private struct SmallFilm {
    private let folder: String

    init(in folder: URL) throws {
        self.folder = folder.path
        _ = try Python.output(of: Film.maker, "\(self.folder)/film.gif")
    }

    /// The time of the whole program, its start included.
    func shrink() throws {
        try Program.run(
            [
                try Program.kf(), "process", "\(folder)/film.gif", "-o", "\(folder)/ours.gif", "--process",
                "resize(200x)",
            ]
        )
    }

    /// The time of the work alone.
    func secondsOfPillow() throws -> Double {
        let script = """
            import sys, time
            from PIL import Image, ImageSequence
            start = time.perf_counter()
            film = Image.open(sys.argv[1] + "/film.gif")
            frames = [frame.convert("RGB").resize((200, 160), Image.LANCZOS) for frame in ImageSequence.Iterator(film)]
            frames[0].save(sys.argv[1] + "/pillow.gif", save_all=True, append_images=frames[1:], duration=40, loop=0)
            print(time.perf_counter() - start)
            """
        guard let seconds = Double(try Python.output(of: script, folder)) else { throw BenchmarkError("Pillow fails") }
        return seconds
    }

    func sizeByGifsicle() throws -> Double {
        try Program.run(["gifsicle", "--resize-width", "200", "\(folder)/film.gif", "-o", "\(folder)/gifsicle.gif"])
        return try size("gifsicle.gif")
    }

    /// The size of a file, in bytes.
    func size(_ name: String) throws -> Double {
        Double(try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(name)")).count)
    }

    /// The similarity of some of our frames and of Pillow's, the loss of colours included.
    func similarity() throws -> Similarity {
        let whole = try frames("film.gif")
        func mean(_ name: String) throws -> Double {
            let small = try frames(name)
            let all = try [0, 17, 42, 99].map { index in
                guard let frame = small.frame(at: index), let source = whole.frame(at: index) else {
                    throw BenchmarkError("frame \(index) of \(name) is missing")
                }
                let exact = try ExactImage(Image(cgImage: source)).reduced(to: frame.width, frame.height)
                return try exact.similarity(of: ExactImage(Image(cgImage: frame)))
            }
            return all.reduce(0, +) / Double(all.count)
        }
        return Similarity(ours: try mean("ours.gif"), baseline: try mean("pillow.gif"))
    }

    private func frames(_ name: String) throws -> any ImageFrameSource {
        let data = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(name)"))
        let image = KingfisherWrapper<Image>.animatedImage(data: data, options: ImageCreatingOptions())
        guard let source = image?.kf.frameSource else { throw BenchmarkError("\(name) is no animation") }
        return source
    }
}

/// Programs that are run and have to succeed.
enum Program {
    /// The tool, which lies beside this program.
    static func kf() throws -> String {
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let path = URL(fileURLWithPath: own).deletingLastPathComponent().appendingPathComponent("kf").path
        try BenchmarkError.unless(
            FileManager.default.isExecutableFile(atPath: path),
            "\(path) is missing; use `make bench`"
        )
        return path
    }

    static func run(_ command: [String]) throws { try runTogether([command]) }

    static func runTogether(_ commands: [[String]]) throws {
        let processes = try commands.map { command in
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = command
            process.standardOutput = FileHandle.nullDevice
            try process.run()
            return process
        }
        for (process, command) in zip(processes, commands) {
            process.waitUntilExit()
            try BenchmarkError.unless(
                process.terminationStatus == 0,
                "\(command[0]) is missing or fails (make bench installs it)"
            )
        }
    }
}

extension Comparison {
    /// Medians of pairs of times, each measured right after the other.
    init(_ pairs: [(ours: Double, theirs: Double)]) {
        self.init(
            ours: median(pairs.map(\.ours)),
            baseline: median(pairs.map(\.theirs)),
            ratio: median(pairs.map { $0.ours / $0.theirs })
        )
    }
}
