// Transitions of image views: durations, their course, custom transitions, and loads that end with one.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite @MainActor struct TransitionViewTests {
    private let old = SampleImage.gradient(2, 2)
    private let view = KFCrossPlatformImageView()
    private let renderer: TestRenderer

    init() { renderer = TestRenderer.show(view) }

    /// Waits until a transition has begun or a load has ended.
    private func change(_ target: Target? = nil) async {
        let (changed, view) = (Promise<Void>(), view)
        let check = { if view.transition != nil || target?.ended.isEmpty == false { changed.fulfil(()) } }
        renderer.onDraw = check
        target?.onEnd = check
        check()
        await changed.value
        renderer.onDraw = {}
        target?.onEnd = {}
    }

    @Test("Every transition has a duration, which is zero if it is not a positive finite number")
    func durations() {
        let kinds: [ImageTransition] = [
            .fade(1), .flipFromLeft(1), .flipFromRight(1), .flipFromTop(1), .flipFromBottom(1), .custom(duration: 1),
        ]
        #expect(kinds.allSatisfy { $0.duration == 1 && !$0.isNone })
        let none: [ImageTransition] = [.none, .fade(0), .fade(-1), .fade(.nan), .fade(.infinity)]
        #expect(none.allSatisfy { $0.duration == 0 } && none.map(\.isNone) == [true, false, false, false, false])
    }

    @Test("A transition runs for its duration, and then ends once")
    func course() {
        var ends: [Bool] = []
        view.show(old, by: .fade(2), from: nil) { ends.append($0) }
        #expect(view.image === old && view.transition?.previous == nil && view.transition?.progress == 0)
        let draws = renderer.draws
        renderer.advance(by: 0.5)
        #expect(view.transition?.progress == 0.25 && renderer.draws == draws + 1 && ends.isEmpty)
        renderer.advance(by: 10)
        #expect(view.transition == nil && ends == [true] && renderer.running == 0 && renderer.draws == draws + 2)
        renderer.advance(by: 10)
        #expect(ends == [true])
    }

    @Test("No transition is shown without a duration, off the screen, or if the renderer shows none", arguments: 0..<4)
    func immediately(reason: Int) {
        var ends: [Bool] = []
        if reason == 1 { view.isOnScreen = false }
        if reason == 2 { renderer.showsMotion = false }
        view.show(old, by: .fade(reason == 0 ? 0 : 1), from: nil) { ends.append($0) }
        if reason == 3 { view.isOnScreen = false }
        #expect(view.transition == nil && view.image === old && ends == [true] && renderer.running == 0)
    }

    @Test("Another image ends a transition", arguments: [true, false])
    func anotherImage(hasTransition: Bool) {
        var ends: [String] = []
        let next = SampleImage.gradient(3, 3)
        view.show(old, by: .fade(1), from: nil) { ends.append("first \($0)") }
        if hasTransition {
            view.show(next, by: .fade(1), from: old) { ends.append("second \($0)") }
        } else {
            view.image = next
        }
        #expect(view.image === next && ends == ["first false"])
        renderer.advance(by: 1)
        #expect(view.image === next && ends == ["first false"] + (hasTransition ? ["second true"] : []))
    }

    @Test("A custom transition sets the image itself, or the view sets it", arguments: [true, false])
    func custom(setsImage: Bool) async throws {
        try await Rig.run { rig in
            let ends = Box<[Bool]>([])
            var animations: (@MainActor @Sendable (KFCrossPlatformImageView, Image) -> Void)?
            if setsImage { animations = { view, image in view.image = image } }
            let transition = ImageTransition.custom(duration: 1, options: [], animations: animations) { end in
                ends.change { $0.append(end) }
            }
            let target = Target(.imageView, rig, owner: view)
            target.load(try rig.route("/a"), [.transition(transition)])
            await change()
            #expect(view.image?.pixelWidth == 64 && target.ended.isEmpty && target.identifier == nil)
            renderer.advance(by: 1)
            #expect(ends.value == [true] && target.ended.map(\.outcome.code) == [0])
        }
    }

    @Test(
        "Transitions are shown for images that were loaded, and for others only if forced",
        arguments: [CacheType.none, .memory, .disk],
        [true, false]
    )
    func decision(cacheType: CacheType, isForced: Bool) async throws {
        try await Rig.run { rig in
            let target = Target(.imageView, rig, owner: view)
            let url = try await rig.cached("/a", inMemory: cacheType == .memory)
            var options: KingfisherOptionsInfo = [.transition(.fade(1))]
            if cacheType == .none { options.append(.forceRefresh) }
            if isForced { options.append(.forceTransition) }
            target.load(url, options)
            await change(target)
            #expect((view.transition != nil) == (cacheType == .none || isForced))
            renderer.advance(by: 1)
            #expect(target.ended.map(\.outcome.code) == [0])
            #expect(view.transition == nil && view.image?.pixelWidth == 64)
            target.load(url, [.forceTransition])
            #expect(target.ended.count == 2 && view.transition == nil)
        }
    }

    @Test("A placeholder, an indicator, a transition and the handler are called in order")
    func order() async throws {
        try await Rig.run { rig in
            let (log, done) = (CallLog(), Promise<Void>())
            view.kf.indicatorType = .custom(indicator: TestIndicator(log))
            let transition = ImageTransition.custom(
                duration: 1,
                animations: { view, image in
                    view.image = image
                    log.calls.append("animations")
                },
                completion: { log.calls.append("completion \($0)") }
            )
            view.kf.setImage(
                with: try rig.route("/a"),
                placeholder: TestPlaceholder(log),
                options: rig.viewOptions + [.transition(transition)]
            ) { _ in
                log.calls.append("handler")
                done.fulfil(())
            }
            await change()
            renderer.advance(by: 1)
            await done.value
            let expected = ["add", "start", "stop", "remove", "animations", "completion true", "handler"]
            #expect(log.calls == expected)
        }
    }

    @Test("A newer load during a transition is shown, and both loads end once", arguments: ["/b", "/memory", nil])
    func newerLoad(path: String?) async throws {
        try await Rig.run { rig in
            let (target, gate) = (Target(.imageView, rig, owner: view), Gate())
            _ = (try await rig.cached("/memory", width: 5, inMemory: true), try rig.route("/b", width: 5, gate: gate))
            target.load(try rig.route("/a"), [.transition(.flipFromLeft(1))])
            await change()
            target.load(path.map(rig.server.url), [.keepCurrentImageWhileLoading, .transition(.fade(1))])
            if path == "/b" { #expect(view.image?.pixelWidth == 64 && view.transition != nil) }
            gate.open()
            _ = await target.outcome(0)
            if path == "/b" { await change() }
            renderer.advance(by: 1)
            #expect(await target.outcome(1).code == (path == nil ? 5001 : 0))
            #expect(await target.outcome(0).code == 0 && target.ended.count == 2)
            #expect(view.image?.pixelWidth == (path == nil ? nil : 5))
        }
    }

    @Test("An image that a handler loads at the end of a transition is shown, not the one that ended it")
    func loadInHandler() async throws {
        try await Rig.run { rig in
            let target = Target(.imageView, rig, owner: view)
            let first = try await rig.cached("/a", width: 4, inMemory: true)
            let (second, third) = (
                try await rig.cached("/b", width: 5, inMemory: true),
                try await rig.cached("/c", width: 6, inMemory: true)
            )
            _ = (first, second, third)
            let options: KingfisherOptionsInfo = [
                .transition(.fade(1)), .forceTransition, .keepCurrentImageWhileLoading,
            ]
            target.load(first, options)
            target.onEnd = { [unowned target] in
                target.onEnd = {}
                target.load(third, options)
            }
            target.load(second, options)
            renderer.advance(by: 1)
            #expect(view.image?.pixelWidth == 6 && target.ended.count == 3)
            #expect(Set(target.ended.map(\.load)) == [0, 1, 2])
        }
    }

    @Test(
        "A load ends once, at whatever time its view is released",
        arguments: ["look-up", "progress", "handler", "transition", "transition from memory"]
    )
    func release(moment: String) async throws {
        try await Rig.run { rig in
            let (target, changed) = (Target(.imageView, rig), Gate())
            let url = try await rig.cached("/a", inMemory: moment.hasSuffix("memory"))
            let renderer = TestRenderer.show(try #require(target.owner as? KFCrossPlatformImageView))
            weak let view = target.owner as? KFCrossPlatformImageView
            if moment == "handler" { target.onEnd = { [unowned target] in target.release() } }
            renderer.onDraw = { if view?.transition != nil { changed.open() } }
            let mayRead = rig.holdDisk(url)
            let refresh: KingfisherOptionsInfo = moment == "progress" ? [.forceRefresh] : []
            let options = moment == "handler" ? [] : refresh + [.transition(.fade(1)), .forceTransition]
            // The rest is sent once progress was reported, because none is reported after the end.
            let (rest, response) = (Gate(), TestResponse.data(try SampleImage.png()))
            rig.server.route("/a", response.with { $0.interruption = .hold(after: 40, until: rest) })
            target.load(url, options) { _, _ in
                target.release()
                rest.open()
            }
            if moment == "look-up" { target.release() }
            mayRead.fulfil(())
            if moment.hasPrefix("transition") {
                await changed.wait()
                target.release()
            }
            #expect(await target.outcome().code == (["look-up", "progress"].contains(moment) ? 5002 : 0))
            #expect(view == nil && target.ended.count == 1 && renderer.running == 0)
        }
    }
}
