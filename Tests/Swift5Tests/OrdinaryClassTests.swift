// A program in Swift 5 mode whose hooks are ordinary classes, with state and without Sendable: it must compile and
// work.

import Foundation
import FoundationNetworking
import Kingfisher
import KingfisherTestSupport
import Testing

class Gallery {
    var events: [String] = []
    private let lock = NSLock()

    func note(_ event: String) {
        lock.lock()
        events.append(event)
        lock.unlock()
    }
}

extension Gallery: ImageDownloaderDelegate {
    func imageDownloader(
        _ downloader: ImageDownloader,
        willDownloadImageForURL url: URL,
        with request: URLRequest?
    ) {
        note("begins")
    }

    func imageDownloader(_ downloader: ImageDownloader, didDownload data: Data, for url: URL) -> Data? {
        note("\(data.count) bytes")
        return data
    }

    func imageDownloader(
        _ downloader: ImageDownloader,
        didReceive response: URLResponse
    ) async -> URLSession.ResponseDisposition {
        note("responds")
        return .allow
    }
}

extension Gallery: AuthenticationChallengeResponsible {
    func downloader(
        _ downloader: ImageDownloader,
        task: SessionDataTask,
        didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        note("asked for \(challenge.protectionSpace.realm ?? "")")
        return (.useCredential, URLCredential(user: "user", password: "password", persistence: .none))
    }
}

@Suite struct OrdinaryClassTests {
    @Test("Hooks that are an ordinary class work in Swift 5 mode") func hooks() async throws {
        let server = try await TestServer.start()
        server.route("/image") { request in
            guard request.header("authorization") != nil else {
                return TestResponse(status: 401, headers: ["WWW-Authenticate": "Basic realm=\"images\""])
            }
            return .data(Data("bytes".utf8))
        }
        let gallery = Gallery()
        let downloader = ImageDownloader(name: "test")
        downloader.delegate = gallery
        downloader.authenticationChallengeResponder = gallery
        let loaded = try await downloader.downloadData(
            with: server.url("/image"),
            options: KingfisherParsedOptionsInfo([.requestModifier(AnyModifier { $0 })])
        )
        #expect(loaded.data == Data("bytes".utf8))
        #expect(gallery.events == ["begins", "asked for images", "responds", "5 bytes"])
        await server.stop()
    }

    @Test("The transfer of a task is reached in the spelling of Kingfisher") func priority() {
        let downloader = ImageDownloader(name: "test", transport: FakeTransport { _ in })
        let task = downloader.downloadImage(with: URL(string: "http://127.0.0.1/image")!)
        task.sessionTask?.task.priority = URLSessionTask.highPriority
        #expect(task.sessionTask?.task.priority == URLSessionTask.highPriority)
        #expect(task.sessionTask?.task.state == .running)
        task.cancel()
    }
}
