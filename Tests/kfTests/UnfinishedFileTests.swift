// Files that `kf` writes while a signal ends it: they are as they were, and nothing stays beside them.

import Foundation
import KFImaging
import KingfisherTestSupport
import Testing

@testable import kf

@Suite(.tags(.processes)) struct UnfinishedFileTests {
    /// Ways to write a file.
    static let commands = [
        ["process", "in.png", "--in-place", "--process", "rotate(90)"], ["process", "in.png", "-o", "out.png"],
        ["fetch", "in.png", "--memory-only", "-o", "out.png"],
    ]

    /// Whether files need no names while they are written here.
    static let hasUnnamedFiles: Bool = {
        let descriptor = open(NSTemporaryDirectory(), 0o20_000_000 | O_DIRECTORY | O_WRONLY | O_CLOEXEC, 0o600)
        if descriptor >= 0 { close(descriptor) }
        return descriptor >= 0
    }()

    let place = TestDirectory()

    /// A square of colours that no format makes much smaller.
    private static func noise(_ side: Int, seed: UInt32) throws -> Data {
        var state = seed
        let image = SampleImages.drawn(side, side) { _, _ in
            state = state &* 1_664_525 &+ 1_013_904_223
            return 0xFF00_0000 | state >> 8
        }
        return try #require(image.pngData())
    }

    // MARK: The end of a process

    @Test(
        "A signal leaves a whole file or none, and nothing beside it; also one that cannot be caught",
        .timeLimit(.minutes(5)),
        arguments: [SIGINT, SIGTERM, SIGHUP] + (hasUnnamedFiles ? [SIGKILL] : [])
    )
    func signals(signal: Int32) async throws {
        let image = try Self.noise(1000, seed: 7)
        var statuses: [Int32] = []
        // A command may be faster than the signal, but not each time.
        repeat {
            // A file that takes the place of another one has a name for a moment.
            for command in Self.commands where signal != SIGKILL || !command.contains("--in-place") {
                try place.write(image, "in.png")
                try? FileManager.default.removeItem(at: place.directory.appending(path: "out.png"))
                let directory = place.directory.lastPathComponent
                let result = try await place.kf(command) { process in
                    Task { if await Self.isWriting(process, in: directory) { kill(process, signal) } }
                }
                #expect([-signal, 0].contains(result.status), "\(result.errors)")
                statuses.append(result.status)
                #expect(Set(place.files(".")).isSubset(of: ["in.png", "out.png"]), "\(place.files("."))")
                for name in place.files(".") { #expect(try Codecs.isTruncated(place.data(name)) == false) }
            }
        } while !statuses.contains(-signal)
    }

    /// Waits until a process writes a file into a directory; false when it has ended before.
    private static func isWriting(_ process: Int32, in directory: String) async -> Bool {
        let files = FileManager.default
        let descriptors = "/proc/\(process)/fd"
        // What has no name is listed under a number.
        let marks = ["\(directory)/.kf-", "\(directory)/#"]
        while let names = try? files.contentsOfDirectory(atPath: descriptors) {
            for name in names {
                let target = try? files.destinationOfSymbolicLink(atPath: "\(descriptors)/\(name)")
                if let target, marks.contains(where: { target.contains($0) }) { return true }
            }
            await Task.yield()
        }
        return false
    }

    @Test("A signal that is ignored from the start, as under nohup, stays ignored", .timeLimit(.minutes(5)))
    func ignoredSignal() async throws {
        let image = try SampleImages.png()
        try await withServer { server in
            let gate = Gate()
            server.route("/a.png", .data(image).with { $0.gate = gate })
            let result = try await place.kf(
                ["fetch", server.url("/a.png").absoluteString, "--memory-only", "-o", "out.png", "--timeout", "240"],
                launcher: ["/bin/sh", "-c", "trap '' HUP; exec \"$0\" \"$@\""]
            ) { process in
                Task {
                    await server.waitForRequests(to: "/a.png")
                    kill(process, SIGHUP)
                    gate.open()
                }
            }
            #expect(result.status == 0, "\(result.errors)")
            #expect(try place.data("out.png") == image)
        }
    }
}

/// The files themselves, made in this process.
@Suite struct HiddenNameTests {
    let place = TestDirectory()
    private let files = UnfinishedFiles()

    @Test("A file is replaced whole or not at all, with a hidden name or without one", arguments: [false, true])
    func replaced(hasName: Bool) throws {
        func write(_ bytes: [UInt8], failingWith code: Int32 = 0) -> Int32 {
            func fill(_ descriptor: Int32) -> Int32 {
                FileDescriptorOutput.write(bytes, to: descriptor) ? code : errno
            }
            if hasName { return files.makeNamed(place.path("a"), mode: 0o600, fill: fill) }
            return files.make(place.path("a"), mode: 0o600, fill: fill)
        }
        for bytes in [[1, 2, 3], [4], []] as [[UInt8]] {
            #expect(write(bytes) == 0)
            #expect(write([9], failingWith: ENOSPC) == ENOSPC)
            #expect(try place.data("a") == Data(bytes))
            #expect(place.files(".") == ["a"])
        }
    }

    @Test("A file with a hidden name is removed before the process ends, and does not get its own name then")
    func removed() {
        let code = files.makeNamed(place.path("a"), mode: 0o600) { _ in
            #expect(place.files(".").map { $0.prefix(4) } == [".kf-"])
            files.removeAll {}
            #expect(place.files(".") == [])
            return 0
        }
        #expect(code == ENOENT && place.files(".") == [])
    }
}
