// Prefetching a list of avatars, against a Python program that does the same. Knows public API only.

import Foundation
import Glibc
import Kingfisher

let prefetchBenchmarks =
    [
        Benchmark(name: "prefetch of 1,000 avatars (download, downsample, store), 8 in flight") {
            try await Avatars.measure()
        }
    ] + prefetchScrollingBenchmarks

/// Avatars of 400 pixels, stored with 100.
private enum Avatars {
    private static let count = 1_000
    private static let inFlight = 8

    static func measure() async throws -> Figure {
        let nginx = try Nginx(serving: ["avatar": try SampleImages.jpeg(width: 400, height: 400)])
        let address = nginx.address(of: "avatar")
        var pairs: [(ours: Double, baseline: Double)] = []
        // In memory, where there is a place: ext4 without a journal searches long for an inode that was not freed in the
        // last minutes, which both would pay for.
        let memory = URL(fileURLWithPath: "/dev/shm")
        let parent = access(memory.path, W_OK) == 0 ? memory : FileManager.default.temporaryDirectory
        var folders: [TemporaryFolder] = []
        func folder() throws -> URL {
            folders.append(try TemporaryFolder(in: parent))
            return folders[folders.count - 1].url
        }
        // The first pair warms up both ends.
        for _ in 0..<6 {
            pairs.append((try await prefetched(address, into: folder()), try stored(address, in: folder())))
        }
        pairs.removeFirst()
        let comparison = Comparison(
            ours: median(pairs.map(\.ours)),
            baseline: median(pairs.map(\.baseline)),
            ratio: median(pairs.map { $0.ours / $0.baseline })
        )
        return Figure(comparison, .faster(2))
    }

    /// How long it takes until all are on disk.
    private static func prefetched(_ address: String, into folder: URL) async throws -> Double {
        let cache = try ImageCache(name: "bench", cacheDirectoryURL: folder)
        let urls = (0..<count).compactMap { URL(string: address + "\($0)") }
        var serializer = DefaultCacheSerializer()
        serializer.compressionQuality = 0.85
        let prefetcher = ImagePrefetcher(
            urls: urls,
            options: [
                .targetCache(cache), .downloader(ImageDownloader(name: "bench")),
                .cacheSerializer(serializer),
                .processor(DownsamplingImageProcessor(size: CGSize(width: 100, height: 100))),
            ]
        )
        prefetcher.maxConcurrentDownloads = inFlight
        var completed = 0
        let time = try await seconds(.wall) { completed = await prefetcher.prefetch().completed.count }
        try BenchmarkError.unless(completed == count, "only \(completed) of \(count) avatars were prefetched")
        return time
    }

    /// How long the Python program takes, without its start.
    private static func stored(_ address: String, in folder: URL) throws -> Double {
        let output = try Python.output(of: program, "\(address) \(folder.path) \(count) \(inFlight)")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        guard let time = Double(output), files.count == count else {
            throw BenchmarkError("the Python program stored \(files.count) of \(count) avatars")
        }
        return time
    }

    /// Downloads with aiohttp; Pillow makes the images, on asyncio's threads, since it does not hold Python's lock.
    private static let program = """
        import asyncio, io, sys, time
        import aiohttp
        from PIL import Image
        address, folder, count, in_flight = sys.argv[1].split(" ")
        def store(data, path):
            image = Image.open(io.BytesIO(data))
            image.thumbnail((100, 100), Image.LANCZOS)
            image.save(path, "JPEG", quality=85)
        async def main():
            numbers = iter(range(int(count)))
            async with aiohttp.ClientSession() as session:
                async def work():
                    for number in numbers:
                        async with session.get(f"{address}{number}") as response:
                            data = await response.read()
                        await asyncio.to_thread(store, data, f"{folder}/{number}.jpg")
                start = time.monotonic()
                await asyncio.gather(*(work() for _ in range(int(in_flight))))
                print(time.monotonic() - start)
        asyncio.run(main())
        """
}
