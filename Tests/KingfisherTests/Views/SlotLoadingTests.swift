// Loading into places of any kind: placeholders, identifiers, and superseded loads.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite @MainActor struct SlotStateTests {
    @Test("a new object has no load of a released one, whatever its address; states keep no object and go with it")
    func releasedOwners() {
        weak var firstOwner: Item?
        weak var firstState: SlotState?
        // Each second object is kept, so that the table grows until those of released objects are removed.
        var kept: [Item] = []
        for number in 0..<10_000 {
            let item = Item()
            if number % 2 == 1 { kept.append(item) }
            #expect(item.kf.taskIdentifier == nil, "Another object may have had the same address.")
            let state = SlotStates.state(of: .image(), in: item)
            let identifier = state.begin().identifier
            #expect(item.kf.taskIdentifier == identifier && SlotStates.state(of: .image(), in: item) === state)
            #expect(SlotStates.state(of: .alternate, in: item) !== state)
            if number == 0 { (firstOwner, firstState) = (item, state) }
        }
        #expect(kept.count == 5_000 && firstOwner == nil && firstState == nil)
    }
}

@Suite @MainActor struct SlotLoadingViewTests {
    private let old = SampleImage.gradient(2, 2)
    private let placeholder = SampleImage.gradient(3, 3)

    @Test("A load without a source shows the placeholder, and ends at once", arguments: Place.allCases)
    func noSource(place: Place) async throws {
        try await Rig.run { rig in
            let (target, progress) = (Target(place, rig), Counter())
            target.image = old
            let task = target.load(nil, [.keepCurrentImageWhileLoading]) { _, _ in progress.add() }
            #expect(task == nil && target.ended.map(\.outcome.code) == [5001])
            #expect(target.image == nil && target.identifier == nil)
            target.load(nil, placeholder: placeholder)
            #expect(target.image === placeholder && target.ended.count == 2 && progress.value == 0)
        }
    }

    @Test("A load without a source supersedes the current load", arguments: Place.allCases)
    func noSourceSupersedes(place: Place) async throws {
        try await Rig.run { rig in
            let (target, gate, progress) = (Target(place, rig), Gate(), Counter())
            let url = try rig.route("/a", gate: gate)
            target.load(url) { _, _ in progress.add() }
            await rig.server.waitForRequests(to: "/a")
            target.load(nil, placeholder: placeholder)
            gate.open()
            #expect(await target.outcome(0).superseded == 0)
            #expect(target.image === placeholder && target.identifier == nil && progress.value == 0)
            #expect(target.ended.map(\.load) == [1, 0])
        }
    }

    @Test("The placeholder is shown at once, unless the current image is kept", arguments: Place.allCases)
    func placeholders(place: Place) async throws {
        try await Rig.run { rig in
            let (target, gate) = (Target(place, rig), Gate())
            let url = try rig.route("/a", gate: gate)
            target.image = old
            target.load(url)
            #expect(target.image == nil)
            target.load(url, [.keepCurrentImageWhileLoading], placeholder: placeholder)
            #expect(target.image === placeholder)
            target.load(url, [.keepCurrentImageWhileLoading], placeholder: old)
            target.load(url, [.keepCurrentImageWhileLoading])
            #expect(target.image === placeholder)
            gate.open()
            #expect(try await target.outcome(3).get().image === target.image && target.image !== placeholder)
        }
    }

    @Test("Every load has an identifier of its own until it ends", arguments: Place.allCases)
    func identifiers(place: Place) async throws {
        try await Rig.run { rig in
            let (target, other, gate) = (Target(place, rig), Target(.imageView, rig), Gate())
            let url = try rig.route("/a", gate: gate)
            target.load(url)
            let first = try #require(target.identifier)
            other.load(url)
            #expect(try #require(other.identifier) == first + 1)
            target.load(url)
            #expect(target.identifier == first + 2)
            gate.open()
            #expect(await target.outcome(1).code == 0 && target.identifier == nil)
            #expect(await other.outcome().code == 0 && other.identifier == nil)
        }
    }

