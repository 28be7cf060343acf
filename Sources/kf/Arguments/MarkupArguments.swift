// The options for the HTML of several files of one image; for `kf variants`.

import ArgumentParser
import Foundation
import Kingfisher

/// The options for the HTML of several files of one image.
struct MarkupArguments: ParsableArguments {
    @Flag(help: "Print the <picture> that shows the files, in place of their lines; with --json it is a member, html.")
    var html = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("What screen readers say of the image. (default: nothing)", valueName: "text")
    )
    var alt: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "How wide the image is shown, such as '(min-width: 800px) 50vw, 100vw'. (default: 100vw)",
            valueName: "css"
        )
    )
    var sizes: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "What stands before the names of the files, such as /photos/. (default: nothing)",
            valueName: "url"
        )
    )
    var urlPrefix: String?

    func validate() throws {
        let given = [("--alt", alt), ("--sizes", sizes), ("--url-prefix", urlPrefix)].first { $0.1 != nil }
        if let given, !html { throw ValidationError("\(given.0) is for --html") }
    }

    /// The `<picture>` of files.
    ///
    /// - Parameters:
    ///   - upload: The files.
    ///   - path: The path of each, below the directory that they were written to.
    /// - Returns: The markup; nil without `--html`.
    func text(of upload: Upload, path: (Upload.File) -> String) -> String? {
        guard html else { return nil }
        var prefix = urlPrefix ?? ""
        if !prefix.isEmpty, !prefix.hasSuffix("/") { prefix += "/" }
        return upload.pictureMarkup(alt: alt ?? "", sizes: sizes ?? "100vw") { prefix + Self.escaped(path($0)) }
    }

    /// A path as a part of a URL: every byte of a name that is neither a letter nor a digit is escaped.
    private static func escaped(_ path: String) -> String {
        path.systemName.dropLast().map { byte in
            let byte = UInt8(bitPattern: byte)
            let character = Character(Unicode.Scalar(byte))
            if byte < 0x80, character.isLetter || character.isNumber || "-._~/".contains(character) {
                return String(character)
            }
            return String(format: "%%%02X", byte)
        }.joined()
    }
}
