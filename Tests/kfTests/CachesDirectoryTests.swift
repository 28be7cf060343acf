// Where the tool's cache lies in environments of all kinds.

import Foundation
import Testing

@testable import kf

@Suite(.tags(.processes)) struct CachesDirectoryTests {
    private let place = TestDirectory()

    /// The home of the account that runs the tests, as the system's tool says.
    private static let home: String? = {
        let line = try? output("getent", "passwd", "\(geteuid())")
        return line?.split(separator: ":", omittingEmptySubsequences: false).dropFirst(5).first.map(String.init)
    }()

    /// Runs a program as a user without an account; nil where the system allows no such thing.
    private static let withoutAccount: [String]? = {
        let launcher = ["unshare", "--user", "--map-user=4711"]
        return (try? output(launcher + ["id", "-u"])) == "4711\n" ? launcher : nil
    }()

    private static func output(_ line: String...) throws -> String { try output(line) }

    private static func output(_ line: [String]) throws -> String {
        let (process, pipe) = (Process(), Pipe())
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = line
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        try process.run()
        let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return process.terminationStatus == 0 ? String(decoding: data, as: UTF8.self) : ""
    }

    /// The directory of the user's caches, with these variables set and no others that matter.
    private func directory(_ variables: String...) async throws -> String {
        let launcher = ["/usr/bin/env", "-u", "HOME", "-u", "XDG_CACHE_HOME"] + variables
        let result = try await place.kf(["cache", "stats", "--json"], launcher: launcher)
        #expect(result.status == 0, "\(result.errors)")
        let directory = try #require(try result.objects.first?["directory"] as? String)
        return try #require(directory.firstRange(of: "/com.onevcat.").map { String(directory[..<$0.lowerBound]) })
    }

    @Test("Variables name the directory if they are absolute paths") func variables() async throws {
        #expect(try await directory("XDG_CACHE_HOME=/x y", "HOME=/h") == "/x y")
        for relative in ["", "x", "./x", "~/x"] {
            #expect(try await directory("XDG_CACHE_HOME=\(relative)", "HOME=/h") == "/h/.cache")
        }
    }

    @Test("Without a usable HOME, as in services of systemd, the account's home counts", .enabled(if: home != nil))
    func account() async throws {
        let home = try #require(Self.home)
        #expect(try await directory() == home + "/.cache")
        for relative in ["", "h"] { #expect(try await directory("HOME=\(relative)") == home + "/.cache") }
    }

    @Test(
        "A user without a home loads images, and learns why they are not stored and what to do",
        .enabled(if: withoutAccount != nil)
    )
    func noHome() async throws {
        let launcher = ["/usr/bin/env", "-u", "HOME", "-u", "XDG_CACHE_HOME"] + (try #require(Self.withoutAccount))
        try place.write(SampleImages.png(), "a.png")
        let fetched = try await place.kf(["fetch", "a.png", "--process", "bw()", "-o", "b.png"], launcher: launcher)
        #expect(fetched.status == 0)
        #expect(place.files("").contains("b.png"))
        let listed = try await place.kf(["cache", "list"], launcher: launcher)
        #expect(listed.status == 1 && listed.output == "")
        for errors in [fetched.errors, listed.errors] {
            #expect(errors.contains("user 4711 has no home: set XDG_CACHE_HOME"), "\(errors)")
        }
        let named = try await place.kf(
            ["fetch", "a.png", "--cache-dir", place.path("c")],
            launcher: launcher
        )
        #expect(named.status == 0 && named.errors == "", "\(named.errors)")
    }
}
