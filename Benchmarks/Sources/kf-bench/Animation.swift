// The frames of animations: how many are in memory, and how often they are decoded. Pillow makes the film.

import Foundation
import Kingfisher
import Synchronization

let animationBenchmarks = [
    Benchmark(name: "GIF 100 frames 500×400, frames alive at once", isCounted: true) {
        let folder = try TemporaryFolder()
        return Figure(.count(try Film(in: folder.url).mostFramesAlive()), .atMost(.count(3)))
    },
    Benchmark(name: "GIF 100 frames 500×400 in 10 views: decodes of a frame in a loop, at most", isCounted: true) {
        let folder = try TemporaryFolder()
        return Figure(.count(try await ManyViews(in: folder.url).play().decodes), .exactly(1))
    },
    Benchmark(name: "GIF 100 frames 500×400 in 10 views: frames in memory", isCounted: true) {
        let folder = try TemporaryFolder()
        return Figure(.count(try await ManyViews(in: folder.url).play().alive), .atMost(.count(ManyViews.ahead + 2)))
    },
]

/// A film of a hundred frames: discs that move over a soft ground.
private struct Film {
    private let source: any ImageFrameSource

    init(in folder: URL) throws {
        let path = folder.appendingPathComponent("film.gif").path
        _ = try Python.output(of: Self.maker, path)
        let data = try Data(contentsOf: URL(fileURLWithPath: path))
        let image = KingfisherWrapper<Image>.animatedImage(data: data, options: ImageCreatingOptions())
        guard let source = image?.kf.frameSource else { throw BenchmarkError("the film is no animation") }
        self.source = source
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
    fileprivate static let maker = """
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
