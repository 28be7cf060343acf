// The command lines of the help, of the page and of the table of examples: their words, which the tool has to accept.

import ArgumentParser
import Testing

@testable import kf

/// Command lines as they are typed.
enum ExampleLine {
    /// The words up to a redirection, without quotes and without the first one, the tool's name.
    static func words(_ line: some StringProtocol) -> [String] {
        String(line).matches(of: #/'([^']*)'|[^ ]+/#)
            .map { match in match.output.1.map(String.init) ?? String(match.output.0) }
            .split { [">", "<", "|", "#"].contains($0) }
            .first.map { Array($0.dropFirst()) } ?? []
    }

    /// Checks that the tool accepts words as its arguments.
    static func check(_ words: [String]) {
        #expect(throws: Never.self, "\(words.joined(separator: " "))") { try KFCommand.parseAsRoot(words) }
    }
}
