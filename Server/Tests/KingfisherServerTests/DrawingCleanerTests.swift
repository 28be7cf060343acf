// What is taken out of drawings, and what is not.

import Foundation
import KingfisherServer
import Testing

@Suite struct DrawingCleanerTests {
    private static func drawing(_ content: String) -> String {
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 10 10\">\(content)</svg>"
    }

    private func cleaned(_ text: String) throws -> String {
        String(decoding: try DrawingCleaner.cleaned(Data(text.utf8)), as: UTF8.self)
    }

    /// What stands in a drawing, and what is left of it.
    private static let parts: [(before: String, after: String)] = [
        ("<script>alert(1)</script><rect/>", "<rect/>"),
        ("<script><![CDATA[</svg>]]></script><a/>", "<a/>"),
        ("<x:SCRIPT xmlns:x='http://www.w3.org/2000/svg'><g><g/></g></x:SCRIPT>", ""),
        ("<script xlink:href='http://e.com/a.js'/><g/>", "<g/>"),
        ("<rect onclick='alert(1)' ONLOAD='x' x='1'/>", "<rect x=\"1\"/>"),
        ("<a href='javascript:alert(1)'>a</a>", "<a>a</a>"),
        ("<a xlink:href=' jav&#x61;\tscript:alert(1)'/>", "<a/>"),
        ("<a href='data:text/html,x'/><a href='https://e.com/'/>", "<a/><a href=\"https://e.com/\"/>"),
        ("<use href='http://e.com/a.svg#b'/><use href='#b'/>", "<use/><use href=\"#b\"/>"),
        ("<image href='http://e.com/a.png'/><image xlink:href='/a.png'/>", "<image/><image/>"),
        ("<image href='data:image/png;base64,AA'/>", "<image href=\"data:image/png;base64,AA\"/>"),
        ("<image href='data:image/svg+xml,&lt;svg/>'/>", "<image/>"),
        (
            "<set attributeName='href' to='javascript:alert(1)'/><set attributeName='x' to='1'/>",
            "<set attributeName=\"x\" to=\"1\"/>"
        ),
        ("<animate attributeName='xlink:href' values='javascript:alert(1)'/>", ""),
        ("<set attributename='x' attributeName='href' to='#a'/>", ""),
        ("<set attributeName='x' to='java&#10;script:alert(1)'/><set attributeName='x' to='//e.com'/>", ""),
        ("<style>@im<script/>port 'http://e.com/a.css';</style>", "<style></style>"),
        ("<style>a{fill:ur<g/>l(http://e.com)}</style>", "<style></style>"),
        (
            "<foreignObject><iframe src='http://e.com'>a</iframe><p>b</p></foreignObject>",
            "<foreignObject><p>b</p></foreignObject>"
        ),
        ("<style>@import 'http://e.com/a.css';</style>", "<style></style>"),
        ("<style>a{fill:ur<!-- -->l(http://e.com)}</style>", "<style></style>"),
        ("<style>a{fill:\\75rl(http://e.com)}</style>", "<style></style>"),
        ("<style>a &gt; b{fill:url(#c)}</style>", "<style>a &gt; b{fill:url(#c)}</style>"),
        (
            "<rect fill='url(#a)' style='filter:url( &quot;#b&quot; )'/>",
            "<rect fill=\"url(#a)\" style=\"filter:url( &quot;#b&quot; )\"/>"
        ),
        ("<rect fill='url(http://e.com/#a)' style='background:URL(//e.com)'/>", "<rect/>"),
        ("<g xml:base='http://e.com/'/>", "<g/>"),
        ("<text>1 &lt; 2 &amp;amp; \u{E9}&#x1F600;</text>", "<text>1 &lt; 2 &amp;amp; \u{E9}\u{1F600}</text>"),
        ("<path d='M0 0\nL1 1'/>", "<path d=\"M0 0&#10;L1 1\"/>"),
        ("<?xml-stylesheet href='http://e.com/a.css'?><!-- a --><g/>", "<g/>"),
    ]

    @Test("What runs, and what is elsewhere, is taken out; the rest stays", arguments: parts.indices)
    func part(index: Int) throws {
        let (before, after) = Self.parts[index]
        #expect(try cleaned(Self.drawing(before)) == Self.drawing(after))
        // Nothing that is left needs cleaning.
        #expect(try cleaned(Self.drawing(after)) == Self.drawing(after))
    }

    @Test("Entities of the document type are put in place, and it is left out") func entities() throws {
        let type =
            "<!DOCTYPE svg PUBLIC '-//W3C//DTD' 'http://e.com/svg.dtd' [<!ENTITY ns 'http://a/'> <!ENTITY j 'javascript:'>]>"
        let text = "<?xml version='1.0' encoding='utf-8'?>\(type)\n<svg xmlns:x='&ns;'><a href='&j;alert(1)'/></svg>\n"
        #expect(try cleaned(text) == "<svg xmlns:x=\"http://a/\"><a/></svg>")
        #expect(try cleaned("\u{FEFF}<svg/>") == "<svg/>")
    }

    private static let unread = [
        "", "<svg>", "<svg></g></svg>", "<svg/><svg/>", "<svg a=1/>", "<svg a='1' a='2'/>", "<svg a='<'/>",
        "text<svg/>",
        "<svg>&unknown;</svg>", "<svg>&#0;</svg>", "<svg>&amp</svg>", "<svg a='1'b='2'/>", "< svg/>",
        "<svg><!-- </svg>",
        "<?xml version='1.0' encoding='utf-16'?><svg/>", "<svg>\u{0}</svg>", "<svg><!DOCTYPE a></svg>",
        "<svg \((0...1000).map { "a\($0)=''" }.joined(separator: " "))/>",
        "<!DOCTYPE svg [<!ENTITY a '\(String(repeating: "a", count: 1000))'>]><svg>"
            + String(repeating: "&a;", count: 5000) + "</svg>",
    ]

    @Test("What is not well-formed, or grows too much, is refused", arguments: unread) func refused(text: String) {
        #expect(throws: MarkupError.self) { try cleaned(text) }
    }

    @Test("Bytes that are no UTF-8 are refused, and any bytes end in some way") func anyBytes() throws {
        #expect(throws: MarkupError.self) { try DrawingCleaner.cleaned(Data([0x3C, 0xFF, 0x3E])) }
        let drawing = Array(Self.drawing("<g a='&lt;'><![CDATA[x]]><!-- y --></g>").utf8)
        for index in drawing.indices {
            _ = try? DrawingCleaner.cleaned(Data(drawing.prefix(index)))
            for byte in Array("<>&\"'/!?[]a \n".utf8) {
                var changed = drawing
                changed[index] = byte
                guard let result = try? DrawingCleaner.cleaned(Data(changed)) else { continue }
                #expect(try DrawingCleaner.cleaned(result) == result)
            }
        }
    }
}
