// Helpers for tests of `KFImage`: descriptions of images on a server, recorded handler calls, a renderer on a manual
// clock.

import Foundation
import FoundationNetworking
import KFImaging
import KingfisherTestSupport
import Testing

@testable import Kingfisher

extension Rig {
    /// Describes the image at a URL.
    func kfImage(_ url: URL?) -> KFImage {
        KFImage(context: KFImageContext(source: url?.convertToSource(), manager: manager))
    }

    /// Describes an image on the server; its response is held back until the gate opens.
    func kfImage(_ path: String, width: Int = 64, until gate: Gate? = nil) throws -> KFImage {
        server.route(path, TestResponse.data(try SampleImage.png(width, 8)).with { $0.gate = gate })
        return kfImage(server.url(path))
    }

    /// Describes an image in the memory cache.
    func kfImageInMemory(_ path: String, width: Int = 64) async throws -> KFImage {
        let image = try kfImage(path, width: width)
        _ = try await manager.retrieveImage(with: server.url(path), options: [.preloadAllAnimationData, .waitForCache])
        return image
    }
}

/// The calls of the success and failure handlers.
@MainActor
final class KFImageCalls {
    private(set) var results: [Result<RetrieveImageResult, KingfisherError>] = []
    private var waiting: [(count: Int, gate: Gate)] = []
    /// Called with each call.
    var onCall: () -> Void = {}

    nonisolated init() {}

    /// The errors' codes; 0 for a success.
    var codes: [Int] { results.map { if case .failure(let error) = $0 { error.errorCode } else { 0 } } }

    func note(_ result: Result<RetrieveImageResult, KingfisherError>) {
        results.append(result)
        onCall()
        for (count, gate) in waiting where count <= results.count { gate.open() }
    }

    /// Waits until there were `count` calls.
    func wait(for count: Int = 1) async {
        guard results.count < count else { return }
        let gate = Gate()
        waiting.append((count, gate))
        await gate.wait()
    }
}

extension KFImageProtocol {
    func reporting(to calls: KFImageCalls) -> Self {
        onSuccess { calls.note(.success($0)) }.onFailure { calls.note(.failure($0)) }
    }
}

/// A renderer on a manual clock, whose views are all on one screen.
@MainActor
final class KFImageTestRenderer: ViewRenderer {
    private var links: [ManualDisplayLink] = []
    var showsMotion: Bool { true }
    var bounds: CGRect { CGRect(x: 0, y: 0, width: 100, height: 100) }
    var scaleFactor: CGFloat { 1 }

    /// Brings a view and its subviews onto the screen.
    static func show(_ view: KFCrossPlatformView) {
        view.renderer = KFImageTestRenderer()
        view.isOnScreen = true
        for subview in view.subviews { show(subview) }
    }

    static func advance(_ view: KFCrossPlatformView, by seconds: TimeInterval) {
        for link in (view.renderer as? KFImageTestRenderer)?.links ?? [] { link.advance(by: seconds) }
    }

    func makeDisplayLink() -> any DisplayLinkCompatible {
        let link = ManualDisplayLink()
        links.append(link)
        return link
    }

    func contentDidChange() {}
    func watchLayout() {}
    func visibilityDidChange() {}
    func accessibilityDidChange() {}
    func didAdd(_ subview: KFCrossPlatformView) { Self.show(subview) }
    func didRemove(_ subview: KFCrossPlatformView) { subview.isOnScreen = false }
}

/// A download that begins to arrive when the test lets it, and never ends.
@MainActor
struct KFImageTransfer {
    let url = URL(string: "http://localhost/a.png") ?? fakeURL
    let downloader: ImageDownloader
    private let transport: FakeTransport
    private let begun = Gate()

    init() {
        transport = FakeTransport { [begun] _ in begun.open() }
        downloader = ImageDownloader(name: "test", transport: transport)
    }

    /// Waits until the transfer has started, sends a byte, and waits for the gate that the progress handler opens.
    func arrive(until received: Gate) async throws -> FakeTransfer {
        await begun.wait()
        // Another subscriber of the same transfer, which does not make it more urgent, shows when it has been started.
        let task = Box<SessionDataTask?>(nil)
        var options = KingfisherParsedOptionsInfo([.downloadPriority(0)])
        options.load.observer = TestObserver(started: { origin in
            if case .transfer(let transfer, _) = origin { task.value = transfer }
        })
        downloader.downloadImage(with: url, options: options, completionHandler: nil)
        while task.value?.task.state != .running { await Task.yield() }
        let transfer = try #require(transport.transfers.first)
        let head = try #require(
            HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: ["Content-Length": "9"])
        )
        transfer.receive(head) { _ in transfer.send(Data([1])) }
        await received.wait()
        #expect(transport.startCount == 1)
        return transfer
    }
}
