// The options about many files, and about files that are there already; for `kf process`.

import ArgumentParser
import Foundation

/// The options about many files, and about files that are there already.
struct BatchArguments: ParsableArguments {
    @Flag(
        name: [.customShort("r"), .long],
        help: ArgumentHelp(
            "Process the images in the folders that are named, and in all folders below.",
            discussion: """
                Those are the files whose names have an image's extension; what begins with a point is left out, and \
                so is the output's own folder. In the output directory the folders below those that are named are \
                made again.
                """
        )
    )
    var recursive = false

    @Flag(
        help: """
            Replace each file by its result, whole or not at all; damaged images, and those of formats that are only \
            read, stay as they are. Without --keep their EXIF data is gone.
            """
    )
    var inPlace = false

    @Flag(exclusivity: .exclusive) var existing: ExistingFiles?

    @Flag(help: "Print what would be written where, and write nothing.")
    var dryRun = false

    @Option(
        name: [.customShort("j", allowingJoined: true), .long],
        parsing: .unconditional,
        help: ArgumentHelp("Process this many images at once. (default: one for each core and one)", valueName: "n")
    )
    var concurrency: Int?

    func validate() throws {
        if let concurrency, !(1...1000).contains(concurrency) {
            throw ValidationError("--concurrency must be from 1 to 1000")
        }
        if inPlace, let existing {
            throw ValidationError("--in-place and \(existing.option) exclude each other")
        }
    }

    /// Throws where results cannot be named before the images are processed, but have to be.
    func check(_ destination: OutputDestination) throws(ValidationError) {
        guard let option = existing?.option ?? (dryRun ? "--dry-run" : nil) else { return }
        if destination == .standardOutput { throw ValidationError("\(option) needs a file or a directory after -o") }
        guard existing != nil, let template = destination.template else { return }
        guard !template.has(.width), !template.has(.height) else {
            throw ValidationError(
                "\(option) needs names that are known before images are processed; leave out {width} and {height}"
            )
        }
    }

    /// Whether a result is left as it is.
    ///
    /// - Parameters:
    ///   - path: The path of the result.
    ///   - source: The file it is made of; nil for a source without a date, which is always newer.
    /// - Returns: Whether nothing is to be done.
    func leaves(_ path: String, of source: String?) -> Bool {
        switch existing {
        case nil: return false
        case .skipExisting: return access(path.systemName, F_OK) == 0
        case .update:
            guard let source, let made = Self.time(of: path), let changed = Self.time(of: source) else { return false }
            return (changed.tv_sec, changed.tv_nsec) <= (made.tv_sec, made.tv_nsec)
        }
    }

    private static func time(of path: String) -> timespec? {
        var status = stat()
        return stat(path.systemName, &status) == 0 ? status.st_mtim : nil
    }
}

/// What becomes of files that are there already, where they are not replaced.
enum ExistingFiles: String, EnumerableFlag {
    case skipExisting
    case update

    var option: String {
        switch self {
        case .skipExisting: "--skip-existing"
        case .update: "--update"
        }
    }

    static func help(for value: Self) -> ArgumentHelp? {
        switch value {
        case .skipExisting: "Leave out images whose result is there already, whatever it was made of."
        case .update: "Leave out images whose result is there already and not older than they are."
        }
    }
}
