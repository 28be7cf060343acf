// A list scrolled so fast that most images would come too late, with its next rows prefetched. Knows public API only.

import Foundation
import Glibc
import Kingfisher

let prefetchScrollingBenchmarks = [
    Benchmark(name: "5,000 cells scrolled at 60 a second, prefetch window 20: visible cells that are blank") {
        let (prefetched, plain) = (try await FastList.prefetched.value, try await FastList.plain.value)
        return Figure(.fraction(prefetched.blank), baseline: .fraction(plain.blank), .atMost(.fraction(0.1)))
    },
    Benchmark(name: "5,000 cells, prefetch window 20: requests for cells that left before they were begun") {
        Figure(.count(try await FastList.prefetched.value.late), .exactly(0))
    },
    Benchmark(name: "cells without prefetching: those that leave before their image has come") {
        Figure(.fraction(try await FastList.plain.value.missed), .shown)
    },
]

/// A list that shows five cells, each for a twelfth of a second, of a server that takes from 50 to 200 ms.
private enum FastList {
    struct Outcome {
        /// The part of the visible cells, looked at 60 times a second, that showed no image.
        let blank: Double
        /// The part of the cells that left without an image.
        let missed: Double
        /// Requests that reached the server for cells that were out of sight.
        let late: Int
    }

    private static let visible = 5
    /// How long a request that was sent may take to reach the server's log.
    private static let tolerance = 0.02

    static let prefetched = Task { try await scroll(cells: 5_000, prefetching: true) }
    static let plain = Task { try await scroll(cells: 600, prefetching: false) }

    @MainActor
    private static func scroll(cells: Int, prefetching: Bool) async throws -> Outcome {
        let server = try VaryingServer(body: try SampleImages.jpeg(width: 300, height: 300))
        let folder = try TemporaryFolder()
        let cache = try ImageCache(name: "bench", cacheDirectoryURL: folder.url)
        let options: KingfisherOptionsInfo = [
            .targetCache(cache), .downloader(ImageDownloader(name: "bench")),
            .processor(DownsamplingImageProcessor(size: CGSize(width: 100, height: 100))),
        ]
        let coordinator = PrefetchCoordinator(window: 20, options: options) { row in
            row < cells ? .network(server.url(row)) : nil
        }
        coordinator.maxConcurrentDownloads = 12
        let views = (0..<visible).map { _ in KFCrossPlatformImageView() }
        var (blank, missed) = (0, 0)
        var left: [Double] = []
        let clock = ContinuousClock()
        var tick = clock.now
        for row in 0..<cells {
            let view = views[row % visible]
            if row >= visible {
                missed += view.image == nil ? 1 : 0
                view.kf.cancelDownloadTask()
            }
            view.kf.setImage(with: server.url(row), options: options)
            if prefetching { coordinator.visibleRows(max(0, row - visible + 1)..<row + 1) }
            if row >= visible { left.append(monotonicSeconds()) }
            blank += views.prefix(row + 1).count { $0.image == nil }
            tick = tick.advanced(by: .seconds(1) / 60)
            try await clock.sleep(until: tick)
        }
        for view in views { view.kf.cancelDownloadTask() }
        coordinator.stop()
        let late = try server.stop().count { left.indices.contains($0.row) && $0.time > left[$0.row] + tolerance }
        return Outcome(
            blank: Double(blank) / Double(cells * visible),
            missed: Double(missed) / Double(cells - visible),
            late: late
        )
    }

    /// The clock of the server's log.
    private static func monotonicSeconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }
}

/// A server that takes from 50 to 200 ms, and keeps a log of its requests.
///
/// For grids, too.
struct VaryingServer {
    private let server: PythonServer
    private let folder: TemporaryFolder

    init(body: Data) throws {
        folder = try TemporaryFolder()
        let file = folder.url.appendingPathComponent("body")
        try body.write(to: file)
        server = try PythonServer(program: Self.program, [file.path])
    }

    func url(_ row: Int) -> URL { server.url("\(row)") }

    /// The address below which the rows are.
    var address: URL { server.url("") }

    /// Ends the server, and returns which rows were requested, and when.
    func stop() throws -> [(row: Int, time: Double)] {
        try server.stop().split(separator: "\n").compactMap { line in
            let parts = line.split(separator: " ")
            guard parts.count == 2, let row = Int(parts[0]), let time = Double(parts[1]) else { return nil }
            return (row, time)
        }
    }

    private static let program = """
        import asyncio, sys, time
        from aiohttp import web
        body, log = open(sys.argv[1], "rb").read(), []
        async def respond(request):
            row = int(request.match_info["row"])
            log.append((row, time.monotonic()))
            await asyncio.sleep(0.05 + 0.15 * (row * 7919 % 1000) / 1000)
            return web.Response(body=body, content_type="image/jpeg")
        async def main():
            app = web.Application()
            app.router.add_get("/{row}", respond)
            runner = web.AppRunner(app, access_log=None)
            await runner.setup()
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            print(runner.addresses[0][1], flush=True)
            await asyncio.to_thread(sys.stdin.read)
            for row, at in log:
                print(row, at)
            await runner.cleanup()
        asyncio.run(main())
        """
}
