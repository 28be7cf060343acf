// How many bytes an interrupted download moves when it continues where it ended. Knows public API only.

import Foundation
import Kingfisher

let resumingBenchmarks = [
    Benchmark(name: "5 MB download cut ten times: bytes the server has sent") { try await CutDownload.measure() }
]

/// An image whose connection is closed ten times, each time after a tenth of what it has.
private enum CutDownload {
    private static let cuts = 10
    private static let (width, height) = (1280, 1302)

    static func measure() async throws -> Figure {
        let body = bmp()
        let server = try CuttingServer(body: body, cuts: cuts)
        let folder = try TemporaryFolder()
        let manager = KingfisherManager(
            downloader: ImageDownloader(name: "bench"),
            cache: try ImageCache(name: "bench", cacheDirectoryURL: folder.url)
        )
        let strategy = DelayRetryStrategy(maxRetryCount: cuts, retryInterval: .seconds(0.01))
        let result = try await manager.retrieveImage(with: server.url, options: [.retryStrategy(strategy)])
        let (requests, sent) = try server.stop()
        try BenchmarkError.unless(result.image.size.width == CGFloat(width), "the image has another size")
        try BenchmarkError.unless(requests == cuts + 1, "\(requests) requests were sent, not \(cuts + 1)")
        return Figure(.bytes(Double(sent)), baseline: .bytes(Double(body.count)), .atMost(.bytes(6_000_000)))
    }

    /// Pixels of 24 bits, without compression: 5 MB.
    private static func bmp() -> Data {
        let pixels = width * height * 3
        var data = Data("BM".utf8)
        for value in [54 + pixels, 0, 54, 40, width, height, 1 | 24 << 16, 0, pixels, 2835, 2835, 0, 0] {
            withUnsafeBytes(of: UInt32(value).littleEndian) { data.append(contentsOf: $0) }
        }
        data.append(contentsOf: (0..<pixels).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 16) })
        return data
    }
}

/// A server that has ranges and a strong validator, and closes the first connections too early.
private struct CuttingServer {
    let url: URL
    private let server: PythonServer
    private let folder: TemporaryFolder

    init(body: Data, cuts: Int) throws {
        folder = try TemporaryFolder()
        let file = folder.url.appendingPathComponent("body")
        try body.write(to: file)
        server = try PythonServer(program: Self.program, [file.path, "\(cuts)"])
        url = server.url("image.bmp")
    }

    /// Ends the server, and returns how many requests it has received, and how many bytes of bodies it has sent.
    func stop() throws -> (requests: Int, bytes: Int) {
        let numbers = try server.stop().split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
        try BenchmarkError.unless(numbers.count == 2, "the server does not report what it has sent")
        return (numbers[0], numbers[1])
    }

    private static let program = """
        import asyncio, re, sys
        body, cuts = open(sys.argv[1], "rb").read(), int(sys.argv[2])
        piece = len(body) // cuts - len(body) // 1000
        requests = sent = 0
        async def respond(reader, writer):
            global requests, sent
            head = await reader.readuntil(b"\\r\\n\\r\\n")
            start = re.search(rb"(?i)\\r\\nrange: bytes=(\\d+)-", head)
            start, status = (int(start[1]), "206 Partial Content") if start else (0, "200 OK")
            rest = body[start:] if requests >= cuts else body[start:start + piece]
            writer.write(
                f"HTTP/1.1 {status}\\r\\nETag: \\"one\\"\\r\\nAccept-Ranges: bytes\\r\\n"
                f"Content-Range: bytes {start}-{len(body) - 1}/{len(body)}\\r\\n"
                f"Content-Length: {len(body) - start}\\r\\n\\r\\n".encode() + rest
            )
            requests, sent = requests + 1, sent + len(rest)
            await writer.drain()
            writer.close()
        async def main():
            server = await asyncio.start_server(respond, "127.0.0.1", 0)
            print(server.sockets[0].getsockname()[1], flush=True)
            await asyncio.to_thread(sys.stdin.read)
            print(requests, sent)
        asyncio.run(main())
        """
}
