// Loads of image views that end when the view leaves the screen or its window is closed, and begin again.

import Foundation
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite @MainActor struct DisappearingViewLoadTests {
    /// A view on a screen whose load is held back by the server, until the gate opens.
    private func loading(_ rig: Rig, _ place: Place = .imageView, gate: Gate) async throws
        -> (Target, KFCrossPlatformImageView)
    {
        let target = Target(place, rig)
        let view = try #require(target.owner as? KFCrossPlatformImageView)
        view.isOnScreen = true
        view.cancelOnDisappear = true
        target.load(try rig.route("/a", gate: gate))
        await rig.server.waitForRequests(to: "/a")
        return (target, view)
    }

    /// Waits until the view's load has ended because the view is away.
    private func untilAway(_ view: KFCrossPlatformImageView) async {
        while view.kf.taskIdentifier != nil { await drainMainQueue() }
    }

    @Test("A load ends off the screen and begins again on it; its handler is called once", arguments: [true, false])
    func returning(endsBetween: Bool) async throws {
        try await Rig.run { rig in
            let gate = Gate()
            let (target, view) = try await loading(rig, gate: gate)
            view.isOnScreen = false
            if endsBetween { await untilAway(view) }
            #expect(target.ended.isEmpty && view.disappearingLoad != nil)
            gate.open()
            view.isOnScreen = true
            #expect(await target.outcome().code == 0 && view.image != nil && view.disappearingLoad == nil)
            #expect(target.ended.count == 1 && rig.server.requests.count == 2)
            view.isOnScreen = false
            view.isOnScreen = true
            #expect(view.kf.taskIdentifier == nil && target.ended.count == 1)
        }
    }

    @Test("A load that is away ends for good when the program cancels it, loads something else or closes the window")
    func endingAway() async throws {
        for reason in ["cancel", "other", "close"] {
            try await Rig.run { rig in
                let gate = Gate()
                let (target, view) = try await loading(rig, gate: gate)
                view.isOnScreen = false
                await untilAway(view)
                switch reason {
                case "cancel": view.kf.cancelDownloadTask()
                case "other": target.load(nil)
                case "close": view.windowDidClose()
                default: break
                }
                #expect(target.ended.first?.outcome.error?.isTaskCancelled == (reason != "other"), "\(reason)")
                #expect((target.ended.first?.outcome.superseded != nil) == (reason == "other"), "\(reason)")
                view.isOnScreen = true
                #expect(view.kf.taskIdentifier == nil && view.disappearingLoad == nil, "\(reason)")
                gate.open()
            }
        }
    }

    @Test("The handler of a load that is away is called when the view is released")
    func released() async throws {
        try await Rig.run { rig in
            let gate = Gate()
            let target = try await loading(rig, gate: gate).0
            (target.owner as? KFCrossPlatformImageView)?.isOnScreen = false
            while (target.owner as? KFCrossPlatformImageView)?.kf.taskIdentifier != nil { await drainMainQueue() }
            target.release()
            #expect(await target.outcome().superseded != nil)
            gate.open()
        }
    }

    @Test("A load that is cancelled while it leaves does not begin again")
    func cancelledWhileLeaving() async throws {
        try await Rig.run { rig in
            let gate = Gate()
            let (target, view) = try await loading(rig, gate: gate)
            view.isOnScreen = false
            view.kf.cancelDownloadTask()
            view.isOnScreen = true
            #expect(await target.outcome().error?.isTaskCancelled == true)
            #expect(view.kf.taskIdentifier == nil && view.disappearingLoad == nil)
            gate.open()
        }
    }

    @Test("Without being asked to, a load goes on off the screen")
    func staying() async throws {
        try await Rig.run { rig in
            let (target, gate) = (Target(.imageView, rig), Gate())
            let view = try #require(target.owner as? KFCrossPlatformImageView)
            view.isOnScreen = true
            target.load(try rig.route("/a", gate: gate))
            await rig.server.waitForRequests(to: "/a")
            view.isOnScreen = false
            gate.open()
            #expect(await target.outcome().code == 0 && rig.server.requests.count == 1)
        }
    }

    @Test("A closed window ends the loads of its views, unless a view wants them to go on", arguments: [true, false])
    func closing(isCancelled: Bool) async throws {
        for place in [Place.imageView, .button, .background] {
            try await Rig.run { rig in
                let (target, gate) = (Target(place, rig), Gate())
                let view = try #require(target.owner as? KFCrossPlatformView)
                #expect(view.cancelsWhenClosed)
                view.cancelsWhenClosed = isCancelled
                target.load(try rig.route("/a", gate: gate))
                await rig.server.waitForRequests(to: "/a")
                view.windowDidClose()
                if !isCancelled { gate.open() }
                #expect(await (target.outcome().error?.isTaskCancelled == true) == isCancelled, "\(place)")
                gate.open()
            }
        }
    }

    @Test("A closed window ends the load of a described image")
    func closingDescription() async throws {
        try await Rig.run { rig in
            let (calls, gate) = (KFImageCalls(), Gate())
            let view = try rig.kfImage("/a", until: gate).reporting(to: calls).makeView()
            view.isOnScreen = true
            await rig.server.waitForRequests(to: "/a")
            view.isOnScreen = false
            view.windowDidClose()
            await calls.wait()
            #expect(calls.results.first?.error?.isTaskCancelled == true)
            gate.open()
        }
    }
}
