// URLs from text that others wrote.

import Foundation
import KFSupport
import Testing

@Suite struct URLEscapingTests {
    @Test(
        "Escapes stay, and what has no place in a URL is escaped",
        arguments: [
            ("http://h/a%20b", "http://h/a%20b"), ("http://h/a%20b c", "http://h/a%20b%20c"),
            ("http://h/a?q=%26 &r=ä", "http://h/a?q=%26%20&r=%C3%A4"), ("http://h/%c3%a4/ä", "http://h/%c3%a4/%C3%A4"),
            ("http://h/a#b%20 c#d", "http://h/a#b%20%20c%23d"), ("http://h/a[1]{2}|^`\"<>\\", nil),
            ("http://h/a?b=[1]", "http://h/a?b=%5B1%5D"), ("http://h/a\tb\nc\u{0}", "http://h/a%09b%0Ac%00"),
            ("http://h/100%", "http://h/100%25"), ("http://h/%2", "http://h/%252"), ("http://h/%zz %41", nil),
            ("http://h/!$&'()*+,;=:@-._~/?!$&'()*+,;=:@-._~/?", "http://h/!$&'()*+,;=:@-._~/?!$&'()*+,;=:@-._~/?"),
        ] as [(String, String?)]
    )
    func escapes(text: String, expected: String?) throws {
        let url = try #require(URL(escaping: text.utf8))
        if let expected { #expect(url.absoluteString == expected) }
        #expect(url.host == "h")
        // What is escaped already is left alone.
        #expect(URL(escaping: url.absoluteString.utf8) == url)
    }

    @Test(
        "Text without escapes becomes the URL that Foundation makes of it",
        arguments: [
            "http://h/ä b[1]{2}|^`\"<>\\?ö=[ü]#ä b", "http://[::1]:80/a b", "http://[fe80::1%25eth0]/", "http:/x/y",
            "http://bücher.de:80/é", "http://日本.jp/日本?日本#日本", "http://us er:pä@h/x", "//h/a b", "a b/c:d", "../b?c",
            "?a b", "#x y", "HTTP://H", "http://h", "http://h?q@r//s", "http://h#f@g", "/a//b@c", "data:,a b",
            "http://a b/", "img 1:2.png", "http://h:port/",
        ]
    )
    func agreesWithFoundation(text: String) throws {
        #expect(URL(escaping: text.utf8)?.absoluteString == URL(string: text)?.absoluteString)
    }

    @Test("International hosts and passwords stand beside escapes") func hosts() {
        let text = "http://us%40er:pä@s@bücher.de:81/a%20b c"
        #expect(
            URL(escaping: text.utf8)?.absoluteString == "http://us%40er:p%C3%A4%40s@xn--bcher-kva.de:81/a%20b%20c"
        )
    }

    @Test("Bytes that are not UTF-8 are escaped as they are") func otherEncodings() throws {
        let latin = Array("http://h/caf".utf8) + [0xE9] + Array("%20 x?".utf8) + [0xFF]
        #expect(URL(escaping: latin)?.absoluteString == "http://h/caf%E9%20%20x?%FF")
    }

    @Test(
        "A reference is relative to its base",
        arguments: [
            ("x y", "http://h/d/x%20y"), ("/a%20b c", "http://h/a%20b%20c"), ("?q=%20 ", "http://h/d/e?q=%20%20"),
            ("//o/%41 ", "http://o/%41%20"), ("../%zz", "http://h/%25zz"), ("a//b@c d", "http://h/d/a//b@c%20d"),
            ("a//b c%20d", "http://h/d/a//b%20c%20d"), ("a//b/x", "http://h/d/a//b/x"),
        ]
    )
    func references(text: String, expected: String) throws {
        let base = try #require(URL(string: "http://h/d/e"))
        #expect(URL(escaping: text.utf8, relativeTo: base)?.absoluteURL.absoluteString == expected)
    }

    @Test("Any bytes are a URL or none", arguments: 0..<256) func anyBytes(byte: Int) {
        for text in ["", "http://h/", "http://", "//", "a:", "%", "%4", "http://h/#", "http://h/?%", "http://u@"] {
            let bytes = Array(text.utf8) + [UInt8(byte)]
            guard let url = URL(escaping: bytes) else { continue }
            #expect(URL(string: url.absoluteString, encodingInvalidCharacters: false) != nil)
        }
    }
}
