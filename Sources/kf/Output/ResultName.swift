// What the name of a result is made of; for `kf fetch` and `kf process`.

import Foundation
import KFImaging

/// The parts of the path that a result is written to, as far as they are known.
struct ResultName: Sendable {
    /// The name of its source without the extension, and with a number where it needs one.
    var stem: String { number > 1 ? "\(plainStem)-\(number)" : plainStem }
    let plainStem: String
    private var number = 1
    /// The directory of its source: as it was typed, or below the folder that was named; empty where there is none.
    let directory: String
    /// The path of its source, for results that replace it; nil where that is no file.
    let source: String?
    /// The usual extension of the result's format; empty when there is none, nil until the format is known.
    var ending: String?
    /// The result's width as shown, in pixels; nil until it is known.
    var width: Int?
    /// The result's height as shown, in pixels; nil until it is known.
    var height: Int?

    /// The most bytes of a stem that is the whole name but for an extension and a number.
    ///
    /// File systems allow 255 bytes for a name; the rest is for the extension and a number.
    static let longestStem = 245

    /// Whether another source has the same name.
    var isNumbered: Bool { number > 1 }

    init(stem: String, directory: String = "", source: String? = nil) {
        (plainStem, self.directory, self.source) = (stem, directory, source)
    }

    /// The same parts with the parts of the result itself.
    func completed(by image: EncodedImage) -> ResultName {
        var name = self
        (name.ending, name.width, name.height) = (image.ending, image.width, image.height)
        return name
    }

    /// The same names, made different where they are equal: `a`, `a-2`, `a-3`.
    ///
    /// - Parameters:
    ///   - names: The names.
    ///   - isSorted: Whether results go to the directories of their sources, where each name may be used again.
    /// - Returns: The names, in the same order.
    static func distinct(_ names: [ResultName], byDirectory isSorted: Bool) -> [ResultName] {
        // Compared by bytes, as the file system does: Swift takes an accented letter for equal however it is encoded.
        var taken: Set<[[CChar]]> = []
        return names.map { name in
            var candidate = name
            let directory = isSorted ? name.directory.systemName : []
            while !taken.insert([directory, candidate.stem.systemName]).inserted { candidate.number += 1 }
            return candidate
        }
    }
}
