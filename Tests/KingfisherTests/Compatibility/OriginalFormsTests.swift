// Calls as programs for the original Kingfisher have them. That they compile is most of the test.

import Foundation
import Kingfisher
import Testing

@Suite @MainActor struct OriginalFormsTests {
    private let url = URL(string: "http://localhost/a.png")
    private let provider = RawImageDataProvider(data: Data(), cacheKey: "provider")

    /// Expects that a call loads a source: the next call for the same place supersedes it, which is reported with it.
    private func expectSource(_ source: Source?, _ body: (@escaping @MainActor (Source?) -> Void) -> Void) async {
        let loaded: Source? = await withCheckedContinuation { done in body { done.resume(returning: $0) } }
        #expect(loaded == source)
    }

    private func source(of result: Result<RetrieveImageResult, KingfisherError>) -> Source? {
        guard case .failure(.imageSettingError(.notCurrentSourceTask(_, _, let source))) = result else { return nil }
        return source
    }

    @Test("A source can be written as `.network` and `.provider` wherever an image is set")
    func sources() async throws {
        let url = try #require(url)
        try await Rig.run { rig in
            await checkSources(url, rig.viewOptions + [.onlyFromCache])
        }
    }

    private func checkSources(_ url: URL, _ options: KingfisherOptionsInfo) async {
        let (view, item, button) = (KFCrossPlatformImageView(), OriginalItem(), KFCrossPlatformButton())
        await expectSource(.network(url)) { done in
            view.kf.setImage(with: .network(url), options: options) { done(source(of: $0)) }
            view.kf.setImage(with: nil)
        }
        await expectSource(.provider(provider)) { done in
            view.kf.setImage(with: .provider(provider), options: options, progressBlock: nil) { done(source(of: $0)) }
            view.kf.setImage(with: nil, options: options, progressBlock: { _, _ in })
        }
        await expectSource(.network(url)) { done in
            item.kf.setImage(with: .network(url), options: options) { done(source(of: $0)) }
            item.kf.setImage(with: .provider(provider), options: options, progressBlock: nil)
            item.kf.setImage(with: nil)
        }
        await expectSource(.network(url)) { done in
            button.kf.setImage(with: .network(url), for: .normal, options: options) { done(source(of: $0)) }
            button.kf.setImage(with: nil)
        }
        await expectSource(.network(url)) { done in
            button.kf.setBackgroundImage(with: .network(url), options: options) { done(source(of: $0)) }
            button.kf.setBackgroundImage(with: nil as URL?)
        }
        await expectSource(.provider(provider)) { done in
            button.kf.setAlternateImage(with: .provider(provider), options: options) { done(source(of: $0)) }
            button.kf.setAlternateImage(with: nil)
        }
    }

    @Test("Views can be made with a frame, and be found in a list of views") func views() {
        let frame = CGRect(x: 9, y: 9, width: 30, height: 20)
        let views: [KFCrossPlatformView] = [
            KFCrossPlatformView(frame: frame), KFCrossPlatformImageView(frame: frame), AnimatedImageView(frame: frame),
            KFCrossPlatformButton(frame: frame),
        ]
        for view in views { #expect(view.bounds == CGRect(x: 0, y: 0, width: 30, height: 20)) }
        views[0].addSubview(views[1])
        #expect(views[0].subviews.contains(views[1]) && !views[0].subviews.contains(views[2]))
        #expect(Set(views + views).count == 4)
    }

    @Test("The shared manager has the default cache and the default downloader, which waits for 15 seconds")
    func shared() {
        #expect(KingfisherManager.shared.cache === ImageCache.default)
        #expect(KingfisherManager.shared.downloader === ImageDownloader.default)
        #expect(ImageDownloader(name: "new").downloadTimeout == 15)
    }

    @Test("Images can be given another scale") func scale() {
        let image = SampleImage.gradient(40, 20)
        let scaled = image.kf.scaled(to: 2)
        #expect(scaled.scale == 2 && scaled.size == CGSize(width: 20, height: 10) && scaled.cgImage == image.cgImage)
        #expect(image.kf.scaled(to: 1) === image)
    }

    @Test("How an image wants to be shown is kept with it, and is set by modifiers") func display() {
        let image = SampleImage.gradient(4, 4)
        #expect(image.renderingMode == .automatic && image.alignmentRectInsets == .zero)
        let insets = KFCrossPlatformImage.EdgeInsets(top: 1, left: 2, bottom: 3, right: 4)
        let modifiers: [any ImageModifier] = [
            RenderingModeImageModifier(renderingMode: .alwaysTemplate),
            FlipsForRightToLeftLayoutDirectionImageModifier(),
            AlignmentRectInsetsImageModifier(alignmentInsets: insets),
        ]
        let shown = modifiers.reduce(image) { image, modifier in modifier.modify(image) }
        #expect(shown.renderingMode == .alwaysTemplate && shown.flipsForRightToLeftLayoutDirection)
        #expect(shown.alignmentRectInsets == insets && shown.cgImage == image.cgImage && shown != image)
        #expect(modifiers[0].modify(shown) === shown && image.renderingMode == .automatic)
        #expect(shown.kf.scaled(to: 2).renderingMode == .alwaysTemplate)
    }

    @Test("A builder's redirect block and delegates compile as in the original") func builder() {
        let item = OriginalItem()
        let builder = KF.url(url).redirectHandler { payload in payload.completionHandler(payload.newRequest) }
        builder.onSuccessDelegate.delegate(on: item) { item, result in item.image = result.image }
        builder.onProgressDelegate.delegate(on: item) { _, progress in _ = progress.0 + progress.1 }
        #expect(builder.onSuccessDelegate.isSet && !builder.onFailureDelegate.isSet)
        #expect(builder.copyForMutation().onSuccessDelegate.isSet)
    }
}

@MainActor private final class OriginalItem: KingfisherHasImageComponent {
    var image: KFCrossPlatformImage?
}
