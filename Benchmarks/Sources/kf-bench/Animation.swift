// The frames of animations, against Pillow.

import Foundation
import Kingfisher

let animationBenchmarks = [
    Benchmark(name: "GIF 100 frames 500×400, against Pillow") {
        let folder = try TemporaryFolder()
        let film = try Film(in: folder.url)
        var pairs: [(ours: Double, pillow: Double)] = []
        for _ in 0..<5 {
            let ours = try await seconds(.thread) { for _ in 0..<3 { try film.play() } } / 3
            pairs.append((ours, try film.timeOfPillow()))
        }
        let comparison = Comparison(
            ours: median(pairs.map(\.ours)),
            baseline: median(pairs.map(\.pillow)),
            ratio: median(pairs.map { $0.ours / $0.pillow })
        )
        return Figure(comparison, .faster(2.5))
    },
    Benchmark(name: "GIF to WebP, 100 frames, cancelled after a tenth, against the whole") {
        let folder = try TemporaryFolder()
        let film = try Film(in: folder.url)
        let began = ContinuousClock.now
        let whole = try await seconds(.process) { try await film.convert()() }
        let tenth = (ContinuousClock.now - began) / 10
        let cancelled = try await seconds(.process) {
            let conversion = try film.convert()
            let task = Task { try await conversion() }
            try await Task.sleep(for: tenth)
            task.cancel()
            _ = await task.result
            // What goes on nevertheless is counted, too.
            try await Task.sleep(for: tenth * 3)
        }
        return Figure(Comparison(ours: cancelled, baseline: whole, ratio: cancelled / whole), .faster(4))
    },
    Benchmark(name: "GIF 100 frames 500×400, frames alive at once", isCounted: true) {
        let folder = try TemporaryFolder()
        return Figure(.count(try Film(in: folder.url).mostFramesAlive()), .atMost(.count(3)))
    },
]

/// A film of a hundred frames: discs that move over a soft ground.
struct Film {
    private let path: String
    private let source: any ImageFrameSource

    init(in folder: URL) throws {
        path = folder.appendingPathComponent("film.gif").path
        _ = try Python.output(of: Self.maker, path)
        let data = try Data(contentsOf: URL(fileURLWithPath: path))
        let image = KingfisherWrapper<Image>.animatedImage(data: data, options: ImageCreatingOptions())
        guard let source = image?.kf.frameSource else { throw BenchmarkError("the film is no animation") }
        self.source = source
    }

    /// Opens the file and decodes every frame once.
    func play() throws {
        let source = source.copy()
        for index in 0..<100 {
            try BenchmarkError.unless(source.frame(at: index)?.width == 500, "frame \(index) is missing")
        }
    }

    /// What loads the file through a manager of its own, makes it smaller and writes it as WebP.
    func convert() throws -> @Sendable () async throws -> Void {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
        let manager = KingfisherManager(
            downloader: .default,
            cache: try ImageCache(name: UUID().uuidString, cacheDirectoryURL: folder)
        )
        let provider = LocalFileImageDataProvider(fileURL: URL(fileURLWithPath: path))
        let options: KingfisherOptionsInfo = [
            .processor(ResizingImageProcessor(referenceSize: CGSize(width: 400, height: 320)))
        ]
        return {
            _ = try await manager.retrieveEncoded(with: .provider(provider), options: options, as: ImageEncoding(.webp))
        }
    }

    /// The time Pillow takes for the same, in seconds.
    func timeOfPillow() throws -> Double {
        guard let seconds = Double(try Python.output(of: Self.player, path)) else {
            throw BenchmarkError("Pillow fails")
        }
        return seconds
    }

    /// The most bitmaps in memory while all frames are shown one after another, each until the next is shown.
    func mostFramesAlive() throws -> Int {
        let source = source.copy()
        var (bitmaps, shown, most): ([Weak], Bitmap?, Int) = ([], nil, 0)
        for index in [Array(0..<100), Array((0..<100).reversed())].joined() {
            guard let frame = source.frame(at: index) else { throw BenchmarkError("frame \(index) is missing") }
            bitmaps.append(Weak(bitmap: frame))
            most = max(most, Set(bitmaps.compactMap(\.bitmap)).count)
            shown = frame
        }
        return withExtendedLifetime(shown) { most }
    }

    private struct Weak {
        weak var bitmap: Bitmap?
    }

    /// A program that writes the film to a path, with Pillow.
    static let maker = """
        import math, sys
        from PIL import Image, ImageDraw
        ground = Image.new("RGB", (500, 400))
        ground.putdata([(40 + x * 180 // 500, 30 + y * 190 // 400, 200 - x * y * 120 // 200000)
                        for y in range(400) for x in range(500)])
        frames = []
        for i in range(100):
            frame = ground.copy()
            draw = ImageDraw.Draw(frame)
            for k in range(6):
                turn = 2 * math.pi * (i / 100 + k / 6)
                x, y = 250 + 160 * math.cos(turn), 200 + 120 * math.sin(turn * 1.5)
                draw.ellipse((x - 40, y - 40, x + 40, y + 40), fill=(250 - k * 30, 240 - k * 20, 60 + k * 30))
            frames.append(frame.quantize(128, dither=0))
        frames[0].save(sys.argv[1], save_all=True, append_images=frames[1:], duration=40, loop=0)
        """

    private static let player = """
        import sys, time
        from PIL import Image
        def play():
            start = time.process_time()
            film = Image.open(sys.argv[1])
            for i in range(film.n_frames):
                film.seek(i)
                film.load()
            return time.process_time() - start
        print(sorted(play() for _ in range(5))[2])
        """
}
