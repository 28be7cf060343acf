// Live photos that are loaded several times at once, and the names of their files.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite struct LivePhotoSharingTests {
    @Test("Two concurrent loads of one live photo share the downloads; unusual extensions stay in the directory")
    func livePhotos() async throws {
        try await Rig.run { rig in
            let gate = Gate()
            for path in ["/l.heic", "/l.mov"] {
                rig.server.route(path, TestResponse.data(Data(path.utf8)).with { $0.gate = gate })
            }
            let source = LivePhotoSource(urls: ["/l.heic", "/l.mov"].map { rig.server.url($0) })
            let manager = rig.manager
            let joined = StartCounter(awaited: 4)
            async let one = manager.retrieveLivePhoto(with: source, options: [.requestModifier(joined)])
            async let two = manager.retrieveLivePhoto(with: source, options: [.requestModifier(joined)])
            await joined.haveStarted.value
            gate.open()
            let (a, b) = (try await one, try await two)
            #expect(a.fileURLs == b.fileURLs && a.data() == [Data("/l.heic".utf8), Data("/l.mov".utf8)])
            #expect(b.data() == a.data())
            #expect(rig.server.count("/l.heic") == 1 && rig.server.count("/l.mov") == 1)

            for ext in ["../../x", "a/b", String(repeating: "x", count: 300), "a\0b", "ü😀", ".", "HEIC"] {
                let odd = LivePhotoSource(resources: [
                    LivePhotoResource(downloadURL: rig.server.url("/l.heic"), cacheKey: "odd", fileType: .other(ext))
                ])
                let r = await failure { try await manager.retrieveLivePhoto(with: odd) }
                #expect(r == nil, "\(ext)")
                if r == nil {
                    let again = try await manager.retrieveLivePhoto(with: odd)
                    #expect(again.cacheType == .disk)
                    #expect(
                        again.fileURLs[0].deletingLastPathComponent().path == rig.cache.diskStorage.directoryURL.path
                    )
                }
            }
            // One resource named twice.
            let url = rig.server.url("/l.mov")
            await rig.cache.clearDiskCache()
            let twice = try await manager.retrieveLivePhoto(with: LivePhotoSource(urls: [url, url]))
            #expect(twice.data().count == 2)
            #expect(try await manager.retrieveLivePhoto(with: LivePhotoSource(urls: [])).fileURLs.isEmpty)
        }
    }
}
