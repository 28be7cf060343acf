// `kf info`: describes images from their headers. Decodes no pixels.

import ArgumentParser
import Foundation
import KFImaging
import KFSupport

/// Describes images from their headers.
struct InfoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "info",
        abstract: "Show format, size, orientation, frames, alpha and colour profile, without decoding.",
        discussion: """
            --json prints one object per line: source, format, width, height, orientation (the EXIF number), frames, \
            duration (seconds), loopCount (0 is without end), alpha, colorProfile, bytes; or source and error. Width \
            and height are those of the stored pixels, before the orientation is applied.
            """
    )

    @Argument(help: ArgumentHelp("What to look at.", valueName: "source"))
    var sources: [String]

    @Flag(help: "Print one JSON object per line.")
    var json = false

    @OptionGroup var limits: LimitArguments
    @OptionGroup var network: NetworkArguments

    func run() async throws {
        let console = Console()
        let reader = SourceBytes(network, limits)
        var failures = 0
        for source in sources {
            do throws(Failure) {
                let info = try ImageInfo.reading(try await reader.read(source))
                console.print(lines: json ? [info.json(of: source).description] : info.lines(of: source))
            } catch {
                failures += 1
                console.error(error.line(about: source))
                if json { console.print(error.json(about: source).description) }
            }
        }
        if failures > 0 { throw ExitStatus.failed }
    }
}

extension ImageInfo {
    fileprivate func json(of source: String) -> JSON {
        [
            "source": .string(Redaction.source(source)),
            "format": .string(contentType.name.lowercased()),
            "width": .int(pixelWidth),
            "height": .int(pixelHeight),
            "orientation": .int(orientation.exif),
            "frames": .int(frameCount),
            "duration": .optional(duration.map { ($0 * 1e6).rounded() / 1e6 }, JSON.number),
            "loopCount": .optional(loopCount, JSON.int),
            "alpha": .bool(hasAlpha),
            "colorProfile": .optional(colorProfileName, JSON.string),
            "bytes": .int(byteCount),
        ]
    }

    fileprivate func lines(of source: String) -> [String] {
        var lines = [
            ("format", contentType.name),
            ("size", "\(pixelWidth)×\(pixelHeight) pixels"),
            ("orientation", "\(orientation.exif) (\(orientation))"),
            ("frames", "\(frameCount)"),
        ]
        if let duration { lines.append(("duration", Units.seconds(duration))) }
        if let loopCount { lines.append(("loops", loopCount == 0 ? "endless" : "\(loopCount)")) }
        lines += [
            ("alpha", hasAlpha ? "yes" : "no"),
            ("profile", colorProfileName ?? "none"),
            ("bytes", "\(byteCount) (\(Units.bytes(byteCount)))"),
        ]
        return [Units.source(source)]
            + lines.map { "  \($0.padding(toLength: 13, withPad: " ", startingAt: 0))\($1)" }
    }
}
