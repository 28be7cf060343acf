// The functions of version 4, called as programs written for it call them.

import Foundation
import KFSupport
import Kingfisher
import KingfisherTestSupport
import Testing

@Suite struct Version4UsageTests {
    @Test("An image view is given a resource and all the other arguments, and its download is cancelled") @MainActor
    func imageView() async throws {
        try await Rig.run { rig in
            let (gate, imageView) = (Gate(), KFCrossPlatformImageView())
            rig.server.route("/a.png", TestResponse.data(try SampleImage.png(9, 9)).with { $0.gate = gate })
            let resource = KF.ImageResource(downloadURL: rig.server.url("/a.png"), cacheKey: "my key")
            @MainActor func load(_ end: @escaping @MainActor (Result<RetrieveImageResult, KingfisherError>) -> Void) {
                imageView.kf.setImage(
                    with: resource,
                    placeholder: SampleImage.gradient(3, 3),
                    options: rig.viewOptions,
                    progressBlock: { _, _ in },
                    completionHandler: end
                )
            }
            let cancelled = await withCheckedContinuation { done in
                load { done.resume(returning: $0) }
                #expect(imageView.image?.pixelWidth == 3)
                imageView.kf.cancelDownloadTask()
            }
            guard case .failure(let error) = cancelled else { return #expect(Bool(false), "it was cancelled") }
            #expect(error.isCancelled)
            gate.open()
            let loaded = await withCheckedContinuation { done in load { done.resume(returning: $0) } }
            #expect(try loaded.get().image.pixelWidth == 9 && imageView.image?.pixelWidth == 9)
            #expect(rig.cache.isCached(forKey: "my key"))
        }
    }

    /// The four arguments of a handler of that version.
    private struct End: Sendable {
        let width: Int?
        let error: NSError?
        let type: CacheType
        let url: URL?
    }

    @Test("The manager's form with four results finds an image, or gives an error of the library's domain")
    func manager() async throws {
        try await Rig.run { rig in
            rig.server.route("/a.png", .data(try SampleImage.png(9, 9)))
            let good = rig.server.url("/a.png"), missing = rig.server.url("/missing")
            for (url, type) in [(good, CacheType.none), (good, .memory), (missing, .none)] {
                let ended = Promise<End>()
                let task: RetrieveImageTask = rig.manager.deprecatedForms.retrieveImage(
                    with: url,
                    options: [.waitForCache],
                    progressBlock: nil
                ) { image, error, type, url in
                    ended.fulfil(End(width: image?.pixelWidth, error: error, type: type, url: url))
                }
                let end = await ended.value
                #expect(end.width == (url == good ? 9 : nil) && end.type == type && end.url == url)
                #expect(end.error?.code == (url == good ? nil : 2002))
                task.cancel()
            }
        }
    }

    @Test("An image is downloaded and stored under a key, whatever is cached") func downloadAndCache() async throws {
        try await Rig.run { rig in
            rig.server.route("/a.png", .data(try SampleImage.png(9, 9)))
            for count in 1...2 {
                let ended = Promise<Int?>()
                rig.manager.downloadAndCacheImage(
                    with: rig.server.url("/a.png"),
                    forKey: "my key",
                    retrieveImageTask: RetrieveImageTask(),
                    progressBlock: nil,
                    completionHandler: { image, _, _, _ in ended.fulfil(image?.pixelWidth) },
                    options: [.waitForCache]
                )
                #expect(await ended.value == 9 && rig.server.count("/a.png") == count)
            }
            #expect(rig.cache.isCached(forKey: "my key"))
        }
    }

    @Test("A downloader has a time limit and pipelining, and downloads without a cache") func downloader() async throws
    {
        try await Rig.run { rig in
            let downloader = ImageDownloader(name: "article")
            #expect(downloader.downloadTimeout == 15)
            downloader.downloadTimeout = 300
            let bytes = try SampleImage.png(9, 9)
            rig.server.route("/a.png", .data(bytes))
            let ended = Promise<Data?>()
            downloader.downloadImage(
                with: rig.server.url("/a.png"),
                options: [.callbackQueue(.untouch)],
                progressBlock: { _, _ in }
            ) { ended.fulfil((try? $0.get())?.originalData) }
            #expect(await ended.value == bytes && rig.files.isEmpty)
        }
    }

    @Test("The processors that are listed make images of one another's") func processors() throws {
        let black = Color(red: 0, green: 0, blue: 0, alpha: 1)
        let size = CGSize(width: 20, height: 10)
        let all: [any ImageProcessor] = [
            DefaultImageProcessor.default,
            BlendImageProcessor(blendMode: .multiply, alpha: 0.5, backgroundColor: black),
            RoundCornerImageProcessor(cornerRadius: 4), ResizingImageProcessor(referenceSize: size),
            BlurImageProcessor(blurRadius: 2), OverlayImageProcessor(overlay: black, fraction: 0.5),
            TintImageProcessor(tint: black), BlackWhiteProcessor(),
            ColorControlsProcessor(brightness: 0.1, contrast: 1, saturation: 0.5, inputEV: 0.2),
            CroppingImageProcessor(size: CGSize(width: 8, height: 8), anchor: CGPoint(x: 0.5, y: 0.5)),
        ]
        let options = KingfisherParsedOptionsInfo([])
        let item = ImageProcessItem.data(try SampleImage.png(40, 40))
        let chain = all.dropFirst().reduce(all[0]) { $0 |> $1 }
        #expect(chain.process(item: item, options: options)?.size == CGSize(width: 8, height: 8))
        for processor in all { #expect(processor.process(item: item, options: options) != nil) }
        #expect(Set(all.map(\.identifier)).count == all.count)
    }

    @Test("A cache stores an image with its data, and is asked with two results") func cache() async throws {
        try await Rig.run { rig in
            let (cache, bytes) = (rig.cache, try SampleImage.png(9, 9))
            let image = try #require(Image(data: bytes))
            let stored = Promise<Void>()
            let store = {
                cache.store(
                    image,
                    original: bytes,
                    forKey: "key",
                    processorIdentifier: "",
                    cacheSerializer: DefaultCacheSerializer.default,
                    toDisk: true,
                    completionHandler: { stored.fulfil(()) }
                )
            }
            store()
            await stored.value
            for type in [CacheType.memory, .disk] {
                if type == .disk { cache.clearMemoryCache() }
                let found = Promise<CacheType>()
                let retrieve = {
                    cache.retrieveImage(forKey: "key", options: [.callbackQueue(.untouch)]) { image, type in
                        #expect(image?.pixelWidth == 9)
                        found.fulfil(type)
                    }
                }
                _ = retrieve()
                #expect(await found.value == type)
            }
        }
    }
}
