// Redaction of secrets in URLs and in texts that contain URLs, and the parts that it keeps.

import Foundation
import KFSupport
import Testing

@Suite struct RedactionTests {
    @Test(
        "User and password are removed from the URLs in a text",
        arguments: [
            ("http://a.example/b.png", "http://a.example/b.png"),
            ("http://me:secret@a.example/b.png?c=d@e", "http://a.example/b.png?c=d@e"),
            ("https://me@a.example", "https://a.example"),
            ("https://a.example/@me", "https://a.example/@me"),
            ("https://a.example:81/@me", "https://a.example:81/@me"),
            ("https://[::1]/@me", "https://[::1]/@me"),
            ("https://a.example//@me", "https://a.example//@me"),
            ("http://me:se@cret@a.example/", "http://a.example/"),
            ("http://me:s%40%2Fcret@a.example/", "http://a.example/"),
            (
                "\"ftp://me:secret@a.example/\" and http://you:word@b.example",
                "\"ftp://a.example/\" and http://b.example"
            ),
            ("a redirect to //me:secret@a.example/b", "a redirect to //a.example/b"),
            ("http://a.example/?to=http://me:secret@b.example/", "http://a.example/?to=http://b.example/"),
            ("me@a.example", "me@a.example"), ("", ""), ("a = b & c = d; token = e", "a = b & c = d; token = e"),
        ]
    )
    func userInfo(text: String, shown: String) {
        #expect(Redaction.text(text) == shown)
        #expect(Redaction.text(shown) == shown)
    }

    @Test(
        "A password that was not escaped is removed too",
        arguments: [
            "http://me:se/cret@a.example/", "http://me:se//cret@a.example/", "http://me:se?cret@a.example/",
            "http://me:se#cret@a.example/", "http://me:se'cret@a.example/", "http://me:s:ecret@a.example/",
        ]
    )
    func brokenURLs(text: String) {
        #expect(Redaction.text("see \(text)!") == "see http://a.example/!")
        #expect(Redaction.source(text) == "http://a.example/")
    }

    @Test("White space ends no password in a source") func spacesInPassword() {
        #expect(Redaction.source("http://me:sec ret@a.example/b c@d") == "http://a.example/b c@d")
        #expect(Redaction.source("http://a.example/?token=sec ret&a=b") == "http://a.example/?token=REDACTED&a=b")
    }

    @Test(
        "The value of a secret parameter is replaced",
        arguments: [
            "X-Amz-Signature", "X-Amz-Credential", "X-Amz-Security-Token", "x-amz-signature", "X-Goog-Signature",
            "X-Goog-Credential", "AWSAccessKeyId", "sig", "Signature", "token", "access_token", "id_token",
            "refresh_token", "key", "api_key", "api-key", "apikey", "apiKey", "password", "pwd", "client_secret",
            "secret", "auth", "AUTH", "hmac", "Policy", "Key-Pair-Id", "hdnea", "%74oken", "api%5Fkey",
        ]
    )
    func secretParameters(name: String) {
        for (before, after) in [("?", ""), ("?a=b&", "&c=d"), ("?a=b;", "#part"), ("#", "&c=d"), ("?", "&c=d#e=f")] {
            let text = "https://a.example/b.png\(before)\(name)=aB3%2F+/=\(after)"
            let shown = "https://a.example/b.png\(before)\(name)=REDACTED\(after)"
            #expect(Redaction.text(text) == shown)
            #expect(Redaction.source(text) == shown)
            #expect(Redaction.source(shown) == shown)
            #expect(URL(string: text).flatMap { Redaction.url($0) }?.absoluteString == shown)
        }
    }

    @Test(
        "Other parameters stay",
        arguments: [
            "https://a.example/?width=3&X-Amz-Expires=60&X-Amz-SignedHeaders=host&Expires=1&v=a=b",
            "https://a.example/token=abc", "https://a.example/?token", "https://a.example/?token=&a=b",
            "https://a.example/?keys=1&tokens=2&author=me", "x=1",
            "https://a.example/?to=https%3A%2F%2Fb.example%2F%3Fa%3Db", "https://a.example/?a=50%&b=%zz",
            "data:image/png;base64,AAAA//AA==",
        ]
    )
    func otherParameters(text: String) {
        #expect(Redaction.text(text) == text)
        #expect(Redaction.source(text) == text)
    }

    @Test("Several URLs in one text each lose their secrets, and the words between them stay") func severalURLs() {
        let text = """
            "https://a.example/?sig=abc" (https://b.example/?a=1&token=a.b.c); give it up: <https://c:d@e.example>,\t\
            'https://f.example/?key=g'. All 3 sources failed: /h?sig=i: 404, ?auth=j
            """
        let shown = """
            "https://a.example/?sig=REDACTED" (https://b.example/?a=1&token=REDACTED); give it up: <https://e.example>,\t\
            'https://f.example/?key=REDACTED'. All 3 sources failed: /h?sig=REDACTED: 404, ?auth=REDACTED
            """
        #expect(Redaction.text(text) == shown)
        #expect(Redaction.text(shown) == shown)
    }

    @Test(
        "A parameter that holds a URL with a secret is replaced as a whole",
        arguments: [
            "https%3A%2F%2Fb.example%2F%3Fsig%3Dabc", "https%3A%2F%2Fme%3Asecret%40b.example",
            "https%253A%252F%252Fb.example%252F%253Fsig%253Dabc",
            "https%3A%2F%2Fb.example%2F%3Fto%3Dhttps%253A%252F%252Fc.example%252F%253Fsig%253Dabc",
        ]
    )
    func encodedURLs(value: String) {
        let shown = "https://a.example/?to=REDACTED&w=3"
        #expect(Redaction.text("https://a.example/?to=\(value)&w=3") == shown)
    }

    @Test("A long text that consists of separators takes no longer than others") func hostileTexts() {
        for pattern in ["?a=", "?a=%25", "%25", "//", "://@", "=&", "token=", "?token=%3Ftoken="] {
            #expect(Redaction.text(String(repeating: pattern, count: 10_000)).utf8.count < 300_000)
        }
    }

    @Test("A URL without secrets stays the same, with its base") func plainURL() throws {
        let base = try #require(URL(string: "https://a.example/b/"))
        let url = try #require(URL(string: "c.png?d=e", relativeTo: base))
        #expect(Redaction.url(url) == url)
        #expect(Redaction.url(url)?.baseURL == base)
        let file = URL(fileURLWithPath: "/a b/c@d.png")
        #expect(Redaction.url(file) == file)
    }

    @Test("A URL loses its secrets and stays usable") func cleanedURL() throws {
        let url = try #require(URL(string: "https://me:pw@a.example:81/b%20c.png?w=3&sig=x%3D#part"))
        #expect(Redaction.url(url)?.absoluteString == "https://a.example:81/b%20c.png?w=3&sig=REDACTED#part")
    }
}
