// `kf info`: describes images from their headers. Decodes no pixels, but for colours.

import ArgumentParser
import Foundation
import KFImaging
import KFSupport

/// Describes images from their headers.
struct InfoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "info",
        abstract:
            "Show format, size, orientation, frames, alpha, colour profile and gain map; on request EXIF data and colours.",
        discussion: """
              kf info photo.jpg
              kf info *.jpg --csv > photos.csv

            --json prints one object per line: source, format, width, height, orientation (the EXIF number), frames, \
            duration (seconds), loopCount (0 is without end), alpha, colorProfile, bytes, truncated (whether the file \
            ends too early; null for BMP, ICO, TIFF, JPEG XL and SVG, where that is not looked at), gainMap; or source \
            and error. Width and height are those of the stored pixels, before the orientation is applied. Sources are \
            read eight at once, and printed in their order. gainMap is null, or an object: width, height, parameters \
            (xmp, iso), channels (one, or red, green and blue: minBoost, maxBoost, gamma, offsetSDR, offsetHDR), \
            minCapacity, maxCapacity, isBaseHDR. Boosts and capacities are in stops, offsets parts of white.

            With --exif also exif, null or an object: camera, lens, date (null for an impossible one), dateText (as it \
            is in the file), exposureTime (seconds), aperture, iso, focalLength (mm), location (whether one is \
            noted). With --colors also colors: objects with color and share.

            \(NetworkArguments.mention)
            """
    )

    @Argument(help: ArgumentHelp("What to look at.", valueName: "source"), completion: .file())
    var sources: [String]

    @Flag(help: "Print one JSON object per line.")
    var json = false

    @Flag(help: "Print the same as comma-separated values, after a line with their names; failures are left out.")
    var csv = false

    @OptionGroup var more: InfoDetailArguments
    @OptionGroup(title: "Limits") var limits: LimitArguments
    @OptionGroup(title: "Network", visibility: .hidden) var network: NetworkArguments

    /// The number of sources that are read at once.
    private static let atOnce = 8

    func validate() throws {
        if json, csv { throw ValidationError("--json and --csv exclude each other") }
    }

    func run() async throws {
        let console = Console()
        let reader = SourceBytes(network, limits)
        var (failures, hasHeader) = (0, false)
        await Concurrently.forEach(sources, atOnce: Self.atOnce) { _, source in
            await InfoReport(source, reader, more)
        } report: { report in
            failures += report.failure == nil ? 0 : 1
            if let warning = report.warning { console.warning(warning) }
            if let failure = report.failure { console.error(failure.line(about: report.source)) }
            if json {
                console.print(report.json.description)
            } else if csv, let members = report.members {
                if !hasHeader { console.print(record: CSV.header(members)) }
                hasHeader = true
                console.print(record: CSV.row(members))
            } else if !csv, report.failure == nil {
                console.print(lines: report.lines)
            }
        }
        if failures > 0 { throw ExitStatus.failed }
    }
}

/// The outcome of one source.
private struct InfoReport: Sendable {
    let source: String
    let info: Result<ImageInfo, Failure>
    /// Whether the file ends before the image does; nil where that is not known.
    let isTruncated: Bool?
    let details: InfoDetails

    init(_ source: String, _ reader: SourceBytes, _ more: InfoDetailArguments) async {
        self.source = source
        do throws(Failure) {
            let data = try await reader.read(source)
            let header = try ImageInfo.reading(data)
            details = try await more.details(of: data)
            info = .success(header)
            isTruncated = Codecs.isTruncated(data)
        } catch {
            (info, isTruncated, details) = (.failure(error), nil, InfoDetails())
        }
    }

    var failure: Failure? {
        if case .failure(let failure) = info { failure } else { nil }
    }

    var warning: String? {
        isTruncated == true ? "\(Units.source(source)): the file ends too early: the image may lack a part" : nil
    }

    /// The line for scripts.
    var json: JSON {
        switch info {
        case .success(let info): info.json(of: source, isTruncated: isTruncated, details)
        case .failure(let failure): failure.json(about: source)
        }
    }

    /// What a line of comma-separated values holds; nil for a failure.
    var members: [JSON.Member]? {
        if failure == nil, case .object(let members) = json { members } else { nil }
    }

    /// The lines for people; none for a failure.
    var lines: [String] { (try? info.get()).map { $0.lines(of: source, details) } ?? [] }
}

extension ImageInfo {
    fileprivate func json(of source: String, isTruncated: Bool?, _ details: InfoDetails) -> JSON {
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
            "truncated": .optional(isTruncated, JSON.bool),
            "gainMap": .optional(gainMap, \.json),
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
        ]
        if let gainMap { lines.append(("gain map", gainMap.words)) }
        lines += [
            ("bytes", "\(byteCount) (\(Units.bytes(byteCount)))")
        ]
        return [Units.source(source)]
            + (lines + details.lines).map { "  \($0.padding(toLength: 13, withPad: " ", startingAt: 0))\($1)" }
    }
}
