// Placeholders and indicators of image views.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite @MainActor struct PlaceholderViewTests {
    private let picture = SampleImage.gradient(2, 2)

    @Test("An image is a placeholder for image views and for objects with an image")
    func imagePlaceholder() {
        let (view, item) = (KFCrossPlatformImageView(), Item())
        picture.add(to: view)
        picture.add(to: item)
        #expect(view.image === picture && item.image === picture)
        picture.remove(from: view)
        picture.remove(from: item)
        #expect(view.image == nil && item.image == nil)
    }

    @Test("A view as a placeholder is shown over the image view, whose image is cleared")
    func viewPlaceholder() async throws {
        try await Rig.run { rig in
            let (view, gate, placeholder, done) = (
                KFCrossPlatformImageView(), Gate(), ViewPlaceholder(), Promise<Int>()
            )
            let url = try rig.route("/a", gate: gate)
            view.image = picture
            view.kf.setImage(with: url, placeholder: placeholder, options: rig.viewOptions) { done.fulfil($0.code) }
            #expect(view.image == nil && view.subviews.first === placeholder && placeholder.superview === view)
            #expect(placeholder.sizeStrategy == .full && placeholder.centerOffset == .zero)
            gate.open()
            #expect(await done.value == 0 && view.subviews.isEmpty && placeholder.superview == nil)
            #expect(view.image != nil && view.kf.placeholder == nil)
        }
    }

    @Test("The old placeholder is removed before the next is added")
    func twoPlaceholders() async throws {
        try await Rig.run { rig in
            let (view, log, gate) = (KFCrossPlatformImageView(), CallLog(), Gate())
            let url = try rig.route("/a", gate: gate)
            let placeholders = [TestPlaceholder(log), TestPlaceholder(log)]
            for placeholder in placeholders {
                view.image = picture
                view.kf.setImage(with: url, placeholder: placeholder, options: rig.viewOptions)
                #expect(view.kf.placeholder as? TestPlaceholder === placeholder && view.image === picture)
            }
            #expect(log.calls == ["add", "remove", "add"])
            // A placeholder that is not an image counts as current content.
            view.image = nil
            let options = rig.viewOptions + [.keepCurrentImageWhileLoading]
            view.kf.setImage(with: url, placeholder: picture, options: options)
            #expect(view.kf.placeholder as? TestPlaceholder === placeholders[1])
            view.kf.setImage(with: nil, options: options)
            #expect(view.kf.placeholder == nil && log.calls == ["add", "remove", "add", "remove"])
            gate.open()
        }
    }

    @Test(
        "A placeholder stays after a failure, unless there is an image for failures",
        arguments: [true, false]
    )
    func failure(hasImage: Bool) async throws {
        try await Rig.run { rig in
            let (view, log, done) = (KFCrossPlatformImageView(), CallLog(), Promise<Int>())
            let options = rig.viewOptions + (hasImage ? [.onFailureImage(picture)] : [])
            view.kf.setImage(with: rig.server.url("/no"), placeholder: TestPlaceholder(log), options: options) {
                done.fulfil($0.code)
            }
            #expect(await done.value == 2002 && view.image === (hasImage ? picture : nil))
            #expect(log.calls == (hasImage ? ["add", "remove"] : ["add"]))
            #expect((view.kf.placeholder == nil) == hasImage)
        }
    }

    @Test("Subviews are added and removed, and the renderer is notified")
    func subviews() {
        let (view, other, child) = (KFCrossPlatformView(), KFCrossPlatformView(), KFCrossPlatformView())
        let renderer = TestRenderer.show(view)
        view.addSubview(child, size: .intrinsicSize, centerOffset: CGPoint(x: 1, y: 2))
        #expect(child.sizeStrategy == .intrinsicSize && child.centerOffset == CGPoint(x: 1, y: 2))
        other.addSubview(child)
        #expect(view.subviews.isEmpty && other.subviews.first === child && child.superview === other)
        child.removeFromSuperview()
        child.removeFromSuperview()
        (view.isHidden, view.accessibilityLabel) = (true, "a picture")
        #expect(other.subviews.isEmpty && renderer.calls == ["add", "remove", "visibility", "accessibility"])
    }
}

