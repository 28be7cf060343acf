// Builders that load into views: `KF.url(…).set(to:)` with its handlers, placeholders and button states.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

/// A class of an application.
@MainActor
private final class Screen {
    let view = KFCrossPlatformImageView()
    var count = 0
    var errors: [Int] = []
    let ended = Gate()

    func show(_ url: URL?, _ rig: Rig) {
        KF.url(url).targetCache(rig.cache).downloader(rig.manager.downloader)
            .placeholder(SampleImage.gradient(2, 2))
            .onProgress { _, _ in self.count += 10 }
            .onSuccess { _ in
                self.count += 1
                self.ended.open()
            }
            .onFailure { error in
                self.errors.append(error.errorCode)
                self.ended.open()
            }
            .set(to: view)
    }
}

@Suite @MainActor struct BuilderViewTests {
    private let picture = SampleImage.gradient(2, 2)

    @Test(
        "Handlers on the main actor can change their class directly, with every outcome",
        arguments: ["/a", "/no", nil]
    )
    func handlers(path: String?) async throws {
        try await Rig.run { rig in
            let screen = Screen()
            _ = try rig.route("/a")
            screen.show(path.map(rig.server.url), rig)
            await screen.ended.wait()
            #expect(
                (screen.count % 10 == 1) == (path == "/a")
                    && screen.errors == (path == "/a" ? [] : [path == nil ? 5001 : 2002])
            )
            #expect(screen.view.image?.pixelWidth == (path == "/a" ? 64 : 2))
        }
    }

    /// A builder that fulfils a promise when its load ends.
    private func builder(_ url: URL, _ rig: Rig, _ done: Promise<Int>) -> KF.Builder {
        KF.Builder(source: .network(url), manager: rig.manager)
            .onSuccess { _ in done.fulfil(0) }.onFailure { done.fulfil($0.errorCode) }
    }

    @Test("A builder loads into every kind of place, with its placeholder", arguments: Place.allCases)
    func places(place: Place) async throws {
        try await Rig.run { rig in
            let (target, gate, done) = (Target(place, rig), Gate(), Promise<Int>())
            let builder = builder(try rig.route("/a", gate: gate), rig, done).placeholder(picture)
            let task: DownloadTask? =
                switch (target.owner, place) {
                case (let view as KFCrossPlatformImageView, _): builder.set(to: view)
                case (let item as Item, _): builder.set(to: item)
                case (let button as KFCrossPlatformButton, .button): builder.set(to: button)
                case (let button as KFCrossPlatformButton, .background): builder.setBackground(to: button)
                case (let button as KFCrossPlatformButton, _): builder.setAlternative(to: button)
                default: nil
                }
            #expect(task != nil && target.image === picture && target.identifier != nil)
            gate.open()
            #expect(await done.value == 0 && target.image?.pixelWidth == 64)
        }
    }

    @Test("Builders load into button states, and a placeholder that is a view is shown only in image views")
    func statesAndPlaceholders() async throws {
        try await Rig.run { rig in
            let (button, view, gate) = (KFCrossPlatformButton(), KFCrossPlatformImageView(), Gate())
            let url = try rig.route("/a", gate: gate)
            let done = (0..<3).map { _ in Promise<Int>() }
            let placeholder: (any Placeholder)? = ViewPlaceholder()
            button.setImage(picture, for: .selected)
            builder(url, rig, done[0]).placeholder(placeholder).set(to: button, for: .selected)
            builder(url, rig, done[1]).placeholder(placeholder).setBackground(to: button, for: .hovered)
            builder(url, rig, done[2]).placeholder(placeholder).set(to: view)
            #expect(button.image(for: .selected) == nil && view.subviews.count == 1)
            gate.open()
            for promise in done { #expect(await promise.value == 0) }
            #expect(button.image(for: .selected) != nil && button.backgroundImage(for: .hovered) != nil)
            #expect(view.image != nil && view.subviews.isEmpty)
        }
    }

    @Test("The current image is kept and fades to the new one if the builder says so")
    func showing() async throws {
        try await Rig.run { rig in
            let (view, gate, begun, done) = (KFCrossPlatformImageView(), Gate(), Gate(), Promise<Int>())
            let renderer = TestRenderer.show(view)
            view.image = picture
            builder(try rig.route("/a", gate: gate), rig, done).keepCurrentImageWhileLoading().fade(duration: 2).set(
                to: view
            )
            #expect(view.image === picture)
            gate.open()
            renderer.onDraw = { if view.transition != nil { begun.open() } }
            await begun.wait()
            #expect(view.transition?.previous === picture && done.valueIfFulfilled == nil)
            renderer.advance(by: 1)
            #expect(view.transition?.progress == 0.5)
            renderer.advance(by: 1)
            #expect(await done.value == 0)
        }
    }
}
