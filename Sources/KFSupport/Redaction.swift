// Texts without the passwords and signatures that URLs in them carry. For errors, logs and `kf`.

package import Foundation

/// Keeps secrets out of what is printed.
///
/// User name and password before the host are removed, and the value of a parameter whose name says that it is a secret
/// becomes `REDACTED`. A secret in a path, or under a name that says nothing, is not recognised.
package enum Redaction {
    /// A text in which every URL has lost its secrets.
    ///
    /// A URL ends at white space, at `"`, `<` and `>`, which cannot be part of one.
    package static func text(_ text: String) -> String {
        let isEnd: (Character) -> Bool = { $0.isWhitespace || "\"<>".contains($0) }
        return text.split(omittingEmptySubsequences: false, whereSeparator: isEnd)
            .reduce(into: "") { result, part in
                result += source(part, keepsPunctuation: true)
                if part.endIndex < text.endIndex { result.append(text[part.endIndex]) }
            }
    }

    /// A source as it was typed, or a cache key, without secrets.
    ///
    /// White space ends no secret here: the text is one source, even if it is no proper URL.
    package static func source(_ text: String) -> String { source(text[...], keepsPunctuation: false) }

    /// A URL without secrets; nil when nothing usable is left of it.
    package static func url(_ url: URL) -> URL? {
        let (text, shown) = (url.absoluteString, source(url.absoluteString))
        return shown == text ? url : URL(string: shown)
    }

    private static func source(_ text: Substring, keepsPunctuation: Bool) -> String {
        withoutSecretValues(withoutUserInfo(text)[...], keepsPunctuation: keepsPunctuation)
    }

    // MARK: User names and passwords

    private static func withoutUserInfo(_ text: Substring) -> String {
        var (result, rest) = ("", text)
        let last = text.lastIndex(of: "@") ?? text.startIndex
        while rest.startIndex < last, let slashes = rest.firstRange(of: "//") {
            result += rest[..<slashes.lowerBound]
            // Two slashes in a path begin no host.
            let beginsHost = result.last.map { ":(='".contains($0) } ?? true
            result += "//"
            rest = rest[slashes.upperBound...]
            if beginsHost, let at = userInfoEnd(rest) { rest = rest[at...].dropFirst() }
        }
        return result + rest
    }

    /// The last `@` before the path; or, where what stands before the path ends in no port, the last of all, because
    /// the slash belongs to a password that was not escaped.
    private static func userInfoEnd(_ text: Substring) -> Substring.Index? {
        let host = text.prefix { !"/?#".contains($0) }
        if let at = host.lastIndex(of: "@") { return at }
        guard let colon = host.lastIndex(of: ":"), host.last != "]" else { return nil }
        return host[colon...].dropFirst().allSatisfy(\.isNumber) ? nil : text.lastIndex(of: "@")
    }

    // MARK: Parameters

    private static func withoutSecretValues(
        _ text: Substring,
        keepsPunctuation: Bool,
        seesEncoded: Bool = true
    ) -> String {
        var (result, rest) = ("", text)
        while let equals = rest.firstIndex(of: "=") {
            let before = rest[..<equals]
            result += rest[...equals]
            rest = rest[equals...].dropFirst()
            guard let separator = before.lastIndex(where: { "?&#;".contains($0) }) else { continue }
            if isSecret(before[separator...].dropFirst()) {
                let value = rest.prefix { $0 != "&" && $0 != "#" }
                let end = value.reversed().prefix { keepsPunctuation && ".,:;)]}'".contains($0) }.count
                if value.count > end { result += "REDACTED" }
                rest = rest[value.dropLast(end).endIndex...]
            } else {
                let value = rest.prefix { !"?&#;".contains($0) }
                guard seesEncoded, hasEncodedSecret(value) else { continue }
                result += "REDACTED"
                rest = rest[value.endIndex...]
            }
        }
        return result + rest
    }

    /// Whether a parameter's value is itself a URL with secrets, percent-encoded up to three times.
    private static func hasEncodedSecret(_ value: Substring) -> Bool {
        var text = String(value)
        for _ in 0..<3 {
            guard text.contains("%"), let decoded = text.removingPercentEncoding else { return false }
            text = withoutUserInfo(decoded[...])
            guard text == decoded,
                withoutSecretValues(text[...], keepsPunctuation: false, seesEncoded: false) == decoded
            else { return true }
        }
        return false
    }

    /// Whether a parameter's value is a secret, however the name is written: `api_key`, `Api-Key`, `%61piKey`.
    private static func isSecret(_ name: Substring) -> Bool {
        guard name.utf8.count <= 100 else { return false }
        let plain = (name.removingPercentEncoding ?? String(name)).lowercased().filter { $0.isLetter || $0.isNumber }
        return names.contains(plain) || endings.contains { plain.hasSuffix($0) }
    }

    private static let names: Set = [
        "auth", "hdnea", "hdntl", "hdnts", "hmac", "jwt", "key", "keypairid", "pass", "passwd", "policy", "pwd",
        "session", "sessionid", "sig",
    ]
    private static let endings = [
        "accesskey", "accesskeyid", "apikey", "authkey", "authorization", "credential", "credentials", "password",
        "secret", "signature", "token",
    ]
}
