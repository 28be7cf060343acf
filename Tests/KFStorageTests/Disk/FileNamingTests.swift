// File names of keys: hashes, extensions, and keys that would lead out of the directory.

import KFStorage
import Testing

@Suite struct FileNamingTests {
    static let hashOfHello = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"

    @Test("File names are the hashes of the keys, or the keys themselves") func hashedAndPlainNames() {
        #expect(FileNaming().fileName(forKey: "hello") == Self.hashOfHello)
        #expect(FileNaming(usesHash: false).fileName(forKey: "hello") == "hello")
    }

    @Test("A forced extension precedes the configured one, and that precedes the key's own") func extensionPrecedence()
    {
        let key = "hello.png"
        let hash = FileNaming.hash(key)
        #expect(FileNaming().fileName(forKey: key) == hash)
        #expect(FileNaming(keepsExtensionOfKey: true).fileName(forKey: key) == hash + ".png")
        let naming = FileNaming(pathExtension: "cache", keepsExtensionOfKey: true)
        #expect(naming.fileName(forKey: key) == hash + ".cache")
        #expect(naming.fileName(forKey: key, forcedExtension: "mov") == hash + ".mov")
    }

    @Test("Without hashing, the key's own extension is not added a second time") func extensionOfPlainName() {
        let naming = FileNaming(usesHash: false, keepsExtensionOfKey: true)
        #expect(naming.fileName(forKey: "a.png") == "a.png")
    }

    @Test(
        "The extension of a key is the text behind the last dot before the first `@`",
        arguments: [
            ("a.jpeg@proc", "jpeg"), ("https://x.org/57373197@300.jpg", nil), ("image.jpg?v=2", nil), ("nodot", nil),
            ("a.PnG", "PnG"), ("a.", nil), ("a.abcdefghijklmnopqrst", "abcdefghijklmnopqrst"),
            ("a.abcdefghijklmnopqrstu", nil), ("", nil), ("@", nil),
        ]
    )
    func extensionOfKey(key: String, expected: String?) {
        #expect(FileNaming.fileExtension(ofKey: key) == expected)
    }

    /// A key, described by its length if it is long.
    struct HostileKey: CustomTestStringConvertible, Sendable {
        let text: String

        var testDescription: String { text.count > 40 ? "\(text.count) characters" : "\"\(text)\"" }
    }

    static let hostileKeys = [
        "../../etc/passwd", "/etc/passwd", "..", ".", "", ".hidden", "a/b", "nul\u{0}inside",
        String(repeating: "k", count: 10_000),
    ]
    .map { HostileKey(text: $0) }

    @Test("A key that cannot be a file name is hashed", arguments: hostileKeys)
    func unsafeKeys(key: HostileKey) {
        #expect(FileNaming(usesHash: false).fileName(forKey: key.text) == FileNaming.hash(key.text))
    }

    @Test("An unusual key that can be a file name is kept as it is", arguments: ["new\nline", "📷", "a b", "100%"])
    func unusualKeys(key: String) {
        #expect(FileNaming(usesHash: false).fileName(forKey: key) == key)
    }

    @Test(
        "No extension leads out of the directory",
        arguments: ["../x", "a/b", "\u{0}", String(repeating: "e", count: 300)]
    )
    func unsafeExtensions(fileExtension: String) {
        let name = FileNaming().fileName(forKey: "hello", forcedExtension: fileExtension)
        #expect(FileNaming.isSafe(name))
        #expect(name != FileNaming().fileName(forKey: "hello"))
    }
}
