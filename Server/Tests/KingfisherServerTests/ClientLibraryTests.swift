// URLs that a client library makes and signs: `imgproxy` of PyPI, which Scripts/test-server fetches.

import Foundation
import KFImageURLs
import Kingfisher
import KingfisherServer
import Testing

/// What the library is asked for, and what the server then sends.
private struct ClientExample: Sendable {
    /// Python: the arguments of `ImgProxy`.
    let arguments: String
    let size: [Int]
    let type: String

    init(_ arguments: String, _ size: [Int], _ type: String = "image/png") {
        (self.arguments, self.size, self.type) = (arguments, size, type)
    }

    static let all = [
        Self("'local:///a.png', width=100, height=100, resizing_type='fit'", [100, 50]),
        Self("'local:///a.png', width=60, height=60, resizing_type='fill'", [60, 60]),
        Self("'local:///a.png', width=80, height=60, resizing_type='auto'", [80, 60]),
        Self("'local:///a.png', width=50, height=80, resizing_type='auto'", [50, 25]),
        Self("'local:///a.png', width=100", [100, 50]),
        Self("'local:///a.png', height=20", [40, 20]),
        Self("'local:///a.png'", [200, 100]),
        Self("'local:///a.png', width=400", [200, 100]),
        Self("'local:///a.png', width=400, enlarge=True", [400, 200]),
        Self("'local:///a.png', width=60, height=60, resizing_type='fill', gravity='noea'", [60, 60]),
        Self("'local:///a.png', width=60, height=60, resizing_type='fill', gravity='fp:0.2:0.8'", [60, 60]),
        Self("'local:///a.png', width=60, height=60, resizing_type='fill', gravity='sm'", [60, 60]),
        Self("'local:///a.png', width=100, extension='webp'", [100, 50], "image/webp"),
        Self("'local:///a.png', width=100, extension='avif'", [100, 50], "image/avif"),
        Self("'local:///b.jpg', width=100", [100, 50], "image/jpeg"),
        Self("'local:///c.gif', width=100", [100, 50], "image/gif"),
        Self("'local:///a.png', 'https://images.example.com', width=50, advanced=['dpr:2', 'q:40']", [100, 50]),
        Self("'local:///a.png', width=50, advanced=['rot:90', 'pd:10']", [70, 120]),
        Self("'local:///a.png', width=50, height=50, advanced=['c:100:50', 'ex:1', 'bg:ff0000']", [50, 50]),
        Self("'local:///a.png', width=50, extension='jpg', advanced=['bl:2', 'sh:1']", [50, 25], "image/jpeg"),
    ]
}

@Suite(.timeLimit(.minutes(10)), .enabled(if: Python.hasClientLibrary)) struct ClientLibraryTests {
    private static let (key, salt) = ("736563726574", "68656c6c6f")

    @Test("What a client library has signed is served as it asked; with another signature it is not")
    func signed() async throws {
        let examples = ClientExample.all
        let calls = examples.map { "ImgProxy(\($0.arguments), key='\(Self.key)', salt='\(Self.salt)')" }
        let program = "from imgproxy import ImgProxy\nfor url in [\(calls.joined(separator: ","))]: print(url)"
        let urls = try Python.output(of: program).split(separator: "\n").map(String.init)
        try #require(urls.count == examples.count)
        try await RenderingServer.run({
            $0.urls.signatures.keys = [Array("secret".utf8)]
            $0.urls.signatures.salts = [Array("hello".utf8)]
        }) { server in
            for (url, example) in zip(urls, examples) {
                let path = url.replacing("https://images.example.com", with: "")
                let answer = try await server.get(path)
                #expect(
                    answer.status == 200 && answer.fields["content-type"] == example.type,
                    "\(path): \(answer.text)"
                )
                let image = Image(data: Data(answer.body))
                #expect([image?.pixelWidth, image?.pixelHeight] == example.size, "\(example.arguments)")
                var bytes = Array(path.utf8)
                // Each time another place of the 43 characters behind the slash.
                let place = 1 + (bytes.count * 7) % 43
                bytes[place] = UInt8(ascii: bytes[place] == UInt8(ascii: "A") ? "B" : "A")
                #expect(try await server.get(String(decoding: bytes, as: UTF8.self)).status == 403)
            }
        }
    }
}
