// `kf info`: describes images from their headers. Decodes no pixels, but for colours.

import ArgumentParser
import Foundation
import KFImaging
import KFSupport

/// Describes images from their headers.
struct InfoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "info",
        abstract: "Show format, size, orientation, frames, alpha and colour profile; on request EXIF data and colours.",
        discussion: """
            --json prints one object per line: source, format, width, height, orientation (the EXIF number), frames, \
            duration (seconds), loopCount (0 is without end), alpha, colorProfile, bytes; or source and error. Width \
            and height are those of the stored pixels, before the orientation is applied. With --exif also exif, null \
            or an object: camera, lens, date, exposureTime (seconds), aperture, iso, focalLength (mm), location \
            (whether one is noted). With --colors also colors: objects with color and share.
            """
    )

    @Argument(help: ArgumentHelp("What to look at.", valueName: "source"))
    var sources: [String]

    @Flag(help: "Print one JSON object per line.")
    var json = false

    @OptionGroup var more: InfoDetailArguments
    @OptionGroup var limits: LimitArguments
    @OptionGroup var network: NetworkArguments

    func run() async throws {
        let console = Console()
        let reader = SourceBytes(network, limits)
        var failures = 0
        for source in sources {
            do throws(Failure) {
                let data = try await reader.read(source)
                let (info, details) = (try Self.info(of: data), try await more.details(of: data))
                console.print(
                    lines: json ? [info.json(of: source, details).description] : info.lines(of: source, details)
                )
            } catch {
                failures += 1
                console.error(error.line(about: source))
                if json { console.print(error.json(about: source).description) }
            }
        }
        if failures > 0 { throw ExitStatus.failed }
    }

    private static func info(of data: Data) throws(Failure) -> ImageInfo {
        do throws(ImagingError) {
            return try ImageInfo(data: data)
        } catch {
            throw .unreadable(error)
        }
    }
}

extension ImageInfo {
    fileprivate func json(of source: String, _ details: InfoDetails) -> JSON {
        let header: KeyValuePairs<String, JSON> = [
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
        return .object(header.map { JSON.Member(key: $0.key, value: $0.value) } + details.members)
    }

    fileprivate func lines(of source: String, _ details: InfoDetails) -> [String] {
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
            + (lines + details.lines).map { "  \($0.padding(toLength: 13, withPad: " ", startingAt: 0))\($1)" }
    }
}
