// Images set on views: from memory, in a grid that is scrolled, animations in many views at once. Widgets are measured
// by `kf-bench-desktop`.

import Foundation
import Kingfisher
import Synchronization

let viewBenchmarks = [
    Benchmark(name: "setImage with a memory hit, main thread") { try await ViewHits.measure() },
    Benchmark(name: "GIF 100 frames 500×400 in 10 views: decodes of a frame in a loop, at most", isCounted: true) {
        let folder = try TemporaryFolder()
        return Figure(.count(try await ManyViews(in: folder.url).play().decodes), .exactly(1))
    },
    Benchmark(name: "GIF 100 frames 500×400 in 10 views: frames in memory", isCounted: true) {
        let folder = try TemporaryFolder()
        return Figure(.count(try await ManyViews(in: folder.url).play().alive), .atMost(.count(ManyViews.ahead + 2)))
    },
    Benchmark(name: "grid of 1,000 cells, scrolled: main-thread block, 99 of 100 are shorter") {
        Figure(.seconds(try Scrolling.run(["blocks"])[0]), .atMost(.seconds(4e-3)))
    },
    Benchmark(name: "grid of 1,000 cells, scrolled: longest main-thread block, beside that of empty cells") {
        let empty = try Scrolling.run(["blocks", "empty"])[1]
        return Figure(.seconds(try Scrolling.run(["blocks"])[1]), baseline: .seconds(empty), .atMost(.seconds(8e-3)))
    },
    Benchmark(name: "idle, animations out of sight: wake-ups of the main thread in 10 s, beside those in sight") {
        let visible = try Scrolling.run(["idle", "visible"])[0]
        return Figure(.count(Int(try Scrolling.run(["idle"])[0])), baseline: .count(Int(visible)), .exactly(0))
    },
    Benchmark(name: "memory after scrolling through 2,000 images, above a cache's limit of 50 MB") {
        Figure(.bytes(try Scrolling.run(["memory"])[0]), .atMost(.bytes(20e6)))
    },
    Benchmark(name: "grid of 2,000 network images of 50 to 200 ms, scrolled: visible cells that are blank") {
        let (factory, plain) = (try await NetworkScrolling.factory.value, try await NetworkScrolling.plain.value)
        return Figure(.fraction(factory[0]), baseline: .fraction(plain[0]), .atMost(.fraction(0.1)))
    },
    Benchmark(name: "grid of 2,000 network images: main-thread CPU of a frame, 99 of 100 take less") {
        let (factory, plain) = (try await NetworkScrolling.factory.value, try await NetworkScrolling.plain.value)
        return Figure(.seconds(factory[1]), baseline: .seconds(plain[1]), .atMost(.seconds(4e-3)))
    },
    Benchmark(name: "2,000 images of 1200×800 shown at 200×150, sizedToView: memory of the process") {
        Figure(.bytes(try NetworkScrolling.memory(limit: 0)), .atMost(.bytes(250e6)))
    },
    Benchmark(name: "2,000 images of 1200×800 shown at 200×150, sizedToView, cache of 100 MB: memory of the process") {
        Figure(.bytes(try NetworkScrolling.memory(limit: 100_000_000)), .atMost(.bytes(250e6)))
    },
    Benchmark(name: "folder of 1,000 JPEGs of 12 megapixels, first screen, cold, against kf process for as many") {
        try await PhotoFolder().firstScreen()
    },
]

/// `setImage` on one view, again and again, each time with another image that is in memory.
private enum ViewHits {
    @MainActor
    static func measure() async throws -> Figure {
        let folder = try TemporaryFolder()
        let cache = try ImageCache(name: "bench", cacheDirectoryURL: folder.url)
        let urls = (0..<1_000).compactMap { URL(string: "https://example.com/\($0).jpg") }
        for url in urls {
            let image = Image(cgImage: Bitmap(width: 1, height: 1) { _, _ in })
            cache.memoryStorage.store(value: image, forKey: url.absoluteString)
        }
        let view = KFCrossPlatformImageView()
        let options: KingfisherOptionsInfo = [.targetCache(cache)]
        var times: [Double] = []
        for _ in 0..<201 {
            var shown = 0
            let time = try await seconds(.thread) {
                for url in urls {
                    view.kf.setImage(with: url, options: options) { _ in }
                    shown += view.image == nil ? 0 : 1
                }
            }
            try BenchmarkError.unless(shown == urls.count, "the image was not there when setImage returned")
            times.append(time / Double(urls.count))
        }
        return Figure(.seconds(median(times)), .atMost(.seconds(5e-6)))
    }
}

/// Ten players of one animation, on the same clock.
private struct ManyViews {
    static let ahead = 10
    private let counter = Counter()
    private let image: KFCrossPlatformImage

    /// The decodes of each frame, and the frames in memory.
    final class Counter: Sendable {
        struct State {
            var decodes = [Int](repeating: 0, count: 100)
            var frames: [WeakBitmap] = []
            var most = 0
        }
        struct WeakBitmap { weak var bitmap: Bitmap? }
        let state = Mutex(State())
    }

    /// The film, with its decodes counted.
    private final class CountedSource: ImageFrameSource {
        let film: any ImageFrameSource
        let counter: Counter
        var data: Data? { nil }
        var frameCount: Int { film.frameCount }

        init(_ film: any ImageFrameSource, _ counter: Counter) { (self.film, self.counter) = (film, counter) }

