// The state of a load that pauses while its view is out of sight.

import Testing

@testable import Kingfisher

@Suite struct LoadWhileVisibleTests {
    @Test("A load that leaves is cancelled once, waits, and its late end does not end the next one")
    func leaving() {
        var load = LoadWhileVisible()
        let first = load.begin()
        let cancels = [load.leave(), load.leave()]
        #expect(cancels == [true, false] && load.phase == .waiting)
        let second = load.begin()
        let isFirstCurrent = load.end(first, isFailed: true)
        #expect(!isFirstCurrent && load.isLoading)
        let isSecondCurrent = load.end(second, isFailed: false)
        #expect(isSecondCurrent && load.phase == .done)
        let cancelsDone = load.leave()
        #expect(!cancelsDone && load.phase == .done)
    }

    @Test("A failed load is tried again only when the view has been out of sight") func failing() {
        var load = LoadWhileVisible()
        let number = load.begin()
        let isCurrent = load.end(number, isFailed: true)
        #expect(isCurrent && load.phase == .failed)
        let cancels = load.leave()
        #expect(!cancels && load.phase == .waiting)
    }

    @Test("What is done begins anew after a reset, and earlier loads stay ended") func resetting() {
        var load = LoadWhileVisible()
        let number = load.begin()
        load.finish()
        let isCurrent = load.end(number, isFailed: false)
        #expect(!isCurrent && load.phase == .done)
        let cancelsDone = load.reset()
        #expect(!cancelsDone && load.phase == .waiting)
        let next = load.begin()
        #expect(next != number && load.isLoading)
        let cancelsNext = load.reset()
        #expect(cancelsNext && load.phase == .waiting)
    }
}
