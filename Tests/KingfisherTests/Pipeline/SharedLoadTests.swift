// Sharing between loads of different kinds: what makes no difference for the image makes none for sharing.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite struct SharedLoadTests {
    @Test("A prefetch, loads of the manager and plain image views of one URL share its request and its decoding")
    @MainActor
    func prefetchAndViews() async throws {
        try await Rig.run { rig in
            let gate = Gate(), bytes = try SampleImage.png()
            let urls = (0..<10).map { rig.server.url("/\($0).png") }
            for url in urls { rig.server.route(url.path, .data(bytes).with { $0.gate = gate }) }
            let processor = CountingProcessor()
            let options = rig.viewOptions + [.processor(processor)]
            let prefetched = Promise<Int>(), ends = Counter(), allShown = Promise<Void>()
            let prefetcher = ImagePrefetcher(urls: urls, options: options) { _, _, completed in
                prefetched.fulfil(completed.count)
            }
            prefetcher.start()
            let views = (0..<20).map { _ in KFCrossPlatformImageView() }
            for (index, view) in views.enumerated() {
                view.kf.setImage(with: urls[index / 2], options: options) { result in
                    if case .success = result, ends.add() == views.count { allShown.fulfil(()) }
                }
            }
            let loads = urls.map { url in
                Task.immediate {
                    try await KingfisherManager.shared.retrieveImage(with: url, options: options).image.pixelWidth
                }
            }
            gate.open()
            await allShown.value
            for load in loads { #expect(try await load.value == 64) }
            _ = await prefetched.value
            for url in urls { #expect(rig.server.count(url.path) == 1) }
            #expect(processor.runs.value == urls.count)
        }
    }

    @Test("Who wants the frames of a shared animation otherwise makes them once, of the bytes that all share")
    func framesAsWanted() async throws {
        try await Rig.run { rig in
            let gate = Gate(), url = rig.server.url("/a.gif")
            let bytes = try #require(try animation("dancer.gif").animatedData)
            rig.server.route("/a.gif", .data(bytes).with { $0.gate = gate })
            func load(_ options: KingfisherOptionsInfo) -> Task<KFCrossPlatformImage, any Error> {
                Task { try await rig.manager.retrieveImage(with: url, options: options).image }
            }
            let plain = (0..<4).map { _ in load([]) }
            while rig.manager.loads.all.first?.subscribers.count ?? 0 < 4 { await Task.yield() }
            let preloading = (0..<4).map { _ in load([.preloadAllAnimationData]) }
            while rig.manager.loads.all.first?.subscribers.count ?? 0 < 8 { await Task.yield() }
            gate.open()
            let first = try await plain[0].value, other = try await preloading[0].value
            for task in plain { #expect(try await task.value === first) }
            for task in preloading { #expect(try await task.value === other) }
            #expect(first !== other)
            #expect(first.creatingOptions?.preloadAll == false && other.creatingOptions?.preloadAll == true)
            #expect(rig.server.count("/a.gif") == 1)
        }
    }

    /// Loads an image each time it is compared.
    private struct LoadingModifier: ImageDownloadDataModifier, Hashable {
        let load: @Sendable () -> Void

        func modified(_ data: Data, for task: SessionDataTask) -> Data? { data }

        static func == (lhs: Self, rhs: Self) -> Bool {
            lhs.load()
            return true
        }

        func hash(into hasher: inout Hasher) { load() }
    }

    @Test("A user's == and hash may load images") func loadingComparison() async throws {
        try await Rig.run { rig in
            let gate = Gate(), (url, other) = (rig.server.url("/a.png"), rig.server.url("/b.png"))
            rig.server.route("/a.png", .data(try SampleImage.png()).with { $0.gate = gate })
            rig.server.route("/b.png", .data(try SampleImage.png()))
            let comparisons = Counter(), ends = Counter()
            let modifier = LoadingModifier {
                comparisons.add()
                rig.manager.retrieveImage(with: other) { _ in ends.add() }
            }
            let loads = (0..<3).map { _ in
                Task { try await rig.manager.retrieveImage(with: url, options: [.dataModifier(modifier)]) }
            }
            while rig.manager.loads.all.reduce(0, { $0 + $1.subscribers.count }) < 3 { await Task.yield() }
            gate.open()
            for load in loads { #expect(try await load.value.image.pixelWidth == 64) }
            #expect(comparisons.value > 0)
            while ends.value < comparisons.value { await Task.yield() }
            #expect(rig.server.count("/a.png") == 1)
        }
    }

    @Test("An animation that cannot be made with other options is an error of the processor, off the main thread")
    func failedRecreation() async throws {
        try await Rig.run { rig in
            let (mark, onMain) = (DispatchSpecificKey<Bool>(), Counter())
            DispatchQueue.main.setSpecific(key: mark, value: true)
            rig.server.route("/a.gif", .data(try #require(try animation("animated.gif").kf.gifRepresentation())))
            let runs = Counter()
            let processor = ObservedProcessor {
                if DispatchQueue.getSpecific(key: mark) == true { onMain.add() }
                return runs.add() == 1
            }
            let url = rig.server.url("/a.gif")
            _ = try await rig.manager.retrieveImage(with: url, options: [.processor(processor), .waitForCache])
            let error = await failure {
                try await rig.manager.retrieveImage(with: url, options: [.processor(processor), .onlyLoadFirstFrame])
            }
            #expect(error?.errorCode == 4001)
            #expect(runs.value == 2 && onMain.value == 0)
        }
    }
}

/// The default processor, which calls a closure to decide whether it succeeds.
private struct ObservedProcessor: ImageProcessor {
    let identifier = "noted"
    let mayGoOn: @Sendable () -> Bool

    func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        mayGoOn() ? DefaultImageProcessor.default.process(item: item, options: options) : nil
    }
}
