// The files of Tests/Catalogue, which the tests of several targets read.

package import Foundation

/// The images that tests decode: a folder a format, and one of inputs that fuzzing found.
package enum Catalogue {
    /// `Tests/Catalogue`.
    package static let folder = (0..<3).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
        .appending(path: "Tests/Catalogue")

    /// The folders of the formats.
    package static let formats = names(in: folder).filter { !$0.contains(".") && $0 != "fuzzing" }

    /// The folder of each file; names that occur twice are those of right pixels.
    private static let places = Dictionary(
        formats.flatMap { format in names(in: folder.appending(path: format)).map { ($0, format) } },
        uniquingKeysWith: { first, _ in first }
    )

    /// The place of a file, which may not be there.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - format: The folder that is looked into first.
    /// - Returns: The place.
    package static func url(_ name: String, format: String? = nil) -> URL {
        let beside = format.map { folder.appending(path: "\($0)/\(name)") }
        if let beside, FileManager.default.fileExists(atPath: beside.path) { return beside }
        return folder.appending(path: places[name].map { "\($0)/\(name)" } ?? name)
    }

    /// The names in a folder, in order.
    package static func names(in folder: URL) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()
    }
}