@Suite @MainActor struct IndicatorViewTests {
    @Test("The indicator type creates the indicator, whose view is hidden at first and placed in the image view")
    func types() throws {
        let (view, mine) = (KFCrossPlatformImageView(), TestIndicator())
        #expect(view.kf.indicator == nil)
        view.kf.indicatorType = .activity
        #expect(view.kf.indicator is ActivityIndicator && view.subviews.map(\.isHidden) == [true])
        #expect(view.subviews.first is SpinnerView && view.subviews.first?.sizeStrategy == .intrinsicSize)
        view.kf.indicatorType = .progress
        #expect(view.kf.indicator is ProgressIndicator && view.subviews.count == 1)
        view.kf.indicatorType = .custom(indicator: mine)
        #expect(view.kf.indicator as? TestIndicator === mine && view.subviews.first === mine.view && mine.view.isHidden)
        #expect(mine.view.sizeStrategy == .size(CGSize(width: 3, height: 4)))
        #expect(mine.view.centerOffset == CGPoint(x: 1, y: 2))
        view.kf.indicatorType = .image(imageData: try SampleImage.png())
        #expect((view.kf.indicator?.view as? KFCrossPlatformImageView)?.contentMode == .center)
        view.kf.indicatorType = .image(imageData: Data("no image".utf8))
        #expect(view.kf.indicator == nil && view.subviews.isEmpty)
        guard case .image = view.kf.indicatorType else {
            Issue.record("\(view.kf.indicatorType)")
            return
        }
        view.kf.indicatorType = .none
        #expect(view.kf.indicator == nil)
    }

    @Test("An indicator of an animation plays all of its frames")
    func animatedIndicator() throws {
        let gif = try #require(try animation("animated.gif").kf.gifRepresentation())
        let indicator = try #require(ImageIndicator(imageData: gif))
        let view = try #require(indicator.view as? KFCrossPlatformImageView)
        let renderer = TestRenderer.show(view)
        indicator.startAnimatingView()
        #expect(!view.isHidden && view.image?.images != nil && renderer.running == 1)
        let first = view.shownImage
        renderer.advance(by: 1)
        #expect(view.shownImage !== first)
        indicator.stopAnimatingView()
        #expect(view.isHidden)
    }

    @Test(
        "An indicator is started and stopped once for each load, however the load ends",
        arguments: ["/a", "/no", nil]
    )
    func startAndStop(path: String?) async throws {
        try await Rig.run { rig in
            let (target, indicator) = (Target(.imageView, rig), TestIndicator())
            let view = try #require(target.owner as? KFCrossPlatformImageView)
            _ = try rig.route("/a")
            view.kf.indicatorType = .custom(indicator: indicator)
            target.load(path.map(rig.server.url))
            let code = await target.outcome().code
            #expect(indicator.log.calls == (path == nil ? [] : ["start", "stop"]))
            #expect(code == ["/a": 0, "/no": 2002][path] ?? 5001)
            // The next load is a hit in memory, and is cancelled.
            target.load(rig.server.url("/a"))
            target.cancel()
            _ = await target.outcome(1)
            #expect(indicator.log.calls.suffix(2) == ["start", "stop"])
        }
    }

    @Test("An indicator continues while a newer load runs", arguments: [true, false])
    func overlappingLoads(isCounting: Bool) async throws {
        try await Rig.run { rig in
            let (target, first, second) = (Target(.imageView, rig), Gate(), Gate())
            let view = try #require(target.owner as? KFCrossPlatformImageView)
            let image = IndicatorType.image(imageData: try SampleImage.png())
            view.kf.indicatorType = isCounting ? .activity : image
            let indicator = try #require(view.kf.indicator)
            target.load(try rig.route("/a", gate: first))
            await rig.server.waitForRequests(to: "/a")
            target.load(try rig.route("/b", gate: second))
            #expect(!indicator.view.isHidden)
            first.open()
            #expect(await target.outcome(0).superseded == 0 && !indicator.view.isHidden)
            second.open()
            #expect(await target.outcome(1).code == 0 && indicator.view.isHidden)
        }
    }

