// Images that are decoded at the size of their view: the first layout, growing, and larger images in memory.

import Foundation
import KFImaging
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite @MainActor struct ViewImageSizeTests {
    @Test(
        "Sides are rounded up to four sizes in each power of two",
        arguments: [
            (1, 1), (8, 8), (9, 10), (100, 112), (128, 128), (129, 160), (200, 224), (1_000, 1_024), (1_025, 1_280),
        ]
    )
    func steps(side: Int, rounded: Int) throws {
        let size = CGSize(width: side, height: 2 * side)
        let found = try #require(ViewImageSize(size, scale: 1, contentMode: .scaleAspectFit))
        #expect(found.width == rounded && found.height == 2 * rounded && found.mode == .fit)
        #expect(ViewImageSize(size, scale: 2, contentMode: .scaleAspectFill)?.width == 2 * rounded)
    }

    @Test("A side that a view has none of is free; without both, and in its own size, an image is not reduced")
    func noSides() {
        let wide = ViewImageSize(CGSize(width: 100, height: 0), scale: 1, contentMode: .scaleAspectFit)
        #expect(wide?.width == 112 && wide?.height == 0)
        #expect(ViewImageSize(.zero, scale: 1, contentMode: .scaleAspectFit) == nil)
        #expect(ViewImageSize(CGSize(width: 9, height: 9), scale: 1, contentMode: .center) == nil)
        let nonsense = CGSize(width: CGFloat.nan, height: -.infinity)
        #expect(ViewImageSize(nonsense, scale: 1, contentMode: .scaleToFill) == nil)
    }
}

@Suite @MainActor struct SizedLoadingTests {
    /// A view that was laid out.
    private func view(
        _ width: CGFloat,
        _ height: CGFloat,
        _ contentMode: KFCrossPlatformContentMode = .scaleAspectFit
    ) -> KFCrossPlatformImageView {
        let view = KFCrossPlatformImageView(frame: CGRect(x: 0, y: 0, width: width, height: height))
        view.contentMode = contentMode
        return view
    }

    private func size(_ view: KFCrossPlatformImageView) -> [Int] {
        [view.image?.pixelWidth ?? 0, view.image?.pixelHeight ?? 0]
    }

    /// Loads into a view and waits for the end.
    private func load(
        _ url: URL,
        into view: KFCrossPlatformImageView,
        _ rig: Rig,
        _ options: KingfisherOptionsInfo = [.sizedToView]
    ) async -> Outcome {
        await withCheckedContinuation { done in
            view.kf.setImage(with: url, options: rig.viewOptions + [.waitForCache] + options) {
                done.resume(returning: $0)
            }
        }
    }

    /// Waits until a view shows an image of some width.
    private func wait(_ view: KFCrossPlatformImageView, forWidth width: Int) async {
        while view.image?.pixelWidth != width { await Task.yield() }
    }

    @Test("An image fits into its view or covers it, and is never larger than the original")
    func contentModes() async throws {
        try await Rig.run { rig in
            let url = rig.server.route("/a.png", .data(try SampleImage.png(640, 320)))
            let expected: [(KFCrossPlatformContentMode, [Int])] = [
                (.scaleAspectFit, [128, 64]), (.scaleAspectFill, [256, 128]), (.scaleToFill, [256, 128]),
                (.center, [640, 320]),
            ]
            for (mode, size) in expected {
                let view = view(120, 120, mode)
                #expect(await load(url, into: view, rig).code == 0)
                #expect(self.size(view) == size, "\(mode)")
            }
            let large = view(2_000, 2_000)
            #expect(await load(url, into: large, rig).code == 0 && size(large) == [640, 320])
            #expect(rig.server.count("/a.png") == 1)  // the original is on disk
        }
    }

    @Test("The original of a download is kept on disk, that of a local file is not") func originals() async throws {
        try await Rig.run { rig in
            let bytes = try SampleImage.png(640, 320)
            let url = rig.server.route("/a.png", .data(bytes))
            #expect(await load(url, into: view(64, 64), rig).code == 0)
            #expect(rig.cache.diskStorage.isCached(forKey: url.convertToSource().cacheKey))
            let file = rig.directory.appendingPathComponent("b.png")
            try bytes.write(to: file)
            let shown = view(64, 64)
            #expect(await load(file, into: shown, rig).code == 0 && size(shown) == [64, 32])
            #expect(!rig.cache.diskStorage.isCached(forKey: file.convertToSource().cacheKey))
        }
    }

