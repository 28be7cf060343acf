// Fields of answers that settings ask for: validators, the source, sizes. For the answers.

import Foundation
import HTTPTypes
import KFImageURLs
@_spi(Server) import Kingfisher

extension ImageAnswers {
    /// The validators of a result; none of a damaged one.
    func validators(of served: ServedImage) -> ResponseValidators {
        if served.image.image.isDamaged { return ResponseValidators() }
        return ResponseValidators(entityTag: entityTag(of: served), lastModified: lastModified(of: served))
    }

    /// The `ETag` of a result, with the part that the configuration puts before each; nil without one.
    private func entityTag(of served: ServedImage) -> String? {
        let delivery = configuration.delivery
        guard delivery.sendsETag else { return nil }
        let tag = served.image.entityTag
        return delivery.entityTagPrefix.isEmpty ? tag : "\"\(delivery.entityTagPrefix)/\(tag.dropFirst())"
    }

    /// When the source was changed, but no earlier than the configuration allows; nil without a field.
    private func lastModified(of served: ServedImage) -> String? {
        let delivery = configuration.delivery
        guard delivery.sendsLastModified, let field = served.image.lastModified else { return nil }
        guard let earliest = delivery.earliestModification, let date = dateOfHTTP(field), date < earliest else {
            return field
        }
        return textOfHTTP(earliest)
    }
}

extension HTTPFields {
    /// Names the URL of a source of http, without the user's name and password.
    mutating func nameSource(_ source: [UInt8]) {
        guard let url = lenientURL(source), ["http", "https"].contains(url.scheme?.lowercased() ?? ""),
            var parts = URLComponents(url: url, resolvingAgainstBaseURL: true)
        else { return }
        (parts.user, parts.password) = (nil, nil)
        // Neither would end the URL in the field.
        guard let text = parts.string,
            !text.utf8.contains(where: { "<>\"".utf8.contains($0) || $0 <= 0x20 || $0 >= 0x7F })
        else { return }
        set(HTTPField.Name("Link"), "<\(text)>; rel=\"canonical\"")
    }

    /// Tells the sizes of a result, and of the source that it was made of.
    mutating func describe(_ served: ServedImage) {
        func set(_ name: String, _ number: Int) { self.set(HTTPField.Name(name), "\(number)") }
        set("X-Result-Width", served.image.image.pixelWidth)
        set("X-Result-Height", served.image.image.pixelHeight)
        guard let origin = served.image.origin else { return }
        set("X-Origin-Width", origin.width)
        set("X-Origin-Height", origin.height)
        set("X-Origin-Content-Length", origin.byteCount)
    }

    /// Keeps caches that several clients share from keeping an answer.
    mutating func makePrivate() {
        let field = self[.cacheControl] ?? ""
        self[.cacheControl] = field.replacing(/\bpublic\b/, with: "private")
        if !field.contains("public"), !field.contains("private"), !field.contains("no-store") {
            self[.cacheControl] = field.isEmpty ? "private" : field + ", private"
        }
    }
}
