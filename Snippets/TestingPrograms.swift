// Tests of a program that loads images.
import Foundation
import Kingfisher
import KingfisherTestSupport

// snippet.server
func loadsAnImage(_ bytes: Data) async throws -> Bool {
    let server = try await TestServer.start()
    server.route("/photo.png", .data(bytes, type: "image/png"))
    let manager = KingfisherManager(downloader: ImageDownloader(name: "test"), cache: try temporaryCache())
    let first = try await manager.retrieveImage(with: server.url("/photo.png"))
    let second = try await manager.retrieveImage(with: server.url("/photo.png"))
    let requests = server.count("/photo.png")
    await server.stop()
    return first.cacheType == .none && second.cacheType == .memory && requests == 1
}

func temporaryCache() throws -> ImageCache {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    return try ImageCache(name: "test", cacheDirectoryURL: folder)
}
// snippet.end

// snippet.faults
func retriesWhatBreaksOff(_ bytes: Data) async throws -> Bool {
    let server = try await TestServer.start()
    server.route("/photo.png", sequence: [.status(503), .data(bytes, type: "image/png")])
    let strategy = DelayRetryStrategy(maxRetryCount: 1, retryInterval: .seconds(0))
    _ = try await KF.url(server.url("/photo.png")).retry(strategy).targetCache(temporaryCache()).retrieve()
    let requests = server.count("/photo.png")
    await server.stop()
    return requests == 2
}
// snippet.end

// snippet.offline
func loadsWithoutANetwork(_ bytes: Data, from url: URL) async throws -> Bool {
    let transport = FakeTransport { $0.play(.data(bytes, type: "image/png")) }
    let downloader = ImageDownloader(name: "test", transport: transport)
    let manager = KingfisherManager(downloader: downloader, cache: try temporaryCache())
    let result = try await manager.retrieveImage(with: url)
    return result.image.size != .zero && transport.startCount == 1
}
// snippet.end

// snippet.transport
func cancelsItsDownload(_ url: URL) async throws -> Bool {
    let begun = Gate()
    let transport = FakeTransport { _ in begun.open() }  // never responds
    let downloader = ImageDownloader(name: "test", transport: transport)
    let manager = KingfisherManager(downloader: downloader, cache: try temporaryCache())
    let load = Task { try await manager.retrieveImage(with: url) }
    await begun.wait()
    load.cancel()
    await transport.transfers[0].cancelled.wait()
    return transport.cancelCount == 1
}
// snippet.end

// snippet.comparison
func looksTheSame(_ one: KFCrossPlatformImage, _ other: KFCrossPlatformImage) -> Bool {
    guard let one = one.cgImage, let other = other.cgImage else { return false }
    let outcome = ImageComparison.compare(one, other, atLeast: 40)
    if !outcome.isAlike { print(outcome) }
    return outcome.isAlike
}
// snippet.end

// snippet.view
@MainActor
func showsThePlaceholderFirst(_ url: URL, placeholder: KFCrossPlatformImage) -> Bool {
    let view = KFCrossPlatformImageView()  // needs no toolkit and no display
    view.kf.setImage(with: url, placeholder: placeholder)
    return view.image == placeholder
}
// snippet.end
