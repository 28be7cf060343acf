// Loads as objects: progress and previews as sequences, the result, the end.

import Foundation
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite struct ImageLoadTaskTests {
    @Test("The progress of a download ends with all bytes, and the loop with the load")
    func progress() async throws {
        try await Rig.run { rig in
            let data = try SampleImage.png(200, 200)
            rig.server.route("/a.png", TestResponse.data(data).with { $0.pieceSize = data.count / 4 })
            let load = rig.manager.loadTask(with: rig.server.url("/a.png"))
            var reports: [ImageLoadTask.Progress] = []
            for await progress in load.progress { reports.append(progress) }
            #expect(
                reports.last == ImageLoadTask.Progress(receivedBytes: Int64(data.count), totalBytes: Int64(data.count))
            )
            #expect(reports.last?.fraction == 1)
            #expect(reports.map(\.receivedBytes) == reports.map(\.receivedBytes).sorted())
            #expect(try await load.value.image.pixelWidth == 200)
            #expect(try await load.value.cacheType == .none)
            // From memory there is no progress.
            let again = rig.manager.loadTask(with: .network(rig.server.url("/a.png")))
            for await _ in again.progress { Issue.record("There was nothing to download.") }
            #expect(try await again.value.cacheType == .memory)
        }
    }

    @Test("Previews of a progressive JPEG come while it arrives")
    func previews() async throws {
        try await Rig.run { rig in
            let (jpeg, last) = (try ProgressiveSample(), Gate())
            rig.server.route("/a", jpeg.response(holding: [(jpeg.scans.count, last)]))
            let options: KingfisherOptionsInfo = [.progressiveJPEG(ImageProgressive())]
            let load = rig.manager.loadTask(with: rig.server.url("/a"), options: options)
            var count = 0
            for await preview in load.previews {
                #expect(preview.cgImage != nil)
                count += 1
                last.open()
            }
            #expect(count > 0)
            #expect(try await load.value.image.cgImage != nil)
        }
    }

    @Test("A load that is cancelled ends its sequences, and its value is the error of a cancellation")
    func cancelling() async throws {
        try await Rig.run { rig in
            let gate = Gate()
            rig.server.route("/a.png", TestResponse.data(try SampleImage.png()).with { $0.gate = gate })
            let load = rig.manager.loadTask(with: rig.server.url("/a.png"))
            await rig.server.waitForRequests(to: "/a.png")
            load.cancel()
            for await _ in load.progress { Issue.record("Nothing has arrived.") }
            for await _ in load.previews { Issue.record("Nothing has arrived.") }
            #expect(await failure { try await load.value }?.isCancelled == true)
            gate.open()
            load.cancel()
        }
    }
}
