// The view of a `KFImage`: its content, when it loads, replaced descriptions, and bad input.

import Foundation
import KFImaging
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite @MainActor struct KFImageViewTests {
    private let calls = KFImageCalls()
    private let placeholder = KFCrossPlatformView()
    private let failureView = KFCrossPlatformView()

    private func shownView(_ image: some KFImageProtocol) -> KFImageView {
        let view = image.makeView()
        KFImageTestRenderer.show(view)
        return view
    }

    // MARK: Content

    @Test("The view shows either the placeholder or the image, and never both") func placeholderThenImage()
        async throws
    {
        try await Rig.run { rig in
            let gate = Gate()
            let image = try rig.kfImage("/a", until: gate).placeholder { placeholder }.reporting(to: calls)
            let view = shownView(image)
            #expect(view.isShowing(placeholder) && view.imageView.superview == nil)
            gate.open()
            await calls.wait()
            #expect(view.isShowing(view.imageView) && view.imageView.image?.pixelWidth == 64)
            #expect(placeholder.superview == nil)
        }
    }

    @Test("After a failure the failure view is shown, else the failure image, else the placeholder stays")
    func failures()
        async throws
    {
        try await Rig.run { rig in
            rig.server.route("/a", .data(Data("no picture".utf8)))
            let (image, picture) = (rig.kfImage(rig.server.url("/a")).reporting(to: calls), SampleImage.gradient(2, 2))
            let viewed = shownView(image.onFailureImage(picture).onFailureView { failureView })
            let pictured = shownView(image.onFailureImage(picture))
            let plain = shownView(image.placeholder { placeholder })
            await calls.wait(for: 3)
            #expect(viewed.isShowing(failureView))
            #expect(pictured.isShowing(pictured.imageView) && pictured.imageView.image === picture)
            #expect(plain.isShowing(placeholder) && calls.codes == [4001, 4001, 4001])
        }
    }

    @Test("Without a placeholder the view is empty until the image is there") func noPlaceholder() async throws {
        try await Rig.run { rig in
            let view = shownView(try rig.kfImage("/a").placeholder(nil).reporting(to: calls))
            #expect(view.subviews.isEmpty)
            await calls.wait()
            #expect(view.isShowing(view.imageView))
        }
    }

    @Test("An image as a placeholder has the content mode of the loaded image, which fades in over it")
    func imagePlaceholder() async throws {
        try await Rig.run { rig in
            let image = SampleImage.gradient(2, 2)
            let view = shownView(
                try rig.kfImage("/a").placeholder(image).scaledToFill().fade(duration: 1).reporting(to: calls)
            )
            let shown = try #require(view.subviews.first as? KFCrossPlatformImageView)
            #expect(shown.image === image && shown.contentMode == .scaleAspectFill)
            await calls.wait()
            #expect(view.isShowing(view.imageView) && view.imageView.transition?.previous === image)
        }
    }

    @Test("A placeholder follows the download's progress") func progressPlaceholder() async throws {
        try await Rig.run { rig in
            let (data, gate, half) = (try SampleImage.png(), Gate(), Gate())
            let middle = data.count / 2
            rig.server.route("/a", TestResponse.data(data).with { $0.interruption = .hold(after: middle, until: gate) })
            let image = rig.kfImage(rig.server.url("/a")).placeholder { progress in
                let view = KFCrossPlatformView()
                view.accessibilityLabel = "\(progress.completedUnitCount) of \(progress.totalUnitCount)"
                return view
            }
            let view = shownView(
                image.onProgress { received, _ in if received == middle { half.open() } }.reporting(to: calls)
            )
            #expect(view.subviews.map(\.accessibilityLabel) == ["0 of 0"])
            await half.wait()
            #expect(view.subviews.map(\.accessibilityLabel) == ["\(middle) of \(data.count)"])
            gate.open()
            await calls.wait()
            #expect(view.isShowing(view.imageView))
        }
    }

    @Test("Images in memory are shown without their placeholder") func memoryHit() async throws {
        try await Rig.run { rig in
            let made = Counter()
            let image = try await rig.kfImageInMemory("/a").placeholder {
                made.add()
                return KFCrossPlatformView()
            }
            let view = image.makeView()
            #expect(made.value == 1)
            KFImageTestRenderer.show(view)
            #expect(view.isShowing(view.imageView))
            view.show(image)
            #expect(view.isShowing(view.imageView) && view.imageView.image != nil && made.value == 1)
        }
    }

    @Test("The placeholder stays until the transition begins, and the success handler is called during the transition")
    func loadTransition() async throws {
        try await Rig.run { rig in
            let (gate, finished) = (Gate(), Box<[Bool]>([]))
            let transition = ImageTransition.custom(duration: 2, completion: { finished.value.append($0) })
            let image = try rig.kfImage("/a", until: gate).placeholder { placeholder }.loadTransition(transition)
            let view = shownView(image.reporting(to: calls))
            #expect(view.isShowing(placeholder))
            gate.open()
            await calls.wait()
            #expect(view.isShowing(view.imageView) && view.imageView.transition != nil && finished.value.isEmpty)
            KFImageTestRenderer.advance(view.imageView, by: 1)
            #expect(view.imageView.transition?.progress == 0.5)
            KFImageTestRenderer.advance(view.imageView, by: 1)
            #expect(view.imageView.transition == nil && finished.value == [true] && calls.codes == [0])
        }
    }

    @Test("A custom transition gets a configured view") func transitionAfterConfiguration() async throws {
        try await Rig.run { rig in
            let mode = Box<KFCrossPlatformContentMode?>(nil)
            let transition = ImageTransition.custom(
                duration: 0,
                animations: { view, image in
                    mode.value = view.contentMode
                    view.image = image
                }
            )
            let view = shownView(try rig.kfImage("/a").loadTransition(transition).resizable().reporting(to: calls))
            await calls.wait()
            #expect(mode.value == .scaleToFill && view.imageView.image?.pixelWidth == 64)
        }
    }

    // MARK: Loading

    @Test("A load starts when the view appears, and continues when it disappears") func appearing() async throws {
        try await Rig.run { rig in
            let gate = Gate()
            let view = try rig.kfImage("/a", until: gate).reporting(to: calls).makeView()
            await drainMainQueue()
            #expect(rig.server.requests.isEmpty)
            view.isOnScreen = true
            view.isOnScreen = false
            view.isOnScreen = true
            view.isOnScreen = false
            gate.open()
            await calls.wait()
            #expect(view.imageView.image?.pixelWidth == 64 && rig.server.count("/a") == 1 && calls.codes == [0])
        }
    }

    @Test("If the option is on, disappearing cancels the load and appearing starts it again")
    func cancelling() async throws {
        try await Rig.run { rig in
            let gate = Gate()
            let image = try rig.kfImage("/a", until: gate).placeholder { placeholder }.onFailureView { failureView }
            let view = shownView(image.cancelOnDisappear(true).reducePriorityOnDisappear(true).reporting(to: calls))
            await rig.server.waitForRequests(to: "/a")
            view.isOnScreen = false
            await calls.wait()
            #expect(calls.codes == [1003] && view.isShowing(placeholder))
            view.isOnScreen = true
            gate.open()
            await calls.wait(for: 2)
            #expect(calls.codes == [1003, 0] && view.imageView.image != nil)
            view.isOnScreen = false
            view.isOnScreen = true
            await drainMainQueue()
            #expect(calls.codes.count == 2 && view.isShowing(view.imageView))
        }
    }

    @Test("Disappearing lowers the priority of a download if the option is on", arguments: [true, false])
    func priority(isReduced: Bool) async throws {
        try await Rig.run { rig in
            let (source, received) = (KFImageTransfer(), Gate())
            let image = rig.kfImage(source.url).downloader(source.downloader).onProgress { _, _ in received.open() }
            let view = shownView(image.reducePriorityOnDisappear(isReduced).reporting(to: calls))
            let transfer = try await source.arrive(until: received)
            view.isOnScreen = false
            #expect(transfer.priority == (isReduced ? 0.25 : 0.5))
            view.isOnScreen = true
            #expect(transfer.priority == 0.5)
            source.downloader.cancelAll()
            await calls.wait()
        }
    }

    @Test("A load can start on the next turn, before the view appears") func beforeAppearing() async throws {
        try await Rig.run { rig in
            let image = try await rig.kfImageInMemory("/a").reporting(to: calls)
            let (early, late) = (image.startLoadingBeforeViewAppear().makeView(), image.makeView())
            #expect(early.imageView.image == nil)
            await drainMainQueue()
            #expect(early.isShowing(early.imageView) && early.imageView.image != nil && late.imageView.image == nil)
            early.show(image.startLoadingBeforeViewAppear())
            #expect(early.imageView.image == nil)
            await drainMainQueue()
            #expect(early.imageView.image != nil && calls.codes == [0, 0])
        }
    }

    // MARK: Another description

    @Test("Of fifty descriptions the last one is shown, in whatever order their loads end", arguments: [true, false])
    func manyDescriptions(cancels: Bool) async throws {
        try await Rig.run { rig in
            let (others, last) = (Gate(), Gate())
            let view = shownView(rig.kfImage(nil))
            for number in 1...50 {
                let image = try rig.kfImage("/\(number)", width: number, until: number == 50 ? last : others)
                view.show(image.cancelOnDisappear(cancels).reporting(to: calls))
            }
            others.open()
            await calls.wait(for: 49)
            #expect(view.subviews.isEmpty && Set(calls.codes) == [5002])
            last.open()
            await calls.wait(for: 50)
            #expect(calls.codes.last == 0 && view.isShowing(view.imageView))
            #expect(view.imageView.image?.pixelWidth == 50)
        }
    }

    @Test("The image of a replaced description is still cached, and not shown")
    func lateDownload() async throws {
        try await Rig.run { rig in
            let gate = Gate()
            let view = shownView(try rig.kfImage("/a", width: 2, until: gate).waitForCache().reporting(to: calls))
            await rig.server.waitForRequests(to: "/a")
            let second = KFImageCalls()
            view.show(try rig.kfImage("/b", width: 3).reporting(to: second))
            await second.wait()
            gate.open()
            await calls.wait()
            #expect(view.imageView.image?.pixelWidth == 3 && calls.codes == [5002])
            #expect(rig.cache.isCached(forKey: rig.server.url("/a").cacheKey))
        }
    }

    @Test("A new description removes the current image at once, or keeps it until its own is loaded")
    func keeping() async throws {
        try await Rig.run { rig in
            let gate = Gate()
            let image = try await rig.kfImageInMemory("/a", width: 2)
            let view = shownView(image)
            let first = view.imageView
            let next = try rig.kfImage("/b", width: 3, until: gate).placeholder { placeholder }.reporting(to: calls)
            view.show(next.keepCurrentImageWhileLoading().fade(duration: 1))
            #expect(view.isShowing(first) && view.imageView !== first)
            gate.open()
            await calls.wait()
            #expect(view.isShowing(view.imageView) && view.imageView.image?.pixelWidth == 3)
            #expect(view.imageView.transition?.previous?.pixelWidth == 2)
            view.isOnScreen = false
            view.show(next)
            #expect(view.isShowing(placeholder))
        }
    }

    @Test("A view can show another kind of description") func otherKind() async throws {
        try await Rig.run { rig in
            let image = try await rig.kfImageInMemory("/a")
            let view = shownView(image)
            view.show(KFAnimatedImage(context: image.context).reporting(to: calls))
            await calls.wait()
            #expect(view.imageView is AnimatedImageView && view.isShowing(view.imageView))
        }
    }

    // MARK: Bad input

    @Test("A view without a source shows its failure view") func noSource() async throws {
        try await Rig.run { rig in
            let view = rig.kfImage(nil).onFailureView { failureView }.reporting(to: calls).makeView()
            #expect(view.subviews.isEmpty && calls.codes.isEmpty)
            KFImageTestRenderer.show(view)
            #expect(view.isShowing(failureView) && calls.codes == [5001])
            view.isOnScreen = false
            view.isOnScreen = true
            #expect(calls.codes == [5001])
        }
    }

    @Test("A handler may show another description") func showingInHandler() async throws {
        try await Rig.run { rig in
            let (next, view) = (try rig.kfImage("/a").reporting(to: calls), rig.kfImage(nil).makeView())
            KFImageTestRenderer.show(view)
            view.show(rig.kfImage(nil).onFailureView { failureView }.onFailure { _ in view.show(next) })
            #expect(view.subviews.isEmpty)
            await calls.wait()
            #expect(view.isShowing(view.imageView) && view.imageView.image?.pixelWidth == 64)
        }
    }

    @Test("A failed load is started again when the view appears again") func secondAttempt() async throws {
        try await Rig.run { rig in
            rig.server.route("/a", sequence: [.status(404), .data(try SampleImage.png())])
            let image = rig.kfImage(rig.server.url("/a")).placeholder { placeholder }.onFailureView { failureView }
            let view = shownView(image.reporting(to: calls))
            await calls.wait()
            #expect(view.isShowing(failureView))
            view.isOnScreen = false
            view.isOnScreen = true
            #expect(view.isShowing(placeholder))
            await calls.wait(for: 2)
            #expect(view.isShowing(view.imageView) && calls.codes == [2002, 0])
        }
    }

    @Test("A load does not keep its view alive, and its handler is still called") func releasedView() async throws {
        try await Rig.run { rig in
            let gate = Gate()
            var view: KFImageView? = shownView(try rig.kfImage("/a", until: gate).reporting(to: calls))
            weak let released = view
            await rig.server.waitForRequests(to: "/a")
            view = nil
            #expect(released == nil)
            gate.open()
            await calls.wait()
            #expect(calls.codes == [5002])
        }
    }
}

extension KFImageView {
    /// Whether `view` is the only subview.
    fileprivate func isShowing(_ view: KFCrossPlatformView) -> Bool { subviews.count == 1 && subviews.first === view }
}
