// The `<picture>` of an upload for a page of HTML.

import Foundation

extension Upload {
    /// A `<picture>` with all files: the browser chooses the format and the width. (Not in Kingfisher.)
    ///
    /// There is a `<source>` for each format, in the order of the encodings, and an `<img>` with the last one, which
    /// all browsers should know, such as JPEG. The `<img>` has the size of the largest file, so that nothing moves
    /// when the image comes, the most frequent colour behind it, and the ThumbHash as `data-thumbhash`, in Base64. Of
    /// files with one format and width, as variants of a small image have, the first is named. All texts are escaped.
    ///
    /// - Parameters:
    ///   - alt: What a screen reader says.
    ///   - sizes: How wide the image is shown, as CSS media conditions.
    ///   - url: Gives the URL of a file.
    /// - Returns: The markup; empty without files.
    public func pictureMarkup(alt: String, sizes: String = "100vw", url: (File) -> String) -> String {
        var types: [String] = []
        for file in files where !types.contains(file.image.mimeType) { types.append(file.image.mimeType) }
        let groups = types.map { type in
            var widths: Set<Int> = []
            return files.filter { $0.image.mimeType == type && widths.insert($0.pixelWidth).inserted }
                .sorted { $0.pixelWidth < $1.pixelWidth }
        }
        guard let fallback = groups.last, let largest = fallback.last else { return "" }
        func sources(_ group: [File]) -> String {
            group.map { "\(Self.escapedCandidate(url($0))) \($0.pixelWidth)w" }.joined(separator: ", ")
        }
        var lines = ["<picture>"]
        for (type, group) in zip(types, groups).dropLast() {
            lines.append(
                "  <source" + Self.attributes([("type", type), ("srcset", sources(group)), ("sizes", sizes)]) + ">"
            )
        }
        var image = [
            ("src", url(largest)), ("srcset", sources(fallback)), ("sizes", sizes),
            ("width", "\(largest.pixelWidth)"), ("height", "\(largest.pixelHeight)"), ("alt", alt),
            ("loading", "lazy"), ("decoding", "async"),
        ]
        if let color = facts.colors.first?.color { image.append(("style", "background-color: \(color.hexText)")) }
        if let hash = facts.thumbHash { image.append(("data-thumbhash", hash.base64EncodedString())) }
        return (lines + ["  <img" + Self.attributes(image) + ">", "</picture>"]).joined(separator: "\n")
    }

    private static func attributes(_ pairs: [(String, String)]) -> String {
        pairs.map { " \($0)=\"\(escaped($1))\"" }.joined()
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("\"", with: "&quot;").replacing("<", with: "&lt;")
            .replacing(">", with: "&gt;")
    }

    /// A URL among others: blanks and commas would end it.
    private static func escapedCandidate(_ url: String) -> String {
        url.replacing(" ", with: "%20").replacing(",", with: "%2C")
    }
}

extension KFCrossPlatformColor {
    /// The colour as CSS writes it, without its opacity.
    var hexText: String {
        let digits = [red, green, blue].map { component in
            let byte = Int((min(max(component, 0), 1) * 255).rounded())
            return (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        return "#" + digits.joined()
    }
}
