// What keys contribute to file names.

import Foundation
import KFStorage
import KFSupport
import Testing

@testable import Kingfisher

@Suite struct KeyNamesTests {
    @Test("files are named by the hash of their key") func fileNameHash() {
        let name = FileNaming().fileName(forKey: "hello")
        #expect(name == "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824")
    }

    @Test(
        "the extension of a key is read from its end",
        arguments: [
            ("image.png", "png"), ("image.PNG", "PNG"), ("image.png@round", "png"),
            ("https://example.com/57373197@300-1.jpg", nil), ("image", nil), ("image.", nil), ("a.b/c", nil), ("", nil),
            ("a.\(String(repeating: "x", count: 20))", String(repeating: "x", count: 20)),
            ("a.\(String(repeating: "x", count: 21))", nil),
        ] as [(String, String?)]
    )
    func extensions(key: String, expected: String?) { #expect(FileNaming.fileExtension(ofKey: key) == expected) }

    @Test(
        "the key of a local file is its path, from the last bundle on, with its query",
        arguments: [
            ("file:///home/me/a.png", "///home/me/a.png"), ("file:///home/me/a.png?size=2", "///home/me/a.png?size=2"),
            ("file:///opt/1234/My.app/images/a.png", "/My.app/images/a.png"),
            ("file:///opt/My.app/Plug.appex/a.png", "/Plug.appex/a.png"),
        ]
    )
    func keysOfLocalFiles(url: String, expected: String) throws {
        let url = try #require(URL(string: url))
        #expect(URL.localFileCacheKeyPrefix == "kingfisher.local.cacheKey")
        #expect(url.localFileCacheKey == URL.localFileCacheKeyPrefix + expected)
        #expect(url.cacheKey == url.localFileCacheKey)
    }
}
