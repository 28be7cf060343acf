// Names of results made of a pattern, as in `-o 'thumbs/{name}-{width}.webp'`; for `kf fetch` and `kf process`.

import ArgumentParser
import Foundation

/// A path with places for properties of the image.
struct OutputTemplate: Equatable, Decodable {
    /// What can stand in braces.
    enum Place: String, CaseIterable {
        case name
        case directory = "dir"
        case width, height
        case ending = "ext"
    }

    /// The help of the commands that take one.
    static let help = """
        Words in braces make a name for each result, as in 'thumbs/{name}-{width}.webp': {name} is that of the source \
        without its extension, {dir} its directory as it was typed, or with --recursive below the folder that was \
        named, {width} and {height} are the result's in pixels, {ext} is the extension of its format. Directories are \
        made. A file or directory that exists under the whole name is taken as it is.
        """

    /// The pattern as it was typed.
    let text: String

    /// A name for each result in a directory, where the directories of the sources are made again.
    init(below directory: String) { text = "\(directory.hasSuffix("/") ? directory : directory + "/"){dir}/{name}" }

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

    /// The directory that the pattern begins with, whatever stands in for its words; empty where there is none.
    var root: String { String(text.prefix { $0 != "{" }.reversed().drop { $0 != "/" }.reversed()) }

    /// The most bytes that `{name}` may stand for, so that file systems take each name in the path.
    ///
    /// Other words are about as long as what they stand for, but for `{dir}` within a name: that may still be too long.
    var longestStem: Int {
        let word = "{\(Place.name.rawValue)}"
        let room = text.split(separator: "/").compactMap { name -> Int? in
            let count = name.ranges(of: word).count
            let others = name.utf8.count - count * word.utf8.count
            return count > 0 ? (ResultName.longestStem - others) / count : nil
        }
        return max(room.min() ?? ResultName.longestStem, 1)
    }

    /// The path of a result; where the pattern has no extension, the format's is added.
    ///
    /// Words for what is not known yet stay as they are.
    func path(of name: ResultName) -> String {
        let pattern = name.directory.isEmpty ? text.replacing("{\(Place.directory.rawValue)}/", with: "") : text
        let path = pattern.replacing(Self.word) { match in
            let value: String? =
                switch Place(rawValue: String(match.output.1)) {
                case .name: name.stem
                case .directory: name.directory
                case .width: name.width.map(String.init)
                case .height: name.height.map(String.init)
                case .ending: name.ending
                case nil: nil
                }
            return value ?? String(match.output.0)
        }
        guard let ending = name.ending, !ending.isEmpty, !hasEnding, !has(.ending) else { return path }
        return "\(path).\(ending)"
    }

    private static var word: Regex<(Substring, Substring)> { #/\{([A-Za-z]+)\}/# }

    private static func words(in text: String) -> [String] { text.matches(of: word).map { String($0.output.1) } }
}
