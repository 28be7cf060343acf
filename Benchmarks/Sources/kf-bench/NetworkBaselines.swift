// The baselines of downloads: bare AsyncHTTPClient and bare libcurl.

import AsyncHTTPClient
import CBaseline
import Foundation
import NIOCore

/// Bare AsyncHTTPClient.
enum BareClient {
    /// The client with its default of a thread for each core: a single thread is slower, and so is `HTTPClient.shared`,
    /// which decompresses.
    private static let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)

    /// The connections, at least as many as downloads are in flight in any row.
    private static var configuration: HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration()
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 16
        return configuration
    }

    /// Downloads one body to memory and returns its size.
    static func download(_ address: String) async throws -> Int {
        let response = try await client.execute(HTTPClientRequest(url: address), timeout: .seconds(30))
        return try await response.body.collect(upTo: 16 << 20).readableBytes
    }
}

/// Bare libcurl on the calling thread.
enum BareCurl {
    /// Downloads all bodies to memory and returns how many bytes they have together.
    static func download(_ addresses: [String], inFlight: Int) throws -> Int {
        let texts = addresses.map { strdup($0) }
        defer { for text in texts { free(text) } }
        let size = texts.map { UnsafePointer($0) }.withUnsafeBufferPointer { texts in
            baseline_curl(texts.baseAddress, texts.count, inFlight)
        }
        try BenchmarkError.unless(size > 0, "libcurl cannot download everything")
        return size
    }
}
