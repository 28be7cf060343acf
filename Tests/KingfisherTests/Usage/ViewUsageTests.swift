// Everyday uses of image views, providers and processors, each written as a program writes it.

import Foundation
import KFImaging
import KFSupport
import Kingfisher
import KingfisherTestSupport
import Testing

/// A provider of files of one directory, by their names, as the articles write one for those of a bundle.
private struct FileNameImageDataProvider: ImageDataProvider {
    let cacheKey: String
    let fileName: String
    let directory: URL

    init(fileName: String, cacheKey: String? = nil, in directory: URL) {
        self.fileName = fileName
        self.cacheKey = cacheKey ?? fileName
        self.directory = directory
    }

    func data(handler: @escaping @Sendable (Result<Data, any Error>) -> Void) {
        let fileURL = directory.appendingPathComponent(fileName)
        if FileManager.default.fileExists(atPath: fileURL.path) {
            handler(Result(catching: { try Data(contentsOf: fileURL) }))
        } else {
            handler(.failure(NSError(domain: "no such file", code: -1, userInfo: ["fileName": fileName])))
        }
    }
}

/// A view as a placeholder, which needs nothing more.
private final class PlaceholderView: KFCrossPlatformView, Placeholder {}

/// An indicator of the user's, which shows and hides its view.
private struct CustomIndicator: Indicator {
    let view = KFCrossPlatformView()
    func startAnimatingView() { view.isHidden = false }
    func stopAnimatingView() { view.isHidden = true }
}

/// Blurs, then rounds the corners.
private struct CombinedProcessor: ImageProcessor {
    let identifier = "123"
    private let processor1 = BlurImageProcessor(blurRadius: 5)
    private let processor2 = RoundCornerImageProcessor(cornerRadius: 20)

    func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        if let image = processor1.process(item: item, options: options) {
            return processor2.process(item: .image(image), options: options)
        }
        return nil
    }
}

extension Bitmap {
    fileprivate func alpha(x: Int, y: Int) -> UInt8 { withUnsafeBytes { $0[y * bytesPerRow + x * 4 + 3] } }
}

@Suite @MainActor struct ViewUsageTests {
    private let imageView = KFCrossPlatformImageView()

    /// Sets the image, checks what is shown meanwhile, and returns the result.
    private func set(
        _ source: any SourceConvertible,
        _ rig: Rig,
        _ options: KingfisherOptionsInfo = [],
        placeholder: (any Placeholder)? = nil,
        in view: KFCrossPlatformImageView? = nil,
        meanwhile: () -> Void = {}
    ) async -> Result<RetrieveImageResult, KingfisherError> {
        let view = view ?? imageView
        return await withCheckedContinuation { done in
            view.kf.setImage(with: source, placeholder: placeholder, options: rig.viewOptions + options) {
                done.resume(returning: $0)
            }
            meanwhile()
        }
    }

    // MARK: Sources

    @Test("An image comes from a URL, or from a resource with a key of its own") func resources() async throws {
        try await Rig.run { rig in
            rig.server.route("/image.jpg", .data(try SampleImage.jpeg(30, 20)))
            let url = rig.server.url("/image.jpg")
            #expect(try await set(url, rig).get().source.cacheKey == url.absoluteString)
            let imageResource = KF.ImageResource(downloadURL: url, cacheKey: "custom_cache_key")
            #expect(try await set(imageResource, rig).get().cacheType == .none)
            #expect(rig.cache.isCached(forKey: "custom_cache_key") && imageView.image?.pixelWidth == 30)
        }
    }

    @Test("An image comes from a file, Base64 text or bytes at hand") func providers() async throws {
        try await Rig.run { rig in
            let (fileURL, data) = (rig.directory.appendingPathComponent("image.jpg"), try SampleImage.jpeg(30, 20))
            try data.write(to: fileURL)
            let all: [any ImageDataProvider] = [
                LocalFileImageDataProvider(fileURL: fileURL),
                Base64ImageDataProvider(base64String: data.base64EncodedString(), cacheKey: "base64_cache_key"),
                RawImageDataProvider(data: data, cacheKey: "data_cache_key"),
            ]
            for provider in all {
                imageView.image = nil
                #expect(try await set(provider, rig).get().data() == data)
                #expect(imageView.image?.size == CGSize(width: 30, height: 20))
                #expect(rig.cache.isCached(forKey: provider.cacheKey))
            }
        }
    }

    @Test("A provider of the user's finds files by their names, or says that there is none") func ownProvider()
        async throws
    {
        try await Rig.run { rig in
            try SampleImage.jpeg(30, 20).write(to: rig.directory.appendingPathComponent("image.jpg"))
            let good = FileNameImageDataProvider(fileName: "image.jpg", in: rig.directory)
            #expect(try await set(good, rig).get().image.pixelWidth == 30)
            let bad = FileNameImageDataProvider(fileName: "missing.jpg", in: rig.directory)
            guard case .failure(.imageSettingError(.dataProviderError(_, let error))) = await set(bad, rig) else {
                return #expect(Bool(false), "there is no such file")
            }
            #expect((error as NSError).domain == "no such file")
        }
    }