    @Test("A load waits for the first layout, and can be cancelled, replaced and forgotten until then")
    func firstLayout() async throws {
        try await Rig.run { rig in
            let url = rig.server.route("/a.png", .data(try SampleImage.png(640, 320)))
            let options = rig.viewOptions + [.sizedToView]
            @MainActor func start(_ view: KFCrossPlatformImageView) -> (DownloadTask?, Promise<Int>) {
                let done = Promise<Int>()
                let task = view.kf.setImage(with: url, options: options) { done.fulfil($0.code) }
                return (task, done)
            }
            let view = KFCrossPlatformImageView()
            let (first, cancelled) = start(view)
            #expect(first != nil && view.kf.taskIdentifier != nil)
            first?.cancel()
            #expect(await cancelled.value != 0)
            let (_, replaced) = start(view)
            let (_, shown) = start(view)
            #expect(await replaced.value != 0)
            do {
                let forgotten = KFCrossPlatformImageView()
                let (_, ended) = start(forgotten)
                _ = consume forgotten
                #expect(await ended.value != 0)
            }
            #expect(rig.server.count("/a.png") == 0)
            view.bounds = CGRect(x: 0, y: 0, width: 64, height: 64)
            #expect(await shown.value == 0 && size(view) == [64, 32])
        }
    }

    @Test("A view that grows loads again and keeps its image until then; one that shrinks does not")
    func growing() async throws {
        try await Rig.run { rig in
            let url = rig.server.route("/a.png", .data(try SampleImage.png(640, 320)))
            let view = view(64, 64)
            view.kf.indicatorType = .activity
            #expect(await load(url, into: view, rig).code == 0 && size(view) == [64, 32])
            let first = try #require(view.image)
            view.bounds.size = CGSize(width: 16, height: 16)
            #expect(view.kf.taskIdentifier == nil && view.image === first)
            view.bounds.size = CGSize(width: 300, height: 32)  // as high as the image
            #expect(view.kf.taskIdentifier == nil)
            view.bounds.size = CGSize(width: 300, height: 300)
            #expect(view.kf.taskIdentifier != nil && view.image === first && view.loadCount == 0)
            await wait(view, forWidth: 320)
            // Beyond the original nothing is gained.
            view.bounds.size = CGSize(width: 700, height: 700)
            await wait(view, forWidth: 640)
            view.bounds.size = CGSize(width: 3_000, height: 3_000)
            #expect(view.kf.taskIdentifier == nil)
            #expect(rig.server.count("/a.png") == 1)
        }
    }

    @Test("An image that was set since, and a load without the option, are left alone when the view grows")
    func notItsImage() async throws {
        try await Rig.run { rig in
            let url = rig.server.route("/a.png", .data(try SampleImage.png(640, 320)))
            let (view, own) = (view(64, 64), SampleImage.gradient(8, 8))
            #expect(await load(url, into: view, rig).code == 0)
            view.image = own
            view.bounds.size = CGSize(width: 300, height: 300)
            #expect(view.kf.taskIdentifier == nil && view.image === own)
            view.bounds.size = CGSize(width: 64, height: 64)
            #expect(await load(url, into: view, rig).code == 0 && size(view) == [64, 32])
            #expect(await load(url, into: view, rig, []).code == 0 && size(view) == [640, 320])
            view.bounds.size = CGSize(width: 300, height: 300)
            #expect(view.kf.taskIdentifier == nil)
        }
    }

    @Test("A larger image in memory is shown until the right one is there")
    func largerInMemory() async throws {
        try await Rig.run { rig in
            let url = rig.server.route("/a.png", .data(try SampleImage.png(640, 320)))
            let (large, small) = (view(320, 320), view(64, 64))
            #expect(await load(url, into: large, rig).code == 0 && size(large) == [320, 160])
            let done = Promise<Int>()
            small.kf.setImage(with: url, options: rig.viewOptions + [.sizedToView]) { done.fulfil($0.code) }
            #expect(small.image === large.image)
            #expect(await done.value == 0 && size(small) == [64, 32])
        }
    }

    @Test("A described image has the size of its view, after a processor of its own")
    func description() async throws {
        try await Rig.run { rig in
            rig.server.route("/a.png", .data(try SampleImage.png(640, 320)))
            let description = KFImage(rig.server.url("/a.png"))
                .resizable()
                .sizedToView()
                .setProcessor(BlackWhiteProcessor())
                .targetCache(rig.cache)
            let view = KFImageView(description)
            view.isOnScreen = true
            #expect(view.imageView.image == nil)
            view.bounds = CGRect(x: 0, y: 0, width: 64, height: 64)
            await wait(view.imageView, forWidth: 128)
        }
    }
}