    @Test("An indicator of one's own is started by the first of several loads, and stopped after the last")
    func startsAndStops() async throws {
        try await Rig.run { rig in
            let (target, indicator) = (Target(.imageView, rig), TestIndicator())
            let view = try #require(target.owner as? KFCrossPlatformImageView)
            let (first, second) = (Gate(), Gate())
            view.kf.indicatorType = .custom(indicator: indicator)
            target.load(try rig.route("/a", gate: first))
            await rig.server.waitForRequests(to: "/a")
            target.load(try rig.route("/b", gate: second))
            #expect(indicator.progress == [0])
            first.open()
            #expect(await target.outcome(0).superseded == 0)
            #expect(indicator.log.calls == ["start"])
            second.open()
            #expect(await target.outcome(1).code == 0)
            #expect(indicator.log.calls == ["start", "stop"])
        }
    }

    @Test("An indicator set during a load is started at once; the one before is stopped")
    func newIndicator() async throws {
        try await Rig.run { rig in
            let (target, gate) = (Target(.imageView, rig), Gate())
            let view = try #require(target.owner as? KFCrossPlatformImageView)
            let (first, second) = (TestIndicator(), TestIndicator())
            view.kf.indicatorType = .custom(indicator: first)
            target.load(try rig.route("/a", gate: gate))
            view.kf.indicatorType = .custom(indicator: second)
            #expect(first.log.calls == ["start", "stop"] && first.view.superview == nil)
            #expect(second.log.calls == ["start"] && second.view.superview === view)
            view.kf.indicatorType = .none
            #expect(second.log.calls == ["start", "stop"])
            view.kf.indicatorType = .activity
            #expect(view.kf.indicator?.view.isHidden == false)
            gate.open()
            #expect(await target.outcome().code == 0)
            #expect(view.kf.indicator?.view.isHidden == true)
            #expect(first.log.calls.count == 2 && second.log.calls.count == 2)
        }
    }

    @Test("The indicator of a view that is released during a load is stopped")
    func releasedView() async throws {
        try await Rig.run { rig in
            let (target, indicator, gate) = (Target(.imageView, rig), TestIndicator(), Gate())
            try #require(target.owner as? KFCrossPlatformImageView).kf.indicatorType = .custom(indicator: indicator)
            target.load(try rig.route("/a", gate: gate))
            target.release()
            #expect(indicator.log.calls == ["start", "stop"])
            gate.open()
            #expect(await target.outcome().superseded == 0)
            #expect(indicator.log.calls == ["start", "stop"])
        }
    }

    @Test("An indicator shows the progress if the length is known", arguments: [true, false])
    func progress(isLengthKnown: Bool) async throws {
        try await Rig.run { rig in
            let (target, gate, begun) = (Target(.imageView, rig), Gate(), Gate())
            let view = try #require(target.owner as? KFCrossPlatformImageView)
            var response = TestResponse.data(try SampleImage.png())
            response.framing = isLengthKnown ? .contentLength : .chunked
            if isLengthKnown { response.interruption = .hold(after: 40, until: gate) }
            rig.server.route("/a", response)
            view.kf.indicatorType = .progress
            let ring = try #require(view.kf.indicator?.view as? ProgressRingView)
            ring.progress = 0.5
            target.load(rig.server.url("/a"))
            #expect(ring.progress == nil && !ring.isHidden)
            let renderer = TestRenderer.show(ring)
            renderer.onDraw = { begun.open() }
            if isLengthKnown {
                await begun.wait()
                #expect(ring.progress == 40 / Double(response.body.count))
            }
            gate.open()
            #expect(await target.outcome().code == 0 && ring.isHidden)
            #expect((ring.progress == nil) == !isLengthKnown)
        }
    }
}
