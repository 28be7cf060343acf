// File names of keys: hashes, extensions, and that no key leads out of the directory. DSK-7 to DSK-11.

import KFStorage
import Testing

@Suite struct FileNamingTests {
    static let hashOfHello = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"

    @Test func namesAreHashesOfKeysOrTheKeys() {
        #expect(FileNaming().fileName(forKey: "hello") == Self.hashOfHello)
        #expect(FileNaming(usesHash: false).fileName(forKey: "hello") == "hello")
    }

    @Test func extensionsHaveAnOrder() {
        let key = "hello.png"
        let hash = FileNaming.hash(key)
        #expect(FileNaming().fileName(forKey: key) == hash)
        #expect(FileNaming(keepsExtensionOfKey: true).fileName(forKey: key) == hash + ".png")
        let naming = FileNaming(pathExtension: "cache", keepsExtensionOfKey: true)
        #expect(naming.fileName(forKey: key) == hash + ".cache")
        #expect(naming.fileName(forKey: key, forcedExtension: "mov") == hash + ".mov")
    }

    @Test func withoutHashingTheKeysOwnExtensionIsNotAddedAgain() {
        let naming = FileNaming(usesHash: false, keepsExtensionOfKey: true)
        #expect(naming.fileName(forKey: "a.png") == "a.png")
    }

    @Test(arguments: [
        ("a.jpeg@proc", "jpeg"), ("https://x.org/57373197@300.jpg", nil), ("image.jpg?v=2", nil), ("nodot", nil),
        ("a.PnG", "PnG"), ("a.", nil), ("a.abcdefghijklmnopqrst", "abcdefghijklmnopqrst"),
        ("a.abcdefghijklmnopqrstu", nil), ("", nil), ("@", nil),
    ])
    func theExtensionOfAKey(key: String, expected: String?) {
        #expect(FileNaming.fileExtension(ofKey: key) == expected)
    }

    static let hostileKeys = [
        "../../etc/passwd", "/etc/passwd", "..", ".", "", ".hidden", "a/b", "nul\u{0}inside",
        String(repeating: "k", count: 10_000),
    ]

    @Test(arguments: hostileKeys)
    func aKeyThatCannotBeAFileNameIsHashed(key: String) {
        #expect(FileNaming(usesHash: false).fileName(forKey: key) == FileNaming.hash(key))
    }

    @Test(arguments: ["new\nline", "📷", "a b", "100%"])
    func anOddKeyThatCanBeAFileNameIsOne(key: String) {
        #expect(FileNaming(usesHash: false).fileName(forKey: key) == key)
    }

    @Test(arguments: ["../x", "a/b", "\u{0}", String(repeating: "e", count: 300)])
    func noExtensionLeadsOut(fileExtension: String) {
        let name = FileNaming().fileName(forKey: "hello", forcedExtension: fileExtension)
        #expect(FileNaming.isSafe(name))
        #expect(name != FileNaming().fileName(forKey: "hello"))
    }
}
