// Texts without the user names and passwords that URLs in them carry. Knows nothing of loading.

import Foundation

/// Keeps secrets out of what is printed.
enum Redaction {
    /// A text in which every URL has lost what stands before the host.
    static func text(_ text: String) -> String {
        withoutCredentials(text) { $0.isWhitespace || "/?#\"'<>".contains($0) }
    }

    /// A source as it was typed, or a cache key, without credentials.
    ///
    /// Spaces do not end a password here: the text is one source, even if it is no proper URL.
    static func source(_ text: String) -> String { withoutCredentials(text) { "/?#".contains($0) } }

    private static func withoutCredentials(_ text: String, endsHost: (Character) -> Bool) -> String {
        var parts = text.components(separatedBy: "://")
        for index in parts.indices.dropFirst() {
            let host = parts[index].prefix { !endsHost($0) }
            guard let at = host.lastIndex(of: "@") else { continue }
            parts[index] = String(parts[index][at...].dropFirst())
        }
        return parts.joined(separator: "://")
    }
}
