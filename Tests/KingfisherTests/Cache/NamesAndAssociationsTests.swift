// File names made from keys, and values associated with objects.

import Foundation
import KFStorage
import KFSupport
import Testing

@testable import Kingfisher

@Suite struct NamesAndAssociationsTests {
    @Test("Files are named by the hash of their key") func fileNameHash() {
        let name = FileNaming().fileName(forKey: "hello")
        #expect(name == "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824")
    }

    @Test(
        "The extension of a key is read from its end",
        arguments: [
            ("image.png", "png"), ("image.PNG", "PNG"), ("image.png@round", "png"),
            ("https://example.com/57373197@300-1.jpg", nil), ("image", nil), ("image.", nil), ("a.b/c", nil), ("", nil),
            ("a.\(String(repeating: "x", count: 20))", String(repeating: "x", count: 20)),
            ("a.\(String(repeating: "x", count: 21))", nil),
        ] as [(String, String?)]
    )
    func extensions(key: String, expected: String?) { #expect(FileNaming.fileExtension(ofKey: key) == expected) }

    @Test(
        "The key of a local file is its path, from the last bundle on, with its query",
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

    private final class TestObject: Sendable {}

    @Test("Associated values belong to their object and key") func associatedValues() {
        let keys = UnsafeMutablePointer<UInt8>.allocate(capacity: 2)
        defer { keys.deallocate() }
        let (one, other) = (TestObject(), TestObject())
        #expect(getAssociatedObject(one, keys) as Int? == nil)
        setRetainedAssociatedObject(one, keys, 1)
        setRetainedAssociatedObject(one, keys, 2)
        setRetainedAssociatedObject(one, keys + 1, "text")
        #expect(getAssociatedObject(one, keys) == 2)
        #expect(getAssociatedObject(one, keys + 1) == "text")
        #expect(getAssociatedObject(one, keys + 1) as Int? == nil)
        #expect(getAssociatedObject(other, keys) as Int? == nil)
    }

    @Test("Objects and their associated values are released", .timeLimit(.minutes(5)))
    func associatedValueRelease() async {
        let key = UnsafeMutablePointer<UInt8>.allocate(capacity: 1)
        defer { key.deallocate() }
        weak var firstValue: TestObject?
        for number in 0..<1_000 {
            let (object, value) = (TestObject(), TestObject())
            #expect(
                getAssociatedObject(object, key) as TestObject? == nil,
                "Another object may have had the same address."
            )
            setRetainedAssociatedObject(object, key, value)
            #expect((getAssociatedObject(object, key) as TestObject?) === value)
            if number == 0 { firstValue = value }
        }
        // Another thread may be removing the value and about to release it.
        while firstValue != nil { await Task.yield() }
    }
}
