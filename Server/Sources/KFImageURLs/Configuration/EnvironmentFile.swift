// Files that settings name: of variables, and of presets. The configuration is read with them.

import Foundation

/// The variables in the lines of a file, `NAME=value`.
///
/// A line may begin with `export`, a value may stand in single or double quotes, and what begins with `#` is left out.
struct EnvironmentFile {
    var variables: [String: String] = [:]
    /// The numbers of lines that are none of that.
    var badLines: [Int] = []

    init(_ text: String) {
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let line = line.trimmingCharacters(in: .whitespaces)
            if line.isEmpty || line.hasPrefix("#") { continue }
            guard let match = line.wholeMatch(of: #/(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*)/#),
                let value = Self.value(match.output.2)
            else {
                badLines.append(index + 1)
                continue
            }
            variables[String(match.output.1)] = value
        }
    }

    /// A value without its quotes, or without the comment behind it; nil if a quote has no end.
    private static func value(_ text: Substring) -> String? {
        guard let quote = text.first, quote == "\"" || quote == "'" else {
            let end = text.firstRange(of: " #")?.lowerBound ?? text.endIndex
            return text[..<end].trimmingCharacters(in: .whitespaces)
        }
        guard let end = text.dropFirst().firstIndex(of: quote) else { return nil }
        let rest = text[text.index(after: end)...].trimmingCharacters(in: .whitespaces)
        guard rest.isEmpty || rest.hasPrefix("#") else { return nil }
        return String(text[text.index(after: text.startIndex)..<end])
    }
}

/// The text of a file that a setting names, or what is wrong with the setting.
func textOfFile(_ path: String, for name: String) -> Result<String, FileComplaint> {
    do { return .success(try String(contentsOf: URL(filePath: path), encoding: .utf8)) } catch {
        return .failure(FileComplaint(problem: .error(name, "\(quoted(path)) cannot be read: \(reason(of: error)).")))
    }
}

struct FileComplaint: Error {
    let problem: ConfigurationProblem
}

/// Why a file is not read, in a few words.
private func reason(of error: any Error) -> String {
    switch (error as? CocoaError)?.code {
    case .fileReadNoSuchFile, .fileNoSuchFile: "there is no such file"
    case .fileReadNoPermission: "this user may not"
    default: "it is no file of text in UTF-8"
    }
}
