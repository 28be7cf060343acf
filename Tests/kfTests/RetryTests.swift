// `--retry` of the commands that download.

import Foundation
import KingfisherTestSupport
import Testing

@testable import kf

@Suite(.tags(.processes)) struct RetryTests {
    let place = TestDirectory()

    /// The responses of a server that fails once for a reason that may pass.
    private static func responses(_ image: Data) -> [[TestResponse]] {
        [[.status(503), .data(image)], [.data(image).with { $0.interruption = .cut(after: 10) }, .data(image)]]
    }

    @Test("Downloads that failed for a reason that may pass are repeated", arguments: ["fetch", "prefetch", "info"])
    func repeatedDownloads(command: String) async throws {
        let server = try await TestServer.start()
        for (index, responses) in Self.responses(try SampleImages.png()).enumerated() {
            let path = "/\(index).png"
            let url = server.url(path).absoluteString
            try place.write(Data(url.utf8), "list.txt")
            let arguments = [command, command == "prefetch" ? "list.txt" : url]
            server.route(path, responses[0])
            #expect(try await place.kf(arguments).status == 1)
            #expect(server.count(path) == 1)
            server.route(path, sequence: responses)
            let result = try await place.kf(arguments + ["--retry", "1"])
            #expect(result.status == 0 && server.count(path) == 3, "\(result.errors)")
        }
        await server.stop()
    }

    @Test("They are not repeated more often than was asked for, nor for other reasons") func limits() async throws {
        let server = try await TestServer.start()
        server.route("/failing.png", .status(503))
        for (path, retries, count) in [("/failing.png", "1", 2), ("/missing.png", "9", 1)] {
            let result = try await place.kf("info", server.url(path).absoluteString, "--retry", retries)
            #expect(result.status == 1 && server.count(path) == count, "\(result.errors)")
        }
        await server.stop()
    }
}
