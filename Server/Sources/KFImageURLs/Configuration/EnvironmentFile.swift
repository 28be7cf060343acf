// Files that settings name: of variables, and of presets. The configuration is read with them.

import Foundation

/// The variables in the lines of a file, `NAME=value`.
///
/// A line may begin with `export`, a value may stand in single or double quotes, and what begins with `#` is left out.
/// But in single quotes, `$NAME` and `${NAME}` are the value of a variable with a name in capitals, of a line before it
/// or else of the environment, nothing where there is none, and `\$` is a dollar sign. In double quotes `\n` is the end
/// of a line, and another character behind a backslash is itself.
struct EnvironmentFile {
    var variables: [String: String] = [:]
    /// The numbers of lines that are none of that.
    var badLines: [Int] = []
    /// The numbers of lines whose values name variables that there are not.
    private(set) var linesNamingNone: [Int] = []
    private let environment: [String: String]

    /// - Parameters:
    ///   - text: The text of the file.
    ///   - environment: The variables that its values may name.
    init(_ text: String, in environment: [String: String]) {
        self.environment = environment
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let line = line.trimmingCharacters(in: .whitespaces)
            if line.isEmpty || line.hasPrefix("#") { continue }
            var isComplete = true
            guard let match = line.wholeMatch(of: #/(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*)/#),
                let value = unquoted(match.output.2, &isComplete)
            else {
                badLines.append(index + 1)
                continue
            }
            if !isComplete { linesNamingNone.append(index + 1) }
            variables[String(match.output.1)] = value
        }
    }

    /// A value without its quotes, or without the comment behind it; nil if a quote has no end.
    ///
    /// - Parameters:
    ///   - text: The value as it is written.
    ///   - isComplete: Becomes false where it names a variable that there is not.
    /// - Returns: The value.
    private func unquoted(_ text: Substring, _ isComplete: inout Bool) -> String? {
        switch text.first {
        case "'":
            return text.wholeMatch(of: #/'([^']*)'\s*(?:#.*)?/#).map { String($0.output.1) }
        case "\"":
            guard let match = text.wholeMatch(of: #/"((?:[^"\\]|\\.)*)"\s*(?:#.*)?/#) else { return nil }
            return expanded(String(match.output.1), isQuoted: true, &isComplete)
        default:
            let end = text.firstRange(of: " #")?.lowerBound ?? text.endIndex
            return expanded(text[..<end].trimmingCharacters(in: .whitespaces), isQuoted: false, &isComplete)
        }
    }

    /// A text with what stands for something else replaced.
    private func expanded(_ text: String, isQuoted: Bool, _ isComplete: inout Bool) -> String {
        text.replacing(#/\\(.)|\$(?:\{([A-Z_][A-Z0-9_]*)\}|([A-Z_][A-Z0-9_]*))/#) { match -> String in
            if let name = match.output.2 ?? match.output.3 {
                let value = variables[String(name)] ?? environment[String(name)]
                if value == nil { isComplete = false }
                return value ?? ""
            }
            let character = String(match.output.1 ?? "")
            guard isQuoted else { return character == "$" ? character : String(match.output.0) }
            return ["n": "\n", "r": "\r"][character] ?? character
        }
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
