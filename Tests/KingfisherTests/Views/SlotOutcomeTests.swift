// Loading into places of any kind: progress, results, failures, cancellation and released owners.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite @MainActor struct SlotOutcomeViewTests {
    private let old = SampleImage.gradient(2, 2)
    private let placeholder = SampleImage.gradient(3, 3)

    @Test("Handlers are called on the main thread whatever the options say", arguments: Place.allCases)
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

    @Test("Progress is reported before the end if the length is known", arguments: Place.allCases, [true, false])
    func progress(place: Place, isLengthKnown: Bool) async throws {
        try await Rig.run { rig in
            let (target, reports, gate) = (Target(place, rig), Box<[[Int64]]>([]), Gate())
            var response = TestResponse.data(try SampleImage.png())
            response.framing = isLengthKnown ? .contentLength : .chunked
            // The rest is sent once progress was reported, because none is reported after the end.
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

    @Test("No progress is reported once the load is cancelled or superseded", arguments: Place.allCases, [true, false])
    func progressAfterEnd(place: Place, isCancelled: Bool) async throws {
        try await Rig.run { rig in
            let (target, gate, begun, reports) = (Target(place, rig), Gate(), Gate(), Counter())
            let response = TestResponse.data(try SampleImage.png())
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

    @Test("An image in memory is shown before the call returns", arguments: Place.allCases)
    func memoryHit(place: Place) async throws {
        try await Rig.run { rig in
            let target = Target(place, rig)
            let url = try await rig.cached("/a", inMemory: true)
            let task = target.load(url, placeholder: placeholder)
            #expect(task == nil && target.identifier == nil && target.ended.count == 1)
            #expect(try await target.outcome().get().image === target.image && target.image?.pixelWidth == 64)
        }
    }

    @Test("An image on disk is shown later, unless it is read synchronously", arguments: Place.allCases)
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

    @Test("A load ends with its image, the placeholder, the image for failures, or none", arguments: Place.allCases)
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

    @Test("A cancelled download ends once, with an error", arguments: Place.allCases, [true, false])
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
        "A cancelled look-up ends once, and adds nothing to memory",
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

    @Test("Alternative sources are shown and cancelled like the source itself", arguments: Place.allCases)
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

    @Test("Loads of one image share a request, and are cancelled one by one")
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

    @Test("A load that is started by a handler can be cancelled", arguments: Place.allCases, [true, false])
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

    @Test("A load does not keep its owner alive, and ends without it", arguments: Place.allCases)
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

    @Test(
        "Previews of a progressive image are shown while it arrives, until the load is superseded",
        arguments: Place.allCases
    )
    func previews(place: Place) async throws {
        try await Rig.run { rig in
            let (target, jpeg, gate) = (Target(place, rig), try ProgressiveSample(), Gate())
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

    @Test("Of two sizes of one image, loaded at the same time, the second is shown", arguments: Place.allCases)
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
