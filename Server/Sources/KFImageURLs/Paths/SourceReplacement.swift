// What a configuration puts in place of the beginnings of sources. For the parser.

/// A beginning of sources, where `*` stands for any text without a slash, and what they begin with instead.
package struct SourceReplacement: Hashable, Sendable {
    let pattern: String
    /// `$1` or `${1}` in it is the text of the first star, and `$$` a dollar sign.
    let replacement: String

    /// A source with its new beginning; the source if it does not begin so.
    ///
    /// The first star stands for as much as it can, then the second one. Takes time in proportion to the source.
    func applied(to source: [UInt8]) -> [UInt8] {
        let pieces = pattern.utf8.split(separator: UInt8(ascii: "*"), omittingEmptySubsequences: false).map {
            Array($0)
        }
        guard source.starts(with: pieces[0]) else { return source }
        let furthest = Self.furthestPlaces(of: Array(pieces.dropFirst()), in: source)
        var end = pieces[0].count
        var texts: [ArraySlice<UInt8>] = []
        for (piece, places) in zip(pieces.dropFirst(), furthest) {
            guard let place = places[end] else { return source }
            texts.append(source[end..<place])
            end = place + piece.count
        }
        return expanded([source[..<end]] + texts) + source[end...]
    }

    /// For each piece behind a star, and for each place that the star may begin at: the furthest place for the piece
    /// from which all later pieces can follow.
    private static func furthestPlaces(of pieces: [[UInt8]], in source: [UInt8]) -> [[Int?]] {
        var tables: [[Int?]] = []
        for piece in pieces.reversed() {
            var places = [Int?](repeating: nil, count: source.count + 1)
            for place in stride(from: source.count, through: 0, by: -1) {
                if place < source.count, source[place] != UInt8(ascii: "/") { places[place] = places[place + 1] }
                let end = place + piece.count
                let fits = source[place...].starts(with: piece) && (tables.last.map { $0[end] != nil } ?? true)
                if places[place] == nil, fits { places[place] = place }
            }
            tables.append(places)
        }
        return tables.reversed()
    }

    /// The replacement with the texts of the pattern and its stars.
    private func expanded(_ texts: [ArraySlice<UInt8>]) -> [UInt8] {
        var result: [UInt8] = []
        var rest = Substring(replacement)
        while let match = rest.firstMatch(of: #/\$(?:\{(\w+)\}|(\w+)|\$)/#.asciiOnlyWordCharacters()) {
            result += rest[..<match.range.lowerBound].utf8
            if let name = match.output.1 ?? match.output.2 {
                if let number = Int(name), texts.indices.contains(number) { result += texts[number] }
            } else {
                result.append(UInt8(ascii: "$"))
            }
            rest = rest[match.range.upperBound...]
        }
        return result + rest.utf8
    }
}
