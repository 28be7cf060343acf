// How loads into places end, and how they are cancelled: numbers IV of the specification, and HC01.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite @MainActor struct SlotOutcomeViewTests {
    private let old = Picture.gradient(2, 2)
    private let placeholder = Picture.gradient(3, 3)

    @Test("IV14: handlers are called on the main thread whatever the options say", arguments: Place.allCases)
    func mainThread(place: Place) async throws {
        try await Rig.run { rig in
            let (target, isMain) = (Target(place, rig), Box(true))
            let options: KingfisherOptionsInfo = [.callbackQueue(.dispatch(DispatchQueue(label: "other")))]
            for url in [try rig.route("/a"), try await rig.cached("/b", inMemory: true)] {
                target.load(url, options) { _, _ in isMain.value = isMain.value && CallbackQueue.isMain }
                #expect(await target.outcome().code == 0)
            }
            #expect(target.isAlwaysMain && isMain.value)
        }
    }

    @Test("IV15: progress comes if the length is known, before the end", arguments: Place.allCases, [true, false])
    func progress(place: Place, isLengthKnown: Bool) async throws {
        try await Rig.run { rig in
            let (target, reports, gate) = (Target(place, rig), Box<[[Int64]]>([]), Gate())
            var response = TestResponse.data(try Picture.png())
            response.framing = isLengthKnown ? .contentLength : .chunked
            // The rest is sent once there was progress: none comes after the end.
            if isLengthKnown { response.interruption = .hold(after: 40, until: gate) }
            rig.server.route("/a", response)
            target.load(rig.server.url("/a")) { received, total in
                #expect(target.ended.isEmpty)
                reports.change { $0.append([received, total]) }
                gate.open()
            }
            #expect(await target.outcome().code == 0)
            #expect(reports.value.isEmpty == !isLengthKnown)
            #expect(reports.value.allSatisfy { $0[0] <= $0[1] && $0[1] == Int64(response.body.count) })
        }
    }

    @Test("IV15: no progress comes once the load is cancelled or replaced", arguments: Place.allCases, [true, false])
    func progressAfterEnd(place: Place, isCancelled: Bool) async throws {
        try await Rig.run { rig in
            let (target, gate, begun, reports) = (Target(place, rig), Gate(), Gate(), Counter())
            let response = TestResponse.data(try Picture.png())
            rig.server.route("/a", response.with { $0.interruption = .hold(after: 40, until: gate) })
            target.load(rig.server.url("/a")) { _, _ in
                reports.add()
                begun.open()
            }
            await begun.wait()
            if isCancelled { target.cancel() } else { target.load(nil) }
            let count = reports.value
            gate.open()
            #expect(await target.outcome(0).code == (isCancelled ? 1003 : 5002) && reports.value == count)
        }
    }

    @Test("IV17: what is in memory is there before the call returns", arguments: Place.allCases)
    func memoryHit(place: Place) async throws {
        try await Rig.run { rig in
            let target = Target(place, rig)
            let url = try await rig.cached("/a", inMemory: true)
            let task = target.load(url, placeholder: placeholder)
            #expect(task == nil && target.identifier == nil && target.ended.count == 1)
            #expect(try await target.outcome().get().image === target.image && target.image?.pixelWidth == 64)
        }
    }

    @Test("IV18: what is on disk comes later, unless it is to be read at once", arguments: Place.allCases)
    func diskHit(place: Place) async throws {
        try await Rig.run { rig in
            let target = Target(place, rig)
            let url = try await rig.cached("/a", inMemory: false)
            let mayRead = rig.holdDisk(url)
            let task = target.load(url)
            #expect(task != nil && target.identifier != nil && target.ended.isEmpty)
            mayRead.fulfil(())
            #expect(try await target.outcome(0).get().cacheType == .disk && target.identifier == nil)
            rig.cache.clearMemoryCache()
            #expect(target.load(url, [.loadDiskFileSynchronously]) == nil)
            #expect(target.ended.count == 2 && target.ended.last?.outcome.code == 0 && target.image != nil)
        }
    }

    @Test("IV19, IV23, IV24: an image, a failure, an image for failures and none", arguments: Place.allCases)
    func endings(place: Place) async throws {
        try await Rig.run { rig in
            let (target, bad) = (Target(place, rig), rig.server.url("/missing"))
            target.load(try rig.route("/a"), placeholder: placeholder)
            target.onEnd = { [unowned target] in #expect(target.image !== placeholder) }
            #expect(try await target.outcome(0).get().image === target.image)
            target.onEnd = {}
            target.load(bad, placeholder: placeholder)
            #expect(await target.outcome(1).code == 2002 && target.image === placeholder)
            target.load(bad, [.onFailureImage(old)], placeholder: placeholder)
            #expect(await target.outcome(2).code == 2002 && target.image === old)
            target.load(bad, [.keepCurrentImageWhileLoading], placeholder: placeholder)
            #expect(await target.outcome(3).code == 2002 && target.image === old)
            target.load(bad, [.onFailureImage(nil)], placeholder: placeholder)
            #expect(await target.outcome(4).code == 2002 && target.image == nil)
            rig.server.route("/broken", .data(Data("no image".utf8)))
            target.load(rig.server.url("/broken"), placeholder: placeholder)
            #expect(await target.outcome(5).code == 4001 && target.image === placeholder)
        }
    }

    @Test("IV25: a cancelled download ends with an error, and once", arguments: Place.allCases, [true, false])
    func cancelledDownload(place: Place, byTask: Bool) async throws {
        try await Rig.run { rig in
            let (target, gate) = (Target(place, rig), Gate())
            let url = try rig.route("/a", gate: gate)
            let task = target.load(url, [.onFailureImage(old)])
            await rig.server.waitForRequests(to: "/a")
            if byTask { task?.cancel() } else { target.cancel() }
            #expect(await target.outcome(0).code == 1003)
            #expect(
                target.identifier == nil && target.image === old
                    && target.ended[0].outcome.error?.isTaskCancelled == true
            )
            gate.open()
            target.load(url)
            #expect(await target.outcome(1).code == 0)
            target.cancel()
            task?.cancel()
            #expect(target.ended.count == 2 && target.image !== old)
        }
    }

    @Test(
        "IV18, IV26, BT03: a cancelled look-up ends once, and keeps nothing in memory",
        arguments: Place.allCases,
        [true, false]
    )
    func cancelledLookUp(place: Place, byTask: Bool) async throws {
        try await Rig.run { rig in
            let target = Target(place, rig)
            let url = try await rig.cached("/a", inMemory: false)
            let mayRead = rig.holdDisk(url)
            let task = target.load(url, placeholder: placeholder)
            if byTask { task?.cancel() } else { target.cancel() }
            #expect(await target.outcome().code == 1005)
            mayRead.fulfil(())
            await rig.waitForDisk(url)
            #expect(!rig.isInMemory(url) && target.ended.count == 1 && target.image === placeholder)
        }
    }

    @Test("IV27, IV28: alternatives are shown, and cancelled, like the source itself", arguments: Place.allCases)
    func alternatives(place: Place) async throws {
        try await Rig.run { rig in
            let (target, gate, bad) = (Target(place, rig), Gate(), rig.server.url("/missing"))
            let (second, third) = (try rig.route("/b", gate: gate), try rig.route("/c"))
            let options: KingfisherOptionsInfo = [.alternativeSources([.network(second), .network(third)])]
            target.load(bad, options)
            await rig.server.waitForRequests(to: "/b")
            target.cancel()
            guard case .failure(.requestError(.taskCancelled(let task, _))) = await target.outcome(0) else {
                Issue.record("not cancelled")
                return
            }
            #expect(task.originalURL == second && rig.server.count("/c") == 0)
            gate.open()
            target.load(bad, options)
            let result = try await target.outcome(1).get()
            #expect(result.source.url == second && result.originalSource.url == bad && target.image === result.image)
        }
    }

    @Test("IV29: loads of one picture share a request, and are cancelled one by one")
    func sharedRequest() async throws {
        try await Rig.run { rig in
            let (gate, targets) = (Gate(), Place.allCases.map { Target($0, rig) })
            let url = try rig.route("/a", gate: gate)
            for target in targets { target.load(url) }
            await rig.server.waitForRequests(to: "/a")
            targets[1].cancel()
            #expect(await targets[1].outcome().error?.isTaskCancelled == true)
            for target in targets { target.cancel() }
            for target in targets { #expect(await target.outcome().error?.isTaskCancelled == true) }
            let mayRead = rig.holdDisk(url)
            for target in targets + [targets[0]] { target.load(url) }
            mayRead.fulfil(())
            await rig.server.waitForRequests(2, to: "/a")
            gate.open()
            for target in targets.dropFirst() { #expect(await target.outcome(1).code == 0) }
            let replaced = await targets[0].outcome(1)
            #expect(replaced.superseded == 0, "\(replaced)")
            #expect(await targets[0].outcome(2).code == 0 && rig.server.count("/a") == 2)
        }
    }

    @Test("IV30, F26: a load that a handler begins can be cancelled", arguments: Place.allCases, [true, false])
    func nestedLoad(place: Place, isInMemory: Bool) async throws {
        try await Rig.run { rig in
            let (target, gate) = (Target(place, rig), Gate())
            let first = try await rig.cached("/a", inMemory: isInMemory), second = try rig.route("/b", gate: gate)
            target.onEnd = { [unowned target] in
                target.onEnd = {}
                target.load(second)
            }
            target.load(first)
            #expect(await target.outcome(0).code == 0 && target.identifier != nil)
            await rig.server.waitForRequests(to: "/b")
            target.cancel()
            #expect(await target.outcome(1).code == 1003)
            gate.open()
        }
    }

    @Test("IV31, F30: a load does not keep its object alive, and ends without it", arguments: Place.allCases)
    func releasedOwner(place: Place) async throws {
        try await Rig.run { rig in
            let (target, gate) = (Target(place, rig), Gate())
            let cached = try await rig.cached("/b", inMemory: false), url = try rig.route("/a", gate: gate)
            weak let owner = target.owner
            target.load(url) { _, _ in Issue.record("progress of a view that is gone") }
            await rig.server.waitForRequests(to: "/a")
            target.release()
            #expect(owner == nil)
            gate.open()
            #expect(await target.outcome().superseded == 0)
            let other = Target(place, rig)
            let mayRead = rig.holdDisk(cached)
            other.load(cached)
            other.release()
            mayRead.fulfil(())
            #expect(await other.outcome().superseded == 0 && other.ended.count == 1)
        }
    }

    @Test("IV02, PJ10: a progressive picture is shown while it arrives and is wanted", arguments: Place.allCases)
    func previews(place: Place) async throws {
        try await Rig.run { rig in
            let (target, jpeg, gate) = (Target(place, rig), try ProgressivePicture(), Gate())
            let collector = PreviewCollector()
            rig.server.route("/a", jpeg.response(holding: [(3, gate)]))
            let options: KingfisherOptionsInfo = [.progressiveJPEG(collector.progressive())]
            target.load(rig.server.url("/a"), options, placeholder: placeholder)
            await collector.wait(for: 2)
            #expect(target.image === collector.images[1])
            target.load(nil)
            gate.open()
            #expect(await target.outcome(0).superseded == 0)
            #expect(target.image == nil && collector.images.count == 2)
        }
    }

    @Test("IV33: of two sizes of one picture, begun at once, the second is shown", arguments: Place.allCases)
    func twoProcessors(place: Place) async throws {
        try await Rig.run { rig in
            let target = Target(place, rig)
            let processors = [16, 32].map { DownsamplingImageProcessor(size: CGSize(width: $0, height: $0)) }
            let url = try await rig.cached("/a", inMemory: true, [.processor(processors[0])])
            _ = try await rig.cached("/a", inMemory: false, [.processor(processors[1])])
            let mayRead = processors.map { rig.holdDisk(url, $0) }
            for processor in processors { target.load(url, [.processor(processor)]) }
            for promise in mayRead { promise.fulfil(()) }
            #expect(await target.outcome(0).code == 5002)
            #expect(try await target.outcome(1).get().cacheType == .disk && target.image?.pixelWidth == 32)
        }
    }
}
