// Animators and players that are used from several threads at once.

import Dispatch
import Foundation
import KFImaging
import KFSupport
import Testing

@testable import Kingfisher

@Suite struct AnimationStressTests {
    @Test("Ticks, purges, look-ups and resets run from several threads", arguments: [2, 20])
    func concurrentUse(preload: Int) {
        let source = TestFrames(12)
        let current = Box(AnimatorRig(source, preload: preload))
        DispatchQueue.concurrentPerform(iterations: 6) { worker in
            for round in 0..<300 {
                let animator = current.value.animator
                switch worker {
                case 0, 1: _ = animator.tick(0.1, catchUp: round % 7 == 0)
                case 2: animator.purgeFrames(keepCurrentFrame: round % 2 == 0)
                case 3: animator.prepareFramesAsynchronously()
                case 4:
                    let index = animator.currentFrameIndex
                    #expect((0..<12).contains(index))
                    if let picture = animator.frame(at: index) { #expect(picture.number == index) }
                    _ = (animator.currentFrameImage, animator.currentFrameDuration, animator.isLastFrame)
                default:
                    if round % 50 == 0 { current.value = AnimatorRig(source, preload: preload, prepared: false) }
                }
            }
        }
        let rig = current.value
        rig.animator.prepareFramesAsynchronously()
        rig.queue.drain()
        rig.tick()
        let index = rig.animator.currentFrameIndex
        #expect(rig.present == Set((0...min(preload, 11)).map { (index + $0) % 12 }))
        #expect(source.decodeLog.decodesOffQueue == 0)
    }

    @Test("Each player has a queue of its own, and together they use no more threads than there are processors")
    func queuesPerPlayer() {
        let lane = DispatchSpecificKey<Int>()
        for (number, queue) in FrameQueues.queues.enumerated() { queue.setSpecific(key: lane, value: number) }
        let queues = (0..<FrameQueues.queues.count * 3).map { _ in FrameQueues.makeQueue() }
        let used = queues.map { queue in queue.sync { DispatchQueue.getSpecific(key: lane) } }
        #expect(!used.contains(nil) && Set(used).count == FrameQueues.queues.count)
        #expect(FrameQueues.queues.count == UsableProcessors.count)
        #expect(Set(queues.map(ObjectIdentifier.init)).count == queues.count)
    }
}
