// The slots of an animation's frames: which frames are needed and which are missing.

import Foundation
import KFImaging
import Testing

@testable import Kingfisher

@Suite struct FrameSlotsTests {
    private func slots(_ count: Int, preload: Int, filled: Bool = true) -> FrameSlots {
        var slots = FrameSlots(preloadCount: preload)
        slots.prepare([TimeInterval](repeating: 0.1, count: count))
        while filled, let index = slots.firstMissing { _ = slots.fill(index, with: SampleImage.gradient(2, 2)) }
        return slots
    }

    @Test("When all frames are kept, no change of frame requires work", arguments: [7, 8, Int.max])
    func nothingToDo(preload: Int) {
        var slots = slots(8, preload: preload)
        for round in 1..<20 {
            slots.move(to: round % 8)
            #expect(!slots.needsWork)
        }
    }

    @Test("A change of frame leaves one slot to be emptied and one to be filled")
    func oneChange() {
        var slots = slots(8, preload: 2)
        #expect(!slots.needsWork && (0..<8).filter { slots.isWanted($0) } == [0, 1, 2])
        slots.move(to: 1)
        #expect(slots.needsWork && slots.firstMissing == 3)
        let left = slots.image(at: 0)
        #expect(left != nil && slots.removeLeft() == [left] && slots.image(at: 0) == nil)
        // A removed frame is returned once.
        #expect(slots.removeLeft() == [])
        #expect(slots.fill(3, with: SampleImage.gradient(2, 2)) && !slots.needsWork)
        #expect(!slots.fill(4, with: SampleImage.gradient(2, 2)) && slots.image(at: 4) == nil)
    }

    @Test("A frame that could not be decoded is requested again once it has been passed")
    func brokenFrame() {
        var slots = slots(4, preload: 1, filled: false)
        #expect(slots.fill(0, with: nil) && slots.firstMissing == 1)
        #expect(slots.fill(1, with: SampleImage.gradient(2, 2)) && slots.firstMissing == nil)
        slots.move(to: 2)
        #expect(slots.removeLeft().count == 1)
        slots.move(to: 3)
        #expect(slots.firstMissing == 3 && slots.fill(3, with: nil) && slots.firstMissing == 0)
    }

    @Test("Dropped frames count as missing and are to be decoded again")
    func droppedFrames() {
        var slots = slots(8, preload: 20)
        #expect(slots.removeAll(keepingCurrent: true).count == 7)
        #expect(slots.needsWork && slots.firstMissing == 1)
    }

    @Test("Without slots no frame is needed, missing or to be decoded")
    func unprepared() {
        var slots = FrameSlots(preloadCount: 2)
        slots.move(to: 1)
        #expect(!slots.isPrepared && !slots.needsWork && slots.firstMissing == nil && !slots.isWanted(0))
        #expect(slots.delay(of: 0) == .infinity && slots.loopDuration == 0 && !slots.fill(0, with: nil))
        #expect(slots.removeAll(keepingCurrent: false) == [])
    }
}