    // MARK: What is shown

    @Test("An image or a view is shown until the image is there") func placeholders() async throws {
        try await Rig.run { rig in
            rig.server.route("/a.png", .data(try SampleImage.png(9, 9)))
            let (image, view) = (SampleImage.gradient(3, 3), PlaceholderView())
            let result = await set(rig.server.url("/a.png"), rig, placeholder: image) {
                #expect(imageView.image === image)
            }
            #expect(try imageView.image === result.get().image)
            _ = await set(rig.server.url("/a.png?2"), rig, placeholder: view) {
                #expect(imageView.image == nil && imageView.subviews.contains(view))
            }
            #expect(imageView.image?.pixelWidth == 9 && !imageView.subviews.contains(view))
        }
    }

    @Test("An animation is shown by both kinds of image views, by one frame after the other in one of them")
    func animations() async throws {
        try await Rig.run { rig in
            let bytes = try #require(try animation("animated.gif").kf.gifRepresentation())
            rig.server.route("/image.gif", .data(bytes, type: "image/gif"))
            let (url, animatedImageView) = (rig.server.url("/image.gif"), AnimatedImageView())
            let plain = try await set(url, rig).get().image
            #expect(plain.frameCount == 3 && imageView.image?.images?.count == 3)
            rig.cache.clearMemoryCache()
            let animated = try await set(url, rig, in: animatedImageView).get().image
            #expect(animated.frameCount == 3 && animatedImageView.image === animated)
            #expect(rig.server.count("/image.gif") == 1)
        }
    }

    @Test("An indicator is none, the spinner, an image or the user's, and is hidden at the end") func indicators()
        async throws
    {
        try await Rig.run { rig in
            rig.server.route("/a.png", .data(try SampleImage.png(9, 9)))
            let indicator = CustomIndicator()
            let types: [IndicatorType] = [
                .none, .activity, .image(imageData: try SampleImage.png(5, 5)), .custom(indicator: indicator),
            ]
            for (number, type) in types.enumerated() {
                imageView.kf.indicatorType = type
                let view = imageView.kf.indicator?.view
                #expect((view == nil) == (number == 0))
                _ = await set(rig.server.url("/a.png?\(number)"), rig) { #expect(view?.isHidden != true) }
                #expect(view?.isHidden != false && imageView.image?.pixelWidth == 9)
            }
        }
    }

    @Test("The image comes with any of the transitions") func transitions() async throws {
        try await Rig.run { rig in
            rig.server.route("/a.png", .data(try SampleImage.png(9, 9)))
            let custom = Promise<Void>()
            let all: [ImageTransition] = [
                .none, .fade(0.2), .flipFromLeft(0.2), .flipFromRight(0.2), .flipFromTop(0.2), .flipFromBottom(0.2),
                .custom(duration: 0.2, animations: { $0.image = $1 }, completion: { _ in custom.fulfil(()) }),
            ]
            for (number, transition) in all.enumerated() {
                imageView.image = nil
                let result = await set(rig.server.url("/a.png?\(number)"), rig, [.transition(transition)])
                #expect(try imageView.image === result.get().image)
            }
            await custom.value
        }
    }

    // MARK: Processors

    @Test("Corners are rounded, all of them or some") func corners() async throws {
        try await Rig.run { rig in
            rig.server.route("/a.png", .data(try SampleImage.png(64, 64)))
            let url = rig.server.url("/a.png")
            let all: [any ImageProcessor] = [
                RoundCornerImageProcessor(cornerRadius: 20),
                RoundCornerImageProcessor(cornerRadius: 20, roundingCorners: [.topLeft, .bottomRight]),
            ]
            for (processor, isRound) in zip(all, [[true, true, true, true], [true, false, false, true]]) {
                let image = try await set(url, rig, [.processor(processor)]).get().image
                let corners = [(0, 0), (63, 0), (0, 63), (63, 63)].map { image.cgImage?.alpha(x: $0, y: $1) }
                #expect(corners.map { $0 == 0 } == isRound)
            }
        }
    }

    @Test("Processors are joined by a processor of the user's, by `append` and by an operator, all alike")
    func joined() async throws {
        try await Rig.run { rig in
            rig.server.route("/a.png", .data(try SampleImage.png(64, 64)))
            let blur = BlurImageProcessor(blurRadius: 5), corners = RoundCornerImageProcessor(cornerRadius: 20)
            let all: [any ImageProcessor] = [CombinedProcessor(), blur.append(another: corners), blur |> corners]
            var images: [Data?] = []
            for processor in all {
                images.append(
                    try await set(rig.server.url("/a.png"), rig, [.processor(processor)]).get().image.pngData()
                )
            }
            #expect(images[0] != nil && images[1] == images[0] && images[2] == images[0])
            #expect(all[1].identifier == all[2].identifier && all[0].identifier == "123")
        }
    }
}
