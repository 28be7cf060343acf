// The main actor on GLib's loop.

#if canImport(CKFGTK4)
import CKFGTK4
import Dispatch
import Foundation
import Kingfisher
import KingfisherGTK

let loopChecks = [
    Check(name: "redrawsAmongManyJobs") { stage in
        let view = KFCrossPlatformImageView()
        view.image = Paint.plain(Paint.red)
        await stage.show(view)
        let link = FrameClockLink(view.rawWidget)
        var (frames, jobs, framesDuringJobs) = (0, 0, 0)
        link.onTick = { frames += 1 }
        link.isPaused = false
        // Each job makes the next one: the queue is never empty.
        await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
            @MainActor func next() {
                jobs += 1
                let end = DispatchTime.now().uptimeNanoseconds + 50_000
                while DispatchTime.now().uptimeNanoseconds < end {}
                guard jobs < 10_000 else {
                    framesDuringJobs = frames
                    return done.resume()
                }
                Task { @MainActor in next() }
            }
            next()
        }
        link.invalidate()
        // Half a second of work: thirty frames at best.
        stage.expect(framesDuringJobs >= 5, "\(framesDuringJobs) frames during 10,000 jobs")
    },
    Check(name: "mainQueueIsServed") { stage in
        var order: [Int] = []
        await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
            DispatchQueue.main.async { MainActor.assumeIsolated { order.append(1) } }
            DispatchQueue.main.asyncAfter(deadline: .now() + 0.01) {
                MainActor.assumeIsolated { order.append(2) }
                done.resume()
            }
        }
        stage.expect(order == [1, 2], "\(order)")
        let isMain = await Task.detached { await MainActor.run { Thread.isMainThread } }.value
        stage.expect(isMain, "main-actor code runs on the loop's thread")
    },
]
#endif
