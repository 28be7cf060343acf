// The known word that is most like a mistyped one; for the errors about commands, options and steps.

/// The search for the word that was meant.
enum Suggestion {
    /// The word that is most like a mistyped one; nil when none is like it.
    static func closest(to typed: String, among words: [String]) -> String? {
        if typed.count >= 3, let longer = words.first(where: { $0.hasPrefix(typed) }) { return longer }
        let rated = words.map { (word: $0, distance: distance(from: typed, to: $0)) }
        guard let best = rated.min(by: { $0.distance < $1.distance }) else { return nil }
        return best.distance <= max(1, typed.count / 3) ? best.word : nil
    }

    /// The number of characters to insert, remove or replace.
    private static func distance(from typed: String, to word: String) -> Int {
        let word = Array(word.lowercased())
        var row = Array(0...word.count)
        for (index, character) in typed.lowercased().enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for (column, other) in word.enumerated() {
                let replaced = diagonal + (character == other ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(replaced, diagonal + 1, row[column] + 1)
            }
        }
        return row[word.count]
    }
}
