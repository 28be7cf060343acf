// The names of the files of a disk storage.

import Foundation
import Testing

@testable import Kingfisher

@Suite struct DiskStorageNamingTests {
    private func name(
        _ key: String,
        _ forced: String? = nil,
        _ change: (inout DiskStorage.Config) -> Void = { _ in }
    ) -> String {
        var config = DiskStorage.Config(name: "test", sizeLimit: 0)
        change(&config)
        let storage = DiskStorage.Backend<Data>(noThrowConfig: config, creatingDirectory: false)
        let url = storage.cacheFileURL(forKey: key, forcedExtension: forced)
        #expect(url.lastPathComponent == storage.cacheFileName(forKey: key, forcedExtension: forced))
        return url.lastPathComponent
    }

    private let hello = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"

    @Test("Files are named by the SHA-256 of their key, or by the key itself if that is configured")
    func fileNames() {
        #expect(name("hello") == hello)
        #expect(name("hello") { $0.usesHashedFileName = false } == "hello")
    }

    @Test("A forced extension takes precedence over the configured one, and that over the key's own")
    func extensionPrecedence() {
        let change = { (config: inout DiskStorage.Config) in
            config.pathExtension = "conf"
            config.autoExtAfterHashedFileName = true
        }
        let hash = name("a.png")
        #expect(name("a.png", "forced", change) == hash + ".forced")
        #expect(name("a.png", nil, change) == hash + ".conf")
        #expect(name("a.png") { $0.autoExtAfterHashedFileName = true } == hash + ".png")
        #expect(name("a.png", "forced") == hash + ".forced")
        #expect(!hash.contains("."))
    }

    @Test(
        "The extension of a key is what follows its last dot before the first @, if that looks like one",
        arguments: [
            ("a.jpeg@proc", "jpeg"), ("https://example.com/a.PNG", "PNG"), ("a.b.c", "c"),
            ("https://example.com/57373197@300.jpg", nil), ("image.jpg?v=2", nil), ("nothing", nil), ("a.", nil),
            ("a.12345678901234567890", "12345678901234567890"), ("a.123456789012345678901", nil),
        ] as [(String, String?)]
    )
    func keyExtension(key: String, expected: String?) {
        let found = name(key) { $0.autoExtAfterHashedFileName = true }
        #expect(found == name(key) + (expected.map { "." + $0 } ?? ""))
    }

    @Test("A file that is named by its key gets no second extension")
    func noSecondExtension() {
        let change = { (config: inout DiskStorage.Config) in
            config.usesHashedFileName = false
            config.autoExtAfterHashedFileName = true
        }
        #expect(name("a.png", nil, change) == "a.png")
        #expect(name("a.png", "jpg", change) == "a.png.jpg")
    }
}