        func frame(at index: Int, maxSize: CGSize?) -> Bitmap? {
            guard let bitmap = film.frame(at: index, maxSize: maxSize) else { return nil }
            counter.state.withLock { state in
                state.decodes[index] += 1
                state.frames.removeAll { $0.bitmap == nil }
                state.frames.append(Counter.WeakBitmap(bitmap: bitmap))
                state.most = max(state.most, state.frames.count)
            }
            return bitmap
        }
        func duration(at index: Int) -> TimeInterval { film.duration(at: index) }
        func copy() -> CountedSource { CountedSource(film.copy(), counter) }
    }

    init(in folder: URL) throws {
        let path = folder.appendingPathComponent("film.gif").path
        _ = try Python.output(of: Film.maker, path)
        let data = try Data(contentsOf: URL(fileURLWithPath: path))
        let options = ImageCreatingOptions()
        guard let film = KingfisherWrapper<Image>.animatedImage(data: data, options: options)?.kf.frameSource,
            let image = KingfisherWrapper<Image>.animatedImage(
                source: CountedSource(film, counter),
                options: options
            )
        else { throw BenchmarkError("the film is no animation") }
        self.image = image
    }

    /// Plays the film once, in ten players, each frame for its own time.
    @MainActor
    func play() async throws -> (decodes: Int, alive: Int) {
        counter.state.withLock { $0 = Counter.State() }
        let players = (0..<10).map { _ in
            let link = ManualDisplayLink()
            let player = AnimationPlayer(displayLink: link)
            player.framePreloadCount = Self.ahead
            player.image = image
            player.attach()
            return (player, link)
        }
        for frame in 0..<99 {
            // As on a screen: the next frames are decoded before they are due.
            while players.contains(where: { $0.0.animator?.frame(at: min(99, frame + Self.ahead)) == nil }) {
                try await Task.sleep(for: .milliseconds(1))
            }
            for (_, link) in players { link.advance(by: 0.04) }
        }
        try BenchmarkError.unless(
            players.allSatisfy { $0.0.animator?.currentFrameIndex == 99 },
            "the players are not at the last frame"
        )
        return counter.state.withLock { state in
            // After the last frame come the first ones again.
            (state.decodes[Self.ahead..<100].max() ?? 0, state.most)
        }
    }
}

/// A program of its own, which scrolls in a window on a display in memory.
private enum Scrolling {
    static func run(_ arguments: [String]) throws -> [Double] {
        let (process, output) = (Process(), Pipe())
        let directory = URL(
            fileURLWithPath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        )
        .deletingLastPathComponent()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments =
            ["-u", "WAYLAND_DISPLAY", "GSK_RENDERER=cairo", "GDK_BACKEND=x11", "xvfb-run", "-a", "-s"]
            + ["-screen 0 1024x768x24 -noreset", directory.appendingPathComponent("kf-bench-desktop").path] + arguments
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        let figures = text.split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
        try BenchmarkError.unless(
            process.terminationStatus == 0 && !figures.isEmpty,
            "kf-bench-desktop failed: \(text)"
        )
        return figures
    }
}

/// The grid of network images, scrolled with an `ImageListFactory` and without.
private enum NetworkScrolling {
    static let factory = Task { try scroll("factory") }
    static let plain = Task { try scroll("plain") }

    /// The memory of a process that has shown each image once, with a limit of the cache; 0 stands for that of the
    /// default cache.
    static func memory(limit: Int) throws -> Double {
        let server = try VaryingServer(body: try SampleImages.jpeg(width: 1200, height: 800))
        defer { _ = try? server.stop() }
        return try Scrolling.run(["sized", server.address.absoluteString, "\(limit)"])[0]
    }

    /// The medians of five runs.
    private static func scroll(_ filling: String) throws -> [Double] {
        let server = try VaryingServer(body: try SampleImages.jpeg(width: 300, height: 300))
        defer { _ = try? server.stop() }
        let runs = try (0..<5).map { _ in try Scrolling.run(["network", server.address.absoluteString, filling]) }
        return (0..<2).map { figure in median(runs.map { $0[figure] }) }
    }
}

/// A folder with a photo of 12 megapixels under a thousand names.
private struct PhotoFolder {
    private let folder: TemporaryFolder
    private let photos: URL

    init() throws {
        folder = try TemporaryFolder()
        photos = folder.url.appendingPathComponent("photos")
        try FileManager.default.createDirectory(at: photos, withIntermediateDirectories: true)
        let first = photos.appendingPathComponent("0")
        try SampleImages.jpeg(width: 4_000, height: 3_000).write(to: first)
        for number in 1..<1_000 {
            try FileManager.default.linkItem(at: first, to: photos.appendingPathComponent("\(number)"))
        }
    }

    /// The time until the first screen is full, beside that of the tool for as many files; the median of three.
    func firstScreen() async throws -> Figure {
        var pairs: [(ours: Double, theirs: Double)] = []
        for _ in 0..<3 {
            let screen = try Scrolling.run(["folder", photos.path])
            try BenchmarkError.unless(screen.count == 3 && screen[2] == 1, "the window was drawn after its images")
            let files = (0..<Int(screen[1])).map { photos.appendingPathComponent("\($0)").path }
            let results = folder.url.appendingPathComponent("results").path + "/"
            let command = ["process"] + files + ["-o", results, "--format", "jpg", "--process", "thumbnail(200x150)"]
            pairs.append((screen[0], try await seconds(.wall) { try Program.run([try Program.kf()] + command) }))
        }
        return Figure(Comparison(pairs), .atMostTimes(1.2))
    }
}
