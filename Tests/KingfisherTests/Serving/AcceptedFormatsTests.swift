// Which formats a field `Accept` prefers, and how much.

import Kingfisher
import Testing

@Suite struct AcceptedFormatsTests {
    static let cases: [(String?, [ImageContentType])] = [
        (nil, []), ("", []), (" , ;", []), ("*/*", []), ("image/*", []),
        ("image/avif,image/webp,*/*;q=0.8", [.avif, .webp]), ("image/webp, image/avif", [.avif, .webp]),
        ("image/webp;q=1, image/avif;q=0.5", [.webp, .avif]), ("image/webp;q=0, image/avif", [.avif]),
        ("image/webp; q=0.5, image/jpeg", []), ("IMAGE/WEBP;Q=0.9", [.webp]), ("image/webp;q=0.5,*/*;q=0.8", []),
        ("image/webp;q=0.8,image/*;q=0.5", [.webp]), ("text/html,image/webp;v=1;q=0.9,,;", [.webp]),
        ("image/webpx", []), ("image/jxl", []),
    ]

    @Test("Formats that are named, and liked no less than JPEG, by weight", arguments: cases)
    func preferred(field: String?, formats: [ImageContentType]) {
        #expect(AcceptedFormats(field).preferred(of: [.avif, .webp]) == formats)
    }

    @Test("The range that names a format most closely has its weight") func weights() {
        let accepted = AcceptedFormats("image/webp;q=0.2, image/*;q=0.5, */*;q=0.1")
        #expect(
            accepted.weight(of: .webp) == 0.2 && accepted.weight(of: .png) == 0.5 && accepted.weight(of: .mp4) == 0.5
        )
        #expect(AcceptedFormats("image/webp").weight(of: .png) == 0)
        #expect(AcceptedFormats(nil).weight(of: .svg) == 1)
    }

    @Test("A weight that is none accepts nothing", arguments: ["", "x", "-1", "1.01", "nan", "inf", "1e308", "0.5.1"])
    func noWeights(text: String) {
        #expect(AcceptedFormats("image/webp;q=\(text)").preferred(of: [.webp]) == [])
    }
}
