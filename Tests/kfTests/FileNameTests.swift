// Names of files that `kf` reads and writes: modes, bytes that are not UTF-8, and names made of patterns.

import Foundation
import Kingfisher
import Testing

@testable import kf

@Suite(.tags(.processes)) struct FileNameTests {
    let place = TestDirectory()

    /// Runs a line of the shell in which `kf` is the tool.
    private func shell(_ line: String) async throws -> KFResult {
        try await place.kf([], launcher: ["/bin/sh", "-c", "kf() { \"$tool\" \"$@\"; }; tool=$0; \(line)"])
    }

    private func mode(_ name: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: place.path(name))
        return try #require(attributes[.posixPermissions] as? Int)
    }

    // MARK: Modes

    @Test("A file that is replaced keeps its mode, and a new one has that of the umask")
    func modes() async throws {
        try place.write(SampleImages.jpeg(), "a.jpg")
        for bits in [0o600, 0o664] {
            try FileManager.default.setAttributes([.posixPermissions: bits], ofItemAtPath: place.path("a.jpg"))
            let before = try place.data("a.jpg")
            let result = try await place.kf("process", "a.jpg", "-o", "a.jpg", "--process", "rotate(90)")
            #expect(result.status == 0, "\(result.errors)")
            #expect(try place.data("a.jpg") != before)
            #expect(try mode("a.jpg") == bits)
        }
        for (umask, bits) in [("022", 0o644), ("077", 0o600)] {
            let result = try await shell("umask \(umask); kf process a.jpg -o new-\(umask).png --process 'bw()'")
            #expect(result.status == 0, "\(result.errors)")
            #expect(try mode("new-\(umask).png") == bits)
        }
    }

    // MARK: Bytes

    @Test("Files whose names are not UTF-8 are read and written under these names")
    func namesOutsideUTF8() async throws {
        try place.write(SampleImages.png(), "in.png")
        let lines = [
            "mv in.png \"$n.png\"; kf info \"$n.png\"", "kf hash \"$n.png\"", "kf show \"$n.png\"",
            "kf process \"$n.png\" -o \"$n.webp\" --process 'bw()' && test -s \"$n.webp\"",
            "kf process \"$n.png\" -o \"$n/\" --process 'bw()' && test -s \"$n/$n.png\"",
            "kf fetch \"$n.png\" -o \"$n/{name}-{width}.png\" && test -s \"$n/$n-48.png\"",
            "kf info \"file://$PWD/caf%E9.png\"",
            "kf process \"file://$PWD/caf%e9.png\" -o urls/ --process 'bw()' && test -s \"urls/$n.png\"",
        ]
        for line in lines {
            let result = try await shell("n=$(printf 'caf\\351'); \(line)")
            #expect(result.status == 0, "\(line): \(result.errors)")
            #expect(result.errors == "")
        }
        let missing = try await shell("kf fetch --json $(printf 'no\\351.png')")
        #expect(missing.errors == "kf: no\\xE9.png: cannot be read: No such file or directory (code 5003)\n")
        #expect(try missing.objects.first?["source"] as? String == "no\\xE9.png")
    }

    @Test("A result has the name of its source byte for byte, also with line breaks and marks of direction")
    func strangeNames() async throws {
        // The last two differ in their bytes only.
        let names = ["\u{202E}gnp", "new\nline", "tab\t\u{1B}[31m", "\u{E9}", "e\u{301}"]
        for name in names { try place.write(SampleImages.png(), "\(name).png") }
        for command in ["fetch", "process"] {
            let sources = names.map { "\($0).png" }
            let result = try await place.kf([command] + sources + ["--process", "bw()", "-o", "out-\(command)/"])
            #expect(result.status == 0, "\(result.errors)")
            #expect(!result.output.contains("\u{202E}") && result.output.contains("new\\u{A}line.png"))
            let bytes = place.files("out-\(command)").map { Array($0.utf8) }
            #expect(Set(bytes) == Set(sources.map { Array($0.utf8) }))
        }
    }

    @Test("Long names are cut so that the whole name fits the file system, and stay different")
    func longNames() async throws {
        let long = String(repeating: "n", count: 229)
        for end in ["1", "2"] { try place.write(SampleImages.png(), "\(long)\(end).png") }
        let sources = ["1", "2"].map { "\(long)\($0).png" }
        let result = try await place.kf(["process"] + sources + ["-o", "out/a-much-longer-name-{name}-{width}.webp"])
        #expect(result.status == 0, "\(result.errors)")
        let names = place.files("out").sorted { $0.utf8.count < $1.utf8.count }
        #expect(names.count == 2 && names.allSatisfy { (240...255).contains($0.utf8.count) }, "\(names)")
        #expect(names.allSatisfy { $0.hasPrefix("a-much-longer-name-nnn") })
        #expect(names.map { String($0.suffix(11)) } == ["nnn-48.webp", "n-2-48.webp"])
        // What fits stays whole.
        let whole = try await place.kf(["process"] + sources + ["-o", "whole/{name}-{width}.webp"])
        #expect(whole.status == 0, "\(whole.errors)")
        #expect(Set(place.files("whole")) == ["\(long)1-48.webp", "\(long)2-48.webp"])
    }

    @Test(
        "Every name keeps its bytes",
        arguments: [
            Array("plain ä 🦜".utf8), [0x63, 0xE9], [0xFF, 0x80, 0x41, 0xC3], [0xE2, 0x82], [],
            Array("\u{10FEE9}\u{10FE80}".utf8),
        ] as [[UInt8]]
    )
    func keptBytes(bytes: [UInt8]) {
        let name = String(systemName: bytes)
        #expect(name.systemName.map(UInt8.init(bitPattern:)) == bytes + [0])
        #expect(name.isOutsideUTF8 == (name.visible != String(decoding: bytes, as: UTF8.self)))
    }

    @Test(
        "The directory of a path is what stands before its last slash",
        arguments: [
            ("a", ""), ("", ""), ("a/b", "a"), ("/a", "/"), ("/", ""), ("a/b/", "a"), ("./a", "."), ("a//", ""),
            ("/é/b", "/é"),
        ]
    )
    func directories(path: String, directory: String) { #expect(path.directory == directory) }

    // MARK: Patterns

    @Test("Words in braces make a name for each result", arguments: ["fetch", "process"])
    func templates(command: String) async throws {
        try FileManager.default.createDirectory(atPath: place.path("b"), withIntermediateDirectories: true)
        try place.write(SampleImages.jpeg(), "a.jpg")
        try place.write(SampleImages.png(), "b/a.png")
        let sources = [command, "a.jpg", "b/a.png", "--process", "resize(12x)"]
        for (pattern, files) in [
            ("one/{name}-{width}x{height}.webp", ["a-12x8.webp", "a-2-12x8.webp"]),
            ("two/{width}/{name}", ["12/a-2.png", "12/a.jpg"]),
            ("three/{ext}/{name}.{ext}", ["jpg/a.jpg", "png/a-2.png"]),
        ] {
            let result = try await place.kf(sources + ["-o", pattern])
            #expect(result.status == 0, "\(result.errors)")
            #expect(place.files(pattern.prefix { $0 != "/" }.description).sorted() == files)
        }
        let kept = try await place.kf(command, "a.jpg", "--process", "bw()", "-o", "{name}.jpg")
        #expect(kept.status == 1)
        #expect(kept.errors.contains("that is one of the inputs"), "\(kept.errors)")
    }

    @Test("A name with braces that exists is no pattern", arguments: ["fetch", "process"])
    func existingBraces(command: String) async throws {
        try FileManager.default.createDirectory(atPath: place.path("{x}"), withIntermediateDirectories: true)
        for name in ["a.jpg", "{width}.png"] { try place.write(SampleImages.jpeg(), name) }
        for output in ["{x}/", "{width}.png"] {
            let result = try await place.kf(command, "a.jpg", "--process", "bw()", "-o", output)
            #expect(result.status == 0, "\(result.errors)")
        }
        #expect(place.files("{x}") == ["a.jpg"])
        #expect(try ImageInfo(data: place.data("{width}.png")).contentType == .png)
    }
}
