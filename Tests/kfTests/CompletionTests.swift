// The completion scripts, in the shells they are for: commands, words of options and names of files.

import Foundation
import Testing

@testable import kf

@Suite(.tags(.processes)) struct CompletionTests {
    let place = TestDirectory()

    init() throws {
        try FileManager.default.createDirectory(atPath: place.path("work/sub"), withIntermediateDirectories: true)
        for name in ["photo.jpg", "list.txt", "a b.png"] { try place.write(Data(), "work/\(name)") }
    }

    /// The beginnings of command lines, and what completes the last word of each.
    private static let lines = [
        ("kf pro", "process"), ("kf info ph", "photo.jpg"), ("kf show ph", "photo.jpg"), ("kf hash ph", "photo.jpg"),
        ("kf process a", "a b.png"), ("kf process photo.jpg li", "list.txt"), ("kf process photo.jpg -o su", "sub"),
        ("kf fetch x --output ph", "photo.jpg"), ("kf prefetch li", "list.txt"), ("kf fetch --cacert li", "list.txt"),
        ("kf cache stats --cache-dir s", "sub"), ("kf sheet ph", "photo.jpg"), ("kf compare ph", "photo.jpg"),
        ("kf compare a b -o ph", "photo.jpg"), ("kf sheet a -o ph", "photo.jpg"), ("kf process --format av", "avif"),
        ("kf variants ph", "photo.jpg"), ("kf variants a -o su", "sub"), ("kf dupes su", "sub"),
    ]

    /// Runs a program of a shell in which `complete_line` is called with each beginning.
    private func completions(_ shell: String, _ program: String) async throws -> [String] {
        let script = try await place.kf("--generate-completion-script", shell)
        #expect(script.status == 0, "\(script.errors)")
        try place.write(script.data, "kf.\(shell)")
        let calls = Self.lines.map { "complete_line '\($0.0)'" }.joined(separator: "\n")
        let path = try #require(Self.path(of: shell))
        try place.write(Data("\(program)\n\(calls)\n".utf8), "run")
        let line = "PATH=$(dirname \"$0\"):$PATH; cd work; exec \(path) ../run"
        let result = try await place.kf([], launcher: ["/bin/sh", "-c", line])
        #expect(result.errors == "")
        return result.output.split(separator: "\n").map { $0.hasSuffix("/") ? String($0.dropLast()) : String($0) }
    }

    private static func path(of shell: String) -> String? {
        ["/bin/\(shell)", "/usr/bin/\(shell)"].first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    @Test("Bash completes commands, words and names of files") func bash() async throws {
        let program = """
            source ../kf.bash
            complete_line() {
                COMP_LINE=$1 COMP_POINT=${#1} COMPREPLY=()
                read -ra COMP_WORDS <<<"$1"
                COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
                _kf kf "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
                echo "${COMPREPLY[*]}"
            }
            """
        #expect(try await completions("bash", program) == Self.lines.map(\.1))
    }

    @Test("Fish does, too", .enabled(if: path(of: "fish") != nil)) func fish() async throws {
        let program = """
            source ../kf.fish
            function complete_line
                complete -C $argv[1] | string split -f1 \\t
            end
            """
        #expect(try await completions("fish", program) == Self.lines.map(\.1))
    }

    /// Zsh completes only at a terminal; which actions it has for names of files is in the script.
    @Test("Zsh is told where files and directories are named") func zsh() async throws {
        let script = try await place.kf("--generate-completion-script", "zsh").output
        for words in [":file|dir:_files'", ":directory:_files -/'", "*:source:_files'", ":list:_files'"] {
            #expect(script.contains(words), "\(words)")
        }
        guard let zsh = Self.path(of: "zsh") else { return }
        try place.write(Data(script.utf8), "_kf")
        let result = try await place.kf([], launcher: [zsh, "-n", place.path("_kf")])
        #expect(result.status == 0 && result.errors == "", "\(result.errors)")
    }
}
