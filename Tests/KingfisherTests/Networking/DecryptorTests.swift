// Decryptors: when they run, what they are given, and what their failures are.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite(.timeLimit(.minutes(5))) struct DecryptorTests {
    private struct WrongKey: Error, LocalizedError {
        var errorDescription: String? { "wrong key" }
    }

    private let reversing = AnyDataDecryptor { data, _ in Data(data.reversed()) }

    @Test("Base64 is decoded with line breaks and characters that do not belong there", arguments: ["\r\n", "*", ""])
    func base64(separator: String) {
        let text = someBytes.base64EncodedString()
        let broken = "\(text.prefix(10))\(separator)\(text.dropFirst(10))"
        #expect(Base64DataDecryptor().decrypt(Data(broken.utf8), response: nil) == someBytes)
        #expect(Base64DataDecryptor().decrypt(Data("abcde".utf8), response: nil) == nil)
    }

    @Test("Bytes are decrypted once a transfer, before the data modifier and the delegate have them")
    func order() async throws {
        try await withDownloader { server, downloader in
            let gate = Gate(), runs = Counter(), statuses = Box<[Int?]>([])
            let delegate = RecordingDelegate(change: { $0 + Data([33]) })
            downloader.delegate = delegate
            server.route("/a", TestResponse.data(Data([1, 2, 3])).with { $0.gate = gate })
            let options: KingfisherOptionsInfo = [
                .decryptor(
                    AnyDataDecryptor { data, response in
                        runs.add()
                        statuses.change { $0.append((response as? HTTPURLResponse)?.statusCode) }
                        return Data(data.reversed())
                    }
                ),
                .dataModifier(AnyDataModifier { data, _ in data + Data([0]) }),
            ]
            let callers = (0..<2).map { _ in Caller.load(server.url("/a"), with: downloader, options) }
            let plain = Caller.load(server.url("/a"), with: downloader)
            gate.open()
            for caller in callers { #expect(await caller.data == Data([3, 2, 1, 0, 33])) }
            #expect(await plain.data == Data([1, 2, 3, 33]))
            #expect(runs.value == 1 && statuses.value == [200] && server.count("/a") == 2)
        }
    }

    @Test("A decryptor that returns nothing or throws fails the load, and the error has its own") func failing()
        async throws
    {
        try await withDownloader { server, downloader in
            server.route("/a", .data(someBytes))
            for hasError in [false, true] {
                let decryptor = AnyDataDecryptor { _, _ in
                    if hasError { throw WrongKey() }
                    return nil
                }
                let error = await Caller.load(server.url("/a"), with: downloader, [.decryptor(decryptor)]).error
                guard case .responseError(.decryptionFailed(let task, let inner))? = error else {
                    Issue.record("\(String(describing: error))")
                    continue
                }
                #expect(task.originalURL == server.url("/a") && error?.errorCode == 2102)
                #expect((inner is WrongKey) == hasError)
                #expect(error?.errorDescription?.contains("wrong key") == hasError)
            }
        }
    }

    @Test("The downloader's decryptor holds for all its downloads, images and bytes; the option goes before it")
    func downloaderAndOption() async throws {
        try await Rig.run { rig in
            let image = try SampleImage.png(8, 8), url = rig.server.url("/a")
            rig.server.route("/a", .data(image.base64EncodedData()))
            rig.manager.downloader.decryptor = Base64DataDecryptor()
            let result = try await rig.manager.retrieveImage(with: url, options: [.waitForCache])
            #expect(result.data() == image && result.image.pixelWidth == 8)
            #expect(rig.cache.isCached(forKey: url.cacheKey))
            #expect(try await rig.manager.downloader.downloadData(with: url).data == image)
            let options = KingfisherParsedOptionsInfo([.decryptor(reversing)])
            let reversed = try await rig.manager.downloader.downloadData(with: url, options: options).data
            #expect(reversed == Data(image.base64EncodedData().reversed()))
        }
    }

    @Test("There are no previews of what arrives encrypted") func previews() async throws {
        try await Rig.run { rig in
            func hasPreviews(_ options: KingfisherOptionsInfo) -> Bool {
                let parsed = rig.manager.parsed([.progressiveJPEG(ImageProgressive())] + options)
                return LoadRequest(LoadPlan(.network(fakeURL), parsed), by: rig.manager).previews != nil
            }
            #expect(hasPreviews([]) && !hasPreviews([.decryptor(reversing)]))
            rig.manager.downloader.decryptor = reversing
            #expect(!hasPreviews([]) && hasPreviews([.downloader(ImageDownloader(name: "other"))]))
        }
    }
}
