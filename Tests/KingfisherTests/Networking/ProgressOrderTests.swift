// The order of progress and completion: all bytes are reported before the completion handler is called.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite(.timeLimit(.minutes(2)), .serialized) struct ProgressOrderTests {
    /// The forms of a load.
    enum Form: CaseIterable {
        case manager, managerAsync, downloader, downloaderAsync
    }

    /// Loads an image, and records its progress and its end.
    private static func load(
        _ form: Form,
        _ rig: Rig,
        _ options: KingfisherOptionsInfo,
        _ events: Box<[String]>,
        end: @escaping @Sendable () -> Void
    ) {
        let (url, manager, downloader) = (rig.server.url("/a.png"), rig.manager, rig.manager.downloader)
        let progress: DownloadProgressBlock = { received, total in
            if received == total { events.change { $0.append("all bytes") } }
        }
        let ended: @Sendable (Bool) -> Void = { isSuccess in
            events.change { $0.append(isSuccess ? "end" : "failure") }
            end()
        }
        switch form {
        case .manager:
            manager.retrieveImage(with: url, options: options, progressBlock: progress) { ended($0.code == 0) }
        case .managerAsync:
            Task {
                let result = try? await manager.retrieveImage(with: url, options: options, progressBlock: progress)
                ended(result != nil)
            }
        case .downloader:
            downloader.downloadImage(with: url, options: options, progressBlock: progress) {
                ended((try? $0.get()) != nil)
            }
        case .downloaderAsync:
            Task {
                let result = try? await downloader.downloadImage(with: url, options: options, progressBlock: progress)
                ended(result != nil)
            }
        }
    }

    @Test(
        "All bytes are reported before the end, also if the load is faster than the main queue",
        arguments: Form.allCases,
        [true, false]
    )
    func reportedFirst(form: Form, onMain: Bool) async throws {
        try await Rig.run { rig in
            rig.server.route("/a.png", .data(try SampleImage.png(8, 8)))
            let (processor, events, ended) = (CountingProcessor(), Box<[String]>([]), Promise<Void>())
            let (isHeld, mayGoOn) = (Promise<Void>(), DispatchSemaphore(value: 0))
            DispatchQueue.main.async {
                isHeld.fulfil(())
                mayGoOn.wait()
            }
            await isHeld.value
            let queue = onMain ? CallbackQueue.mainCurrentOrAsync : .untouch
            Self.load(form, rig, [.processor(processor), .callbackQueue(queue)], events) { ended.fulfil(()) }
            while processor.runs.value == 0, !Task.isCancelled { await Task.yield() }
            // The image is made; the load would end now.
            for _ in 0..<2_000 where events.value.isEmpty { await Task.yield() }
            mayGoOn.signal()
            await ended.value
            #expect(events.value == ["all bytes", "end"])
        }
    }

    @Test("A main thread that is blocked until its loads have ended gets their images", arguments: Form.allCases)
    func blockedMainThread(form: Form) async throws {
        try await Rig.run { rig in
            rig.server.route("/a.png", .data(try SampleImage.png(8, 8)))
            let events = Box<[String]>([])
            await withCheckedContinuation { continuation in
                DispatchQueue.main.async {
                    for _ in 0..<3 {
                        let ended = DispatchSemaphore(value: 0)
                        Self.load(form, rig, [.forceRefresh, .callbackQueue(.untouch)], events) { ended.signal() }
                        ended.wait()
                    }
                    // Behind the reports that have waited.
                    DispatchQueue.main.async { continuation.resume() }
                }
            }
            #expect(events.value == ["end", "end", "end"])
        }
    }
}
