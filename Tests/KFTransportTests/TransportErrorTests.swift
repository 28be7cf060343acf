// The descriptions of a transport's errors, and the secrets they leave out.

import Foundation
import Testing

@testable import KFTransport

@Suite struct TransportErrorTests {
    private func error() throws -> TransportError {
        let url = try #require(URL(string: "https://me:pass@a.example/b.png?w=3&X-Amz-Signature=abcdef"))
        return TransportError(.timedOut, "\(url) took too long.", url: url)
    }

    @Test("Descriptions of errors contain no password and no signature of the URL") func descriptions() throws {
        let error = try error()
        let texts = [
            error.message, "\(error)", String(reflecting: error), error.urlError.localizedDescription,
            "\(error.urlError)", String(reflecting: error.urlError), "\(error.urlError.errorUserInfo)",
            "\(error.urlError as NSError)",
        ]
        for text in texts {
            #expect(!text.contains("pass") && !text.contains("abcdef"), "\(text)")
        }
        #expect(error.description == "https://a.example/b.png?w=3&X-Amz-Signature=REDACTED took too long. (-1001)")
    }

    @Test("The failing URL of a URLError has no secrets, that of the transport's error keeps them")
    func failingURL() throws {
        let error = try error()
        #expect(error.urlError.failingURL?.absoluteString == "https://a.example/b.png?w=3&X-Amz-Signature=REDACTED")
        #expect(error.url?.password == "pass")
        let plain = try #require(URL(string: "https://a.example/b.png?w=3"))
        #expect(TransportError(.timedOut, "", url: plain).urlError.failingURL == plain)
        #expect(TransportError(.timedOut, "").urlError.failingURL == nil)
    }
}
