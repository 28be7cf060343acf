// URLs that programs make are those that the server reads.

import Foundation
import KFImageURLs
import Testing

@Suite struct ImageURLsTests {
    private let key = "736563726574"
    private let salt = "68656C6C6F"
    private static let sources = ["https://example.com/a.jpg", "local:///ä b@c.png", "s3://bucket/x?y=z", "x"]

    /// What a server with the key reads in a URL.
    private func read(_ url: String, below server: String) throws(RequestError) -> ImagePlan {
        let signed = settings { settings in
            settings.signatures.keys = [Array("secret".utf8)]
            settings.signatures.salts = [Array("hello".utf8)]
        }
        return try parsed(String(url.dropFirst(server.count)), settings: signed).plan
    }

    @Test("A signed URL is accepted, and has its source, options and format", arguments: sources)
    func signed(source: String) throws {
        let server = "https://images.example.com"
        let images = try #require(ImageURLs(server: server + "/", key: key, salt: salt))
        for format in [nil, "webp"] {
            let url = images.url(of: source, options: ["rs:fill:30:20", "g:sm"], format: format)
            let expected = try plan("rs:fill:30:20/g:sm/" + (format.map { "f:\($0)/" } ?? ""), of: source)
            #expect(try read(url, below: server) == expected)
            #expect(error(of: String(url.dropFirst(server.count)).replacing(":30:", with: ":31:")) == 403)
        }
    }

    /// The plan of options for a source, read without a signature.
    private func plan(_ options: String, of source: String) throws(RequestError) -> ImagePlan {
        let name = Data(source.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
        return try parsed("/_/" + options + name).plan
    }

    private func error(of path: String) -> Int? {
        do throws(RequestError) {
            _ = try read(path, below: "")
            return nil
        } catch {
            return error.status
        }
    }

    @Test("Keys that are no hexadecimal make no URLs; without a key the signature is a line")
    func keys() {
        for (key, salt) in [("7", salt), ("zz", salt), (key, "6"), (key, "x1")] {
            #expect(ImageURLs(server: "", key: key, salt: salt) == nil)
        }
        #expect(ImageURLs(server: "http://a/images/").url(of: "x") == "http://a/images/_/eA")
    }
}
