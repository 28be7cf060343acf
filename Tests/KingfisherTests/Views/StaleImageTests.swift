// Views whose image is refreshed: the cached one is shown until the server has answered.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite(.timeLimit(.minutes(2))) @MainActor struct StaleImageTests {
    private let placeholder = SampleImage.gradient(3, 3)

    /// An image of 64 pixels that is cached on disk; what comes next is held back until the gate opens.
    private func cached(_ rig: Rig, _ next: TestResponse, until gate: Gate) async throws -> URL {
        let first = TestResponse.data(try SampleImage.png(64, 8)).with { $0.etag = "\"1\"" }
        rig.server.route("/a", sequence: [first, next.with { $0.gate = gate }])
        _ = try await rig.manager.retrieveImage(with: rig.server.url("/a"), options: [.waitForCache])
        rig.cache.clearMemoryCache()
        return rig.server.url("/a")
    }

    private func response(width: Int = 32) throws -> TestResponse {
        TestResponse.data(try SampleImage.png(width, 8)).with { $0.etag = "\"2\"" }
    }

    @Test("The cached image is shown until another one replaces it", arguments: Place.allCases)
    func replaced(place: Place) async throws {
        try await Rig.run { rig in
            let (gate, target, staleOnMain) = (Gate(), Target(place, rig), Promise<Bool>())
            let url = try await cached(rig, try response(), until: gate)
            target.load(
                url,
                [
                    .refreshCached,
                    .onStaleImage { stale in
                        #expect(stale.image.pixelWidth == 64)
                        MainActor.assumeIsolated { _ = staleOnMain.fulfil(target.image === stale.image) }
                    },
                ],
                placeholder: placeholder
            )
            #expect(target.image === placeholder)
            #expect(await staleOnMain.value)
            await rig.server.waitForRequests(2, to: "/a")
            #expect(target.image?.pixelWidth == 64 && target.ended.isEmpty)
            gate.open()
            #expect(try await target.outcome(0).get().cacheType == .none)
            #expect(target.image?.pixelWidth == 32 && target.ended.count == 1)
        }
    }

    @Test("The cached image stays when the server confirms it, or cannot be asked", arguments: [304, 503])
    func kept(status: Int) async throws {
        try await Rig.run { rig in
            let (gate, target) = (Gate(), Target(.imageView, rig))
            let url = try await cached(rig, TestResponse(status: status), until: gate)
            target.load(url, [.refreshCached], placeholder: placeholder)
            while target.image === placeholder, !Task.isCancelled { await Task.yield() }
            #expect(target.image?.pixelWidth == 64 && target.ended.isEmpty)
            gate.open()
            #expect(await target.outcome(0).code == 0)
            #expect(target.image?.pixelWidth == 64)
        }
    }

    @Test("The cached image is of no use to a view that shows another one by then") func superseded() async throws {
        try await Rig.run { rig in
            let (gate, target) = (Gate(), Target(.imageView, rig))
            gate.open()
            let url = try await cached(rig, try response(), until: gate)
            let mayRead = rig.holdDisk(url)
            target.load(url, [.refreshCached], placeholder: placeholder)
            target.load(try rig.route("/b", width: 9))
            _ = await target.outcome(1)
            mayRead.fulfil(())
            #expect(await target.outcome(0).superseded != nil)
            #expect(target.image?.pixelWidth == 9)
        }
    }

    @Test("The cached image comes without a transition and with the indicator; the next one comes by the transition")
    func transition() async throws {
        try await Rig.run { rig in
            let (gate, target, log) = (Gate(), Target(.imageView, rig), CallLog())
            let url = try await cached(rig, try response(), until: gate)
            let view = try #require(target.owner as? KFCrossPlatformImageView)
            let renderer = TestRenderer.show(view)
            view.kf.indicatorType = .custom(indicator: TestIndicator(log))
            let custom = ImageTransition.custom(duration: 1) { view, image in
                log.calls.append("from \(view.image?.pixelWidth ?? 0)")
                view.image = image
            }
            target.load(url, [.refreshCached, .transition(custom)], placeholder: placeholder)
            while view.image?.pixelWidth != 64, !Task.isCancelled { await Task.yield() }
            #expect(log.calls == ["start"] && view.transition == nil)
            gate.open()
            while view.image?.pixelWidth != 32, !Task.isCancelled { await Task.yield() }
            renderer.advance(by: 2)
            #expect(await target.outcome(0).code == 0)
            #expect(log.calls == ["start", "stop", "from 64"])
        }
    }

    @Test("A described image shows the cached one until another one replaces it") func described() async throws {
        try await Rig.run { rig in
            let (gate, calls) = (Gate(), KFImageCalls())
            let url = try await cached(rig, try response(), until: gate)
            let view = rig.kfImage(url).refreshCached().placeholder(placeholder).reporting(to: calls).makeView()
            KFImageTestRenderer.show(view)
            var shown: Int? { (view.subviews.first as? KFCrossPlatformImageView)?.image?.pixelWidth }
            while shown != 64, !Task.isCancelled { await Task.yield() }
            #expect(calls.results.isEmpty)
            gate.open()
            await calls.wait()
            #expect(calls.codes == [0] && shown == 32)
        }
    }
}
