// Names of results made of a pattern, as in `-o 'thumbs/{name}-{width}.webp'`; for `kf fetch` and `kf process`.

import ArgumentParser
import Foundation

/// A path with places for properties of the image.
struct OutputTemplate: Equatable, Decodable {
    /// What can stand in braces.
    enum Place: String, CaseIterable {
        case width, height
        case ending = "ext"
        /// The last one, since a source's name may have braces too.
        case name
    }

    /// The help of the commands that take one.
    static let help = """
        Words in braces make a name for each result, as in 'thumbs/{name}-{width}.webp': {name} is that of the source \
        without its extension, {width} and {height} are the result's in pixels, {ext} is the extension of its format. \
        Directories are made. A file or directory that exists under the whole name is taken as it is.
        """

    /// The pattern as it was typed.
    let text: String

    /// Nil for a path without a word in braces; an error for a word that stands for nothing.
    init?(_ text: String) throws(ValidationError) {
        let words = Self.words(in: text)
        guard !words.isEmpty else { return nil }
        if let unknown = words.first(where: { Place(rawValue: $0) == nil }) {
            let known = Place.allCases.map { "{\($0.rawValue)}" }.joined(separator: ", ")
            throw ValidationError("-o \(text): {\(unknown)} stands for nothing; use \(known)")
        }
        self.text = text
    }

    func has(_ place: Place) -> Bool { Self.words(in: text).contains(place.rawValue) }

    /// Whether the pattern itself ends with a format's extension.
    var hasEnding: Bool { !text.hasSuffix("}") && !URL(fileURLWithPath: text).pathExtension.isEmpty }

    /// The path of a result; where the pattern has no extension, the format's is added.
    ///
    /// - Parameters:
    ///   - image: The image.
    ///   - name: The name of its source without the extension.
    /// - Returns: The path.
    func path(of image: EncodedImage, name: String) -> String {
        let path = Place.allCases.reduce(text) { path, place in
            let value =
                switch place {
                case .name: name
                case .width: "\(image.width)"
                case .height: "\(image.height)"
                case .ending: image.ending
                }
            return path.replacingOccurrences(of: "{\(place.rawValue)}", with: value)
        }
        return hasEnding || has(.ending) || image.ending.isEmpty ? path : "\(path).\(image.ending)"
    }

    private static func words(in text: String) -> [String] {
        text.matches(of: #/\{([A-Za-z]+)\}/#).map { String($0.output.1) }
    }
}
