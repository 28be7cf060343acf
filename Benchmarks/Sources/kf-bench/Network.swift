// Downloads against bare AsyncHTTPClient, and many loads of one URL. Knows the library by its public API only.

import AsyncHTTPClient
import Foundation
import Kingfisher
import KingfisherTestSupport
import NIOCore
import Synchronization

let networkBenchmarks = [
    Benchmark(name: "2,000 downloads of 20 KB, 16 in flight, processor that does nothing") {
        try await Downloads.measure { $0.throughProcessor }
    },
    Benchmark(name: "2,000 downloads of 20 KB, 16 in flight, bytes only") {
        try await Downloads.measure { $0.bytesOnly }
    },
    Benchmark(name: "1,000 loads of one cold URL at once: requests") {
        Figure(.count(try await ColdLoads.run().requests), .exactly(1))
    },
    Benchmark(name: "1,000 loads of one cold URL at once: decodes") {
        Figure(.count(try await ColdLoads.run().decodes), .exactly(1))
    },
]

// MARK: - Downloads

/// A plain server in a process of its own, which ends with this one.
struct ServerProcess {
    let port: Int
    private let process: Process
    private let input: Pipe
    private let output: Pipe

    init() throws {
        let child = try Child.start([Child.server, "\(Downloads.size)"])
        (process, input, output) = (child.process, child.input, child.output)
        let line = String(decoding: child.output.fileHandleForReading.availableData, as: UTF8.self)
        guard let port = Int(line.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw BenchmarkError("the server does not report its port")
        }
        self.port = port
    }

    /// Ends the server by closing its input, and returns how many requests it has served.
    func stop() throws -> Int {
        try input.fileHandleForWriting.close()
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        guard let count = Int(text.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw BenchmarkError("the server does not report how many requests it has served")
        }
        return count
    }
}

/// The same downloads in two ways.
private struct Downloads: Sendable {
    static let count = 2_000
    static let size = 20 << 10
    static let inFlight = 16

    private let urls: [URL]
    private let requests: [HTTPClientRequest]
    private let downloader = ImageDownloader(name: "bench")
    private let options = KingfisherParsedOptionsInfo([.processor(NoDecoding())])

    init(port: Int) {
        let texts = (0..<Self.count).map { "http://127.0.0.1:\(port)/pictures/\($0).jpg" }
        urls = texts.compactMap { URL(string: $0) }
        requests = texts.map { HTTPClientRequest(url: $0) }
    }

    /// One way against bare AsyncHTTPClient.
    static func measure(_ ours: (Downloads) -> () async throws -> Void) async throws -> Figure {
        let rounds = 31
        let server = try ServerProcess()
        let downloads = Downloads(port: server.port)
        let comparison = try await compare(
            rounds: rounds,
            by: .wall,
            operations: count,
            ours: ours(downloads),
            baseline: downloads.throughBareClient
        )
        // A way that is fast because it did not download does not count.
        let expected = 2 * (rounds + 1) * count
        let served = try server.stop()
        try BenchmarkError.unless(served == expected, "\(expected) downloads took \(served) requests")
        return Figure(rateOf: comparison, .share(0.8))
    }

    /// The image way, without the decoding.
    func throughProcessor() async throws {
        try await inParallel { index in
            try await downloader.downloadImage(with: urls[index], options: options).originalData.count
        }
    }

    /// The way that makes no images.
    func bytesOnly() async throws {
        try await inParallel { index in
            try await downloader.downloadData(with: urls[index]).data.count
        }
    }

    func throughBareClient() async throws {
        try await inParallel { index in
            let response = try await HTTPClient.shared.execute(requests[index], timeout: .seconds(30))
            return try await response.body.collect(upTo: 1 << 20).readableBytes
        }
    }

    private func inParallel(_ download: @escaping @Sendable (Int) async throws -> Int) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for first in 0..<Self.inFlight {
                group.addTask { @concurrent in
                    for index in stride(from: first, to: Self.count, by: Self.inFlight) {
                        try BenchmarkError.unless(try await download(index) == Self.size, "a download is not complete")
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}

/// Looks at no bytes: what remains is the downloader.
private struct NoDecoding: ImageProcessor {
    let identifier = "none"
    private let image = Image()

    func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> Image? { image }
}

// MARK: - One cold URL

/// Many loads of a URL that is in no cache yet, through the whole pipeline.
private enum ColdLoads {
    private static let loads = 1_000
    private static let rounds = 5

    /// The most requests and decodes that any of several cold URLs took.
    static func run() async throws -> (requests: Int, decodes: Int) {
        let server = try await TestServer.start()
        let folder = try TemporaryFolder()
        let cache = try ImageCache(name: "bench", cacheDirectoryURL: folder.url)
        let manager = KingfisherManager(downloader: ImageDownloader(name: "bench"), cache: cache)
        let picture = try Pictures.jpeg(width: 300, height: 300)
        var most = (requests: 0, decodes: 0)
        for round in 0..<rounds {
            let path = "/\(round).jpg"
            server.route(path, .data(picture, type: "image/jpeg"))
            let processor = CountingProcessor()
            try await load(server.url(path), manager, [.processor(processor)])
            most.requests = max(most.requests, server.count(path))
            most.decodes = max(most.decodes, processor.count)
        }
        await server.stop()
        return most
    }

    private static func load(_ url: URL, _ manager: KingfisherManager, _ options: KingfisherOptionsInfo) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<loads {
                group.addTask { @concurrent in
                    let image = try await manager.retrieveImage(with: url, options: options).image
                    try BenchmarkError.unless(image.pixelWidth == 300, "a load gave another picture")
                }
            }
            try await group.waitForAll()
        }
    }
}

/// Decodes as always, and counts how often.
private final class CountingProcessor: ImageProcessor {
    let identifier = "counting"
    private let calls = Atomic(0)

    var count: Int { calls.load(ordering: .sequentiallyConsistent) }

    func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> Image? {
        calls.add(1, ordering: .sequentiallyConsistent)
        return DefaultImageProcessor.default.process(item: item, options: options)
    }
}
