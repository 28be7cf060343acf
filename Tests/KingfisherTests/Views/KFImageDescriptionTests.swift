// Descriptions of `KFImage` as values: their settings, configurations and sources.

import Foundation
import KFImaging
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite @MainActor struct KFImageDescriptionTests {
    private let url = URL(string: "http://localhost/a.png")

    @Test("A chain keeps every setting, and does not change the description it began with") func valueSemantics() {
        let (first, calls, labels) = (KFImage(url), KFImageCalls(), Box<[String]>([]))
        let last = first.reporting(to: calls).onProgress { _, _ in labels.change { $0.append("progress") } }
            .placeholder { KFCrossPlatformView() }
            .onFailureView { KFCrossPlatformView() }
            .configure { _ in labels.change { $0.append("configured") } }
            .cancelOnDisappear(true).reducePriorityOnDisappear(true).startLoadingBeforeViewAppear()
            .fade(duration: 1).loadTransition(.flipFromTop(2)).forceRefresh().scaleFactor(3)
        let (before, after) = (first.context, last.context)

        #expect(!before.cancelsOnDisappear && !before.reducesPriorityOnDisappear && !before.startsBeforeAppearing)
        #expect(before.failureView == nil && before.loadTransition == nil && before.options.transition.isNone)
        #expect(!first.onProgressDelegate.isSet && !first.onSuccessDelegate.isSet && !first.onFailureDelegate.isSet)
        #expect(first.configurations.isEmpty && !before.options.forceRefresh && before.options.scaleFactor == 1)
        if case .none = before.placeholder {} else { Issue.record("there is a placeholder") }

        #expect(after.cancelsOnDisappear && after.reducesPriorityOnDisappear && after.startsBeforeAppearing)
        #expect(after.failureView != nil && after.loadTransition?.duration == 2)
        #expect(after.options.transition.duration == 1)
        #expect(after.options.forceRefresh && after.options.scaleFactor == 3 && after.source == before.source)
        if case .view = after.placeholder {} else { Issue.record("there is no placeholder") }
        after.handlers.progress?(1, 2)
        after.handlers.call(.failure(.imageSettingError(reason: .emptySource)))
        _ = last.makeConfiguredView()
        #expect(labels.value == ["progress", "configured"] && calls.codes == [5001])
    }

    @Test("Configurations are applied in order, to each image view, before it has an image")
    func configurationOrder() async throws {
        try await Rig.run { rig in
            let order = Box<[String]>([])
            let image = try await rig.kfImageInMemory("/a").configure { view in
                order.value.append(view.image == nil ? "first" : "late")
                view.contentMode = .scaleToFill
            }.resizable(.scaleAspectFill).configure { view in
                order.value.append("second")
                #expect(view.contentMode == .scaleAspectFill)
            }
            let view = image.makeView()
            #expect(order.value == ["first", "second"])
            KFImageTestRenderer.show(view)
            #expect(view.imageView.image != nil && view.imageView.contentMode == .scaleAspectFill)
            view.show(image)
            #expect(order.value == ["first", "second", "first", "second"])
        }
    }

    @Test("Images from a cache appear at once, unless a transition is forced")
    func transitionCondition() async throws {
        try await Rig.run { rig in
            let cached = try await rig.kfImageInMemory("/a").fade(duration: 1)
            #expect(shownView(cached).imageView.transition == nil)
            #expect(shownView(cached.forceTransition()).imageView.transition?.kind.duration == 1)
            #expect(shownView(cached.forceTransition().loadTransition(.none)).imageView.transition == nil)
            let calls = KFImageCalls()
            let view = shownView(cached.forceRefresh().reporting(to: calls))
            await calls.wait()
            #expect(view.imageView.transition?.kind.duration == 1)
        }
    }

    private func shownView(_ image: some KFImageProtocol) -> KFImageView {
        let view = image.makeView()
        KFImageTestRenderer.show(view)
        return view
    }

    @Test("Every kind of source has a description, with the manager's options") func sources() throws {
        #expect(KFImage(url).context.source?.url == url)
        #expect(KFImage(nil).context.source == nil && KFImage.source(nil).context.source == nil)
        #expect(KFImage.url(url, cacheKey: "mine").context.source?.cacheKey == "mine")
        #expect(KFAnimatedImage.resource(url).context.source?.url == url)
        #expect(KFAnimatedImage.data(Data(), cacheKey: "bytes").context.source?.cacheKey == "bytes")
        #expect(KFAnimatedImage.data(nil, cacheKey: "bytes").context.source == nil)
        let provider = RawImageDataProvider(data: Data(), cacheKey: "provider")
        #expect(KFImage.dataProvider(provider).context.source?.cacheKey == "provider")
        #expect(KFImage(url).options.targetCache === KingfisherManager.shared.cache)
        #expect(KFImage(url).options.loadDiskFileSynchronously)
    }

    @Test("Images have their own size unless they are resizable") func contentModes() {
        let image = KFImage(url)
        #expect(image.makeView().imageView.contentMode == .center)
        #expect(image.resizable().makeView().imageView.contentMode == .scaleToFill)
        #expect(image.scaledToFit().makeView().imageView.contentMode == .scaleAspectFit)
        #expect(image.scaledToFill().makeView().imageView.contentMode == .scaleAspectFill)
    }

    @Test("Animations are decoded on demand for animated views, and in advance for plain ones")
    func animations() async throws {
        let file = Catalogue.url("animated.gif")
        try await Rig.run { rig in
            let context = KFImageContext(source: file.convertToSource(), manager: rig.manager)
            let (one, two) = (KFImageCalls(), KFImageCalls())
            let animated = KFAnimatedImage(context: context).reporting(to: one)
                .configure { $0.repeatCount = .once }.purgeFramesOnBackground()
            let (view, plain) = (shownView(animated), shownView(KFImage(context: context).reporting(to: two)))
            await one.wait()
            await two.wait()
            let player = try #require(view.imageView as? AnimatedImageView)
            #expect(player.repeatCount == .once && player.purgeFramesOnBackground && player.animator != nil)
            #expect(player.image?.images == nil)
            #expect(plain.imageView.image?.images?.isEmpty == false)
        }
    }
}
