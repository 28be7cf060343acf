// Loading into buttons, for each state, and into custom objects that take an image.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite @MainActor struct ButtonViewTests {
    private typealias State = KFCrossPlatformButton.ControlState

    private let button = KFCrossPlatformButton()
    private let pictures = (1...4).map { SampleImage.gradient($0, 1) }

    @Test("A button shows the image of its state, else of the state's most important part, else of the normal state")
    func pictureOfState() {
        #expect(button.currentImage == nil && button.currentBackgroundImage == nil)
        button.setImage(pictures[0], for: .normal)
        button.setImage(pictures[1], for: .highlighted)
        button.setImage(pictures[2], for: [.highlighted, .selected])
        button.setBackgroundImage(pictures[3], for: .disabled)
        let expected: [(State, Int)] = [
            (.normal, 1), (.highlighted, 2), (.disabled, 1), ([.highlighted, .selected], 3),
            ([.highlighted, .hovered], 2),
        ]
        for (state, width) in expected {
            button.state = state
            #expect(button.currentImage?.pixelWidth == width)
        }
        button.alternateImage = pictures[3]
        button.state = [.highlighted, .selected]
        #expect(button.currentImage === pictures[3] && button.currentBackgroundImage == nil)
        button.state = [.disabled, .focused]
        #expect(button.currentBackgroundImage === pictures[3] && button.image(for: .focused) == nil)
    }

    @Test("The states of a button have Kingfisher's raw values")
    func states() {
        let states: [State] = [.normal, .highlighted, .disabled, .selected, .focused, .hovered]
        #expect(states.map(\.rawValue) == [0, 1, 2, 4, 8, 16])
    }

    @Test(
        "Images and background images of all states, and the alternate image, are loaded independently",
        arguments: [true, false]
    )
    func independentPlaces(isOnDisk: Bool) async throws {
        try await Rig.run { rig in
            let (gate, done) = (Gate(), (0..<4).map { _ in Promise<Int>() })
            let url = try isOnDisk ? await rig.cached("/a", inMemory: false) : rig.route("/a", gate: gate)
            let (options, mayRead) = (rig.viewOptions, rig.holdDisk(url))
            button.kf.setImage(with: url, for: .normal, options: options) { done[0].fulfil($0.code) }
            button.kf.setImage(with: url, for: .highlighted, options: options) { done[1].fulfil($0.code) }
            button.kf.setBackgroundImage(with: url, for: .normal, options: options) { done[2].fulfil($0.code) }
            button.kf.setAlternateImage(with: url, options: options) { done[3].fulfil($0.code) }
            let identifiers = [
                button.kf.taskIdentifier(for: .normal), button.kf.taskIdentifier(for: .highlighted),
                button.kf.backgroundTaskIdentifier(for: .normal), button.kf.alternateTaskIdentifier,
            ]
            #expect(Set(identifiers.compactMap(\.self)).count == 4 && button.kf.taskIdentifier == identifiers[0])
            #expect(button.kf.taskIdentifier(for: .disabled) == nil)
            mayRead.fulfil(())
            gate.open()
            for promise in done { #expect(await promise.value == 0) }
            let shown = [
                button.image(for: .normal), button.image(for: .highlighted), button.backgroundImage(for: .normal),
                button.alternateImage,
            ]
            #expect(shown.allSatisfy { $0 != nil } && button.kf.taskIdentifier == nil)
        }
    }

    @Test("A later load replaces the one for the same state only")
    func sameState() async throws {
        try await Rig.run { rig in
            let (gate, done) = (Gate(), (0..<3).map { _ in Promise<Outcome>() })
            let (first, second) = (try rig.route("/a", width: 4, gate: gate), try rig.route("/b", width: 5))
            for (number, (url, state)) in [(first, State.selected), (first, .focused), (second, .selected)].enumerated()
            {
                button.kf.setBackgroundImage(with: url, for: state, options: rig.viewOptions) {
                    done[number].fulfil($0)
                }
                await rig.server.waitForRequests(to: "/a")
            }
            gate.open()
            #expect(await done[0].value.superseded == 0)
            #expect(await done[1].value.code == 0)
            #expect(await done[2].value.code == 0)
            #expect(button.backgroundImage(for: .selected)?.pixelWidth == 5)
            #expect(button.backgroundImage(for: .focused)?.pixelWidth == 4)
        }
    }

    @Test("Cancelling ends the image loads of all states, and background and alternate images separately")
    func cancelling() async throws {
        try await Rig.run { rig in
            let (target, gate) = (Target(.alternate, rig, owner: button), Gate())
            let url = try rig.route("/a", gate: gate)
            let states: [State] = [.normal, [.highlighted, .selected], State(rawValue: 64)]
            let front = states.map { _ in Promise<Int>() }, behind = states.map { _ in Promise<Int>() }
            for (number, state) in states.enumerated() {
                let options = rig.viewOptions
                button.kf.setImage(with: url, for: state, options: options) { front[number].fulfil($0.code) }
                button.kf.setBackgroundImage(with: url, for: state, options: options) { behind[number].fulfil($0.code) }
            }
            target.load(url)
            await rig.server.waitForRequests(to: "/a")
            button.kf.cancelImageDownloadTask()
            for promise in front { #expect(await promise.value == 1003) }
            #expect(behind.allSatisfy { $0.valueIfFulfilled == nil } && target.ended.isEmpty)
            button.kf.cancelAlternateImageDownloadTask()
            #expect(await target.outcome().code == 1003)
            gate.open()
            for promise in behind { #expect(await promise.value == 0) }
        }
    }

    @Test("Without a source, and after a failure, only the place of the load is changed")
    func failures() async throws {
        try await Rig.run { rig in
            for state in [State.normal, .hovered] { button.setImage(pictures[0], for: state) }
            let (codes, done, gate) = (Box<[Int]>([]), Promise<Void>(), Gate())
            rig.server.route("/no", TestResponse.status(500).with { $0.gate = gate })
            button.kf.setImage(with: nil, for: .hovered) { outcome in codes.change { $0.append(outcome.code) } }
            #expect(codes.value == [5001] && button.image(for: .hovered) == nil)
            let options = rig.viewOptions + [.onFailureImage(pictures[1])]
            button.kf.setImage(
                with: rig.server.url("/no"),
                for: .hovered,
                placeholder: pictures[2],
                options: options,
                progressBlock: nil
            ) { _ in done.fulfil(()) }
            #expect(button.image(for: .hovered) === pictures[2])
            gate.open()
            await done.value
            #expect(button.image(for: .hovered) === pictures[1] && button.image(for: .normal) === pictures[0])
            #expect(button.backgroundImage(for: .hovered) == nil && button.alternateImage == nil)
        }
    }
}

/// An object that takes images through a method.
@MainActor
private final class Shelf: KingfisherImageSettable {
    var images: [Image?] = []
    var scales: [CGFloat] = []
    func setImage(_ image: KFCrossPlatformImage?, options: KingfisherParsedOptionsInfo) {
        images.append(image)
        scales.append(options.scaleFactor)
    }
    func getImage() -> KFCrossPlatformImage? { images.last ?? nil }
}

@Suite @MainActor struct SettableViewTests {
    @Test("A custom object gets the placeholder, then the image with the options of its load")
    func settable() async throws {
        try await Rig.run { rig in
            let (shelf, placeholder, done, gate) = (Shelf(), SampleImage.gradient(2, 2), Promise<Int>(), Gate())
            let options = rig.viewOptions + [.scaleFactor(2), .transition(.fade(100))]
            shelf.kf.setImage(with: try rig.route("/a", gate: gate), placeholder: placeholder, options: options) {
                done.fulfil($0.code)
            }
            #expect(shelf.images.count == 1 && shelf.images[0] === placeholder)
            gate.open()
            #expect(await done.value == 0 && shelf.images.count == 2 && shelf.images[1]?.pixelWidth == 64)
            #expect(shelf.scales == [1, 2])
        }
    }

    @Test("A custom object has one place, even if it is loaded into under its base type")
    func inheritedPlace() async throws {
        try await Rig.run { rig in
            let (item, gate, first, second) = (ChildItem(), Gate(), Promise<Outcome>(), Promise<Outcome>())
            let (url, other) = (try rig.route("/a", gate: gate), try rig.route("/b"))
            item.kf.setImage(with: url, options: rig.viewOptions) { first.fulfil($0) }
            await rig.server.waitForRequests(to: "/a")
            (item as Item).kf.setImage(with: other, options: rig.viewOptions) { second.fulfil($0) }
            #expect(item.kf.taskIdentifier == (item as Item).kf.taskIdentifier)
            #expect(await second.value.code == 0)
            gate.open()
            #expect(await first.value.superseded == 0)
        }
    }
}
