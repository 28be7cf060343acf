// The options for the cache, for processing and for the format written, and the library's objects made from them.

import ArgumentParser
import Foundation
import Kingfisher

/// The options of the cache.
struct CacheArguments: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Keep the cache in this directory instead of the user's own.", valueName: "directory")
    )
    var cacheDir: String?

    /// The name of the tool's cache.
    ///
    /// It is part of its folder's name, so nothing else in the directory is touched.
    static let name = "kf"

    /// The cache.
    ///
    /// If its directory cannot be used, storing fails and loading goes on.
    var cache: ImageCache { ImageCache(name: Self.name, directory: directory) }

    /// The cache for commands that only read it: its directory is not made.
    func existingCache() -> ImageCache {
        let config = DiskStorage.Config(name: Self.name, sizeLimit: 0, directory: directory)
        return ImageCache(
            memoryStorage: MemoryStorage.Backend(config: MemoryStorage.Config(totalCostLimit: 1 << 20)),
            diskStorage: DiskStorage.Backend(noThrowConfig: config, creatingDirectory: false)
        )
    }

    /// The problem of a directory that was named and holds no cache.
    ///
    /// Nil where there is one, where that cannot be found out, and for the user's own directory, which the first fetch
    /// makes.
    var problem: String? {
        guard let cacheDir else { return nil }
        let isThere = access(existingCache().diskStorage.directoryURL.path, F_OK) == 0 || errno != ENOENT
        return isThere ? nil : "there is no cache in \(cacheDir); kf fetch --cache-dir \(cacheDir) makes one"
    }

    func validate() throws {
        if cacheDir?.isEmpty == true { throw ValidationError("--cache-dir needs the name of a directory") }
        if cacheDir?.isOutsideUTF8 == true {
            throw ValidationError("--cache-dir needs a name in UTF-8; name another directory")
        }
    }

    private var directory: URL? { cacheDir.map { URL(fileURLWithPath: $0, isDirectory: true) } }
}

/// The options for the format and the quality of results.
struct ProcessingArguments: ParsableArguments {
    @Option(parsing: .unconditional, help: ArgumentHelp("Write this format.", valueName: "format"))
    var format: OutputFormat?

    @Option(
        name: [.customShort("q", allowingJoined: true), .long],
        parsing: .unconditional,
        help: ArgumentHelp(
            "The quality of JPEG, GIF, WebP and AVIF; WebP and AVIF lose nothing at 100. With a point, 0.0 to 1.0.",
            valueName: "0…100"
        ),
        transform: Quality.init
    )
    var quality: Quality?

    @Flag(
        help: ArgumentHelp(
            "Write WebP and AVIF so that no pixel changes, whatever the size; PNG never changes one.",
            discussion: "Pixels have 8 bits, multiplied by alpha: what exceeds that is rounded when an image is read."
        )
    )
    var lossless = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "The resolution of colours in JPEG and AVIF: 444 is the full one, for text and drawings, 420 half of it. "
                + "(default: 444 from quality 90 up)",
            valueName: "444|420"
        )
    )
    var subsampling: Subsampling?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Keep the EXIF data of JPEG, PNG, WebP and AVIF, with the orientation 1 and without thumbnail, maker's "
                + "notes and sizes; exif+gps keeps the location, too. Images are encoded anew for it. Nothing is kept "
                + "otherwise, but original bytes are copied whole.",
            valueName: "exif|exif+gps"
        )
    )
    var keep: KeptMetadata?

    @Flag(help: "Take only the first frame of an animation.")
    var still = false

    @Flag(help: "Take damaged images for failures, and do not write what is left of them.")
    var strict = false

    @Flag(help: "Let -o - write an image's bytes to a terminal.")
    var force = false

    func validate() throws {
        if lossless, let quality, quality.fraction < 1 {
            throw ValidationError("--lossless and --quality exclude each other")
        }
        if lossless, subsampling == .half {
            throw ValidationError("--lossless and --subsampling 420 exclude each other")
        }
        if lossless, format == .jpeg {
            throw ValidationError("--lossless does not work with JPEG; use --format png, webp or avif")
        }
    }

    /// Throws for a damaged image where that is a failure.
    func check(_ image: Image) throws(Failure) {
        if strict, image.isDamaged { throw .damaged }
    }

    /// How results are written.
    ///
    /// - Parameters:
    ///   - destination: The destination of the results.
    ///   - isProcessed: Whether images go through a pipeline.
    /// - Returns: The encoding of each of them.
    func encoding(for destination: OutputDestination, isProcessed: Bool) -> Encoding {
        Encoding(
            format: format,
            quality: quality?.fraction,
            isLossless: lossless,
            subsampling: subsampling,
            keeps: keep,
            isStill: still,
            fileName: destination.fileName,
            isChanged: isProcessed || still || keep != nil
        )
    }
}

/// A pipeline as an argument, parsed together with the command line.
struct PipelineArgument: Equatable, Sendable {
    let steps: [PipelineStep]

    /// The help of the commands that take a pipeline.
    static let help = ArgumentHelp(
        "Steps joined by |>, for instance 'thumbnail(200x200,fill)|>round(20)'.",
        discussion: """
            \(PipelineParser.steps.map { "\($0.usage): \($0.meaning)." }.joined(separator: "\n"))
            Sizes are in pixels; P% is a part of the width; COLOR is #rgb, #rrggbb, #rrggbbaa or a name.
            MODE is one of \(PipelineStep.BlendMode.allCases.map(\.rawValue).joined(separator: ", ")).
            OPERATION is one of these with sourceOver for normal, or highlight.
            """,
        valueName: "pipeline"
    )

    /// Reads a pipeline, and turns a mistake into a usage error that keeps its lines.
    init(_ text: String?) throws {
        do throws(PipelineError) {
            steps = try text.map { text throws(PipelineError) in try PipelineParser.parse(text) } ?? []
        } catch {
            throw ValidationError("--process: \(error)")
        }
    }

    /// The steps as one processor; nil when there are none.
    var processor: (any ImageProcessor)? { PipelineStep.processor(of: steps) }
}
