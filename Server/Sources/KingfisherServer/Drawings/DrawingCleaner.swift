// Takes out of a drawing what a browser could run, and what it could load from elsewhere. For drawings that are sent as
// they are.

package import Foundation

/// A drawing without scripts, and without references to anything but its own parts and images within it.
package enum DrawingCleaner {
    /// Elements that are left out with all that is in them: they run something, or load pages.
    private static let dangerousElements: Set = [
        "script", "handler", "listener", "iframe", "frame", "frameset", "form", "object", "embed", "applet", "link",
        "meta", "base", "audio", "video", "source", "track", "portal",
    ]
    /// Elements that change attributes of others while they are shown.
    private static let animations: Set = ["set", "animate", "animatecolor", "animatemotion", "animatetransform"]
    /// Attributes that name something to load or to go to.
    private static let references: Set = [
        "href", "src", "srcset", "srcdoc", "action", "formaction", "data", "poster", "ping", "background", "base",
        "cite", "longdesc", "manifest", "archive", "codebase", "classid", "profile", "usemap", "dynsrc", "lowsrc",
    ]

    /// A drawing without what is dangerous, in UTF-8.
    ///
    /// - Parameter data: The drawing.
    /// - Returns: The same drawing, with other bytes.
    /// - Throws: ``MarkupError`` for what is not well-formed, or not in UTF-8.
    package static func cleaned(_ data: Data) throws(MarkupError) -> Data {
        guard let text = String(validating: data, as: UTF8.self), !text.utf8.contains(0) else {
            throw MarkupError(reason: "it is not in UTF-8")
        }
        var reader = MarkupReader(text)
        var remains = Remains()
        remains.text.reserveCapacity(data.count)
        while let piece = try reader.next() {
            if Task.isCancelled { throw MarkupError(reason: "nobody waits for it any more") }
            remains.add(piece)
        }
        return Data(remains.text.utf8)
    }

    /// The harmless part of the markup so far.
    private struct Remains {
        var text = ""
        /// The elements that are open and kept.
        private var kept: [String] = []
        /// How many elements are open within one that is left out.
        private var dropped = 0
        /// Text of CSS, which comments may have cut into pieces.
        private var style = ""

        mutating func add(_ piece: MarkupPiece) {
            switch piece {
            case .start(let name, let attributes, let isEmpty): start(name, attributes, isEmpty: isEmpty)
            case .end where dropped > 0: dropped -= 1
            case .end(let name): end(name)
            case .text where dropped > 0: break
            case .text(let more) where kept.last == "style": style += more
            case .text(let more): text += escaped(more, inQuotes: false)
            }
        }

        private mutating func start(_ name: String, _ attributes: [MarkupAttribute], isEmpty: Bool) {
            // Browsers join the text of a style around elements within it.
            guard dropped == 0, kept.last != "style", isHarmless(name, attributes) else {
                if !isEmpty { dropped += 1 }
                return
            }
            text += "<\(name)"
            for attribute in attributes where isHarmless(attribute, of: localName(name)) {
                text += " \(attribute.name)=\"\(escaped(attribute.value, inQuotes: true))\""
            }
            text += isEmpty ? "/>" : ">"
            if !isEmpty { kept.append(localName(name)) }
        }

        private mutating func end(_ name: String) {
            if isHarmless(style: style) { text += escaped(style, inQuotes: false) }
            style = ""
            kept.removeLast()
            text += "</\(name)>"
        }
    }

    private static func localName(_ name: String) -> String {
        String(name[(name.lastIndex(of: ":").map { name.index(after: $0) } ?? name.startIndex)...]).lowercased()
    }

    private static func isHarmless(_ name: String, _ attributes: [MarkupAttribute]) -> Bool {
        let name = localName(name)
        if dangerousElements.contains(name) { return false }
        guard animations.contains(name) else { return true }
        // What an animation sets is looked at by nobody; there may be several names, in letters of either case.
        return attributes.allSatisfy { attribute in
            if attribute.name.hasPrefix("xmlns") { return true }
            let value = plain(attribute.value).lowercased()
            guard localName(attribute.name) == "attributename" else {
                return !value.contains("script:") && !value.contains("//") && !value.contains("data:")
            }
            let target = localName(value)
            return !target.hasPrefix("on") && !references.contains(target) && target != "style"
        }
    }

    private static func isHarmless(_ attribute: MarkupAttribute, of element: String) -> Bool {
        let name = localName(attribute.name)
        if attribute.name == "xmlns" || attribute.name.hasPrefix("xmlns:") { return true }
        if name.hasPrefix("on") { return false }
        guard references.contains(name) else { return isHarmless(style: attribute.value) }
        let value = plain(attribute.value).lowercased()
        if value.isEmpty || value.hasPrefix("#") { return name == "href" }
        if name == "href", element == "a" { return value.hasPrefix("https://") || value.hasPrefix("http://") }
        let isImage = ["image", "feimage"].contains(element) && name == "href"
        return isImage && isEmbedded(value)
    }

    /// Whether a URL is that of an image within the drawing, which is no drawing itself.
    private static func isEmbedded(_ url: String) -> Bool {
        ["png", "jpeg", "jpg", "gif", "webp", "avif"].contains { url.hasPrefix("data:image/\($0)") }
    }

    /// Whether text of CSS, or an attribute that may be such, names nothing outside the drawing.
    ///
    /// An escape could be a part of any name, so that a text with one names nothing that may be loaded.
    private static func isHarmless(style: String) -> Bool {
        let style = style.lowercased()
        let isEscaped = style.contains("\\")
        if style.contains("@import") || style.contains("image-set") || style.contains("expression(")
            || style.contains("javascript:") || style.contains("-moz-binding")
        {
            return false
        }
        guard !isEscaped || !style.contains("(") && !style.contains("@") else { return false }
        return style.ranges(of: "url(").allSatisfy { range in
            let target = style[range.upperBound...].drop { $0.isWhitespace || $0 == "\"" || $0 == "'" }
            return target.hasPrefix("#") || isEmbedded(String(target.prefix(40)))
                || target.hasPrefix("data:font/") || target.hasPrefix("data:application/font")
        }
    }

    /// A text without what browsers leave out of URLs.
    private static func plain(_ text: String) -> String {
        String(text.unicodeScalars.filter { $0.value > 0x20 && $0.value != 0x7F && !$0.properties.isWhitespace })
    }

    private static func escaped(_ text: String, inQuotes: Bool) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"" where inQuotes: result += "&quot;"
            case "\t", "\n", "\r": result += inQuotes || scalar == "\r" ? "&#\(scalar.value);" : String(scalar)
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