    @Test("A superseded load ends with its result, which is cached", arguments: Place.allCases)
    func superseded(place: Place) async throws {
        try await Rig.run { rig in
            let (target, gate, late) = (Target(place, rig), Gate(), Gate())
            let (first, second) = (try rig.route("/a", width: 10, gate: gate), try rig.route("/b", gate: late))
            target.load(first)
            await rig.server.waitForRequests(to: "/a")
            target.load(second, placeholder: placeholder)
            gate.open()
            let error = try #require(await target.outcome(0).error)
            guard case .imageSettingError(.notCurrentSourceTask(let result, nil, let source)) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(error.isNotCurrentTask && error.errorCode == 5002 && source.url == first)
            #expect(result?.image.pixelWidth == 10 && result?.originalSource.url == first)
            #expect(target.image === placeholder && rig.isInMemory(first))
            late.open()
            #expect(await target.outcome(1).code == 0)
        }
    }

    @Test("A superseded load that fails ends with its error, and tries no alternative", arguments: Place.allCases)
    func supersededFailure(place: Place) async throws {
        try await Rig.run { rig in
            let (target, gate) = (Target(place, rig), Gate())
            rig.server.route("/bad", TestResponse.status(500).with { $0.gate = gate })
            let (good, other) = (try rig.route("/good"), try rig.route("/other"))
            target.load(rig.server.url("/bad"), [.alternativeSources([.network(other)]), .onFailureImage(old)])
            await rig.server.waitForRequests(to: "/bad")
            target.load(good)
            #expect(try await target.outcome(1).get().image === target.image)
            gate.open()
            #expect(await target.outcome(0).superseded == 2002)
            #expect(rig.server.count("/other") == 0 && target.image?.pixelWidth == 64)
        }
    }

    @Test("A superseded load reads nothing from disk, and keeps nothing in memory", arguments: Place.allCases)
    func supersededLookUp(place: Place) async throws {
        try await Rig.run { rig in
            let (target, other) = (Target(place, rig), try rig.route("/b"))
            let url = try await rig.cached("/a", inMemory: false)
            let mayRead = rig.holdDisk(url)
            let options: KingfisherOptionsInfo = [.alternativeSources([.network(rig.server.url("/c"))])]
            target.load(url, options)
            target.load(other)
            mayRead.fulfil(())
            #expect(await target.outcome(0).superseded == 3006)
            #expect(await target.outcome(1).code == 0)
            #expect(!rig.isInMemory(url) && rig.server.count("/a") == 1 && rig.server.count("/c") == 0)
        }
    }

    @Test("Of 200 loads each ends once, and only the last one shows its image", arguments: Place.allCases)
    func manyLoads(place: Place) async throws {
        try await Rig.run { rig in
            let (target, gate) = (Target(place, rig), Gate())
            // The responses are held back, because a load whose thread is delayed may end before its call returns.
            for number in 0..<200 { target.load(try rig.route("/\(number)", width: 1 + number, gate: gate)) }
            gate.open()
            for number in 0..<200 { _ = await target.outcome(number) }
            #expect(target.ended.count == 200 && Set(target.ended.map(\.load)).count == 200)
            #expect(target.ended.filter { $0.outcome.code == 0 }.map(\.load) == [199])
            #expect(target.ended.allSatisfy { $0.outcome.code == 0 || $0.outcome.superseded != nil })
            #expect(target.image?.pixelWidth == 200 && target.identifier == nil)
        }
    }

    @Test(
        "The last of many loads shows its image, whatever they load",
        arguments: Place.allCases,
        ["/disk", "/net", "/memory"]
    )
    func mixedLoads(place: Place, last: String) async throws {
        try await Rig.run { rig in
            let gate = Gate()
            _ = (try await rig.cached("/disk", width: 5, inMemory: false), try rig.route("/net", width: 6, gate: gate))
            rig.server.route("/broken", TestResponse.data(Data("no image".utf8)).with { $0.gate = gate })
            let mayRead = rig.holdDisk(rig.server.url("/disk"))
            _ = try await rig.cached("/memory", width: 7, inMemory: true)
            let url = { rig.server.url($0) }
            let sources: [(any SourceConvertible)?] = [
                url("/memory"), nil, url("/net"), url("/broken"), url("/disk"), url("/missing"),
                RawImageDataProvider(data: Data(), cacheKey: "none"), url(last),
            ]
            let target = Target(place, rig)
            for source in sources { target.load(source) }
            gate.open()
            mayRead.fulfil(())
            for load in sources.indices { _ = await target.outcome(load) }
            #expect(target.ended.count == sources.count)
            #expect(target.ended.filter { $0.outcome.code == 0 }.map(\.load) == [0, 7])
            #expect(target.image?.pixelWidth == ["/disk": 5, "/net": 6, "/memory": 7][last])
        }
    }
}
