// `kf compare`: says how much two images differ. The calculation is in KFImaging.

import ArgumentParser
import Foundation
import KFImaging
import KFSupport
import Kingfisher

/// Compares two images.
struct CompareCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compare",
        abstract: "Say how much two images differ: PSNR, SSIM, SSIMULACRA 2, and an image of the difference.",
        discussion: """
              kf compare before.png after.webp -o difference.png
              kf compare expected.png actual.png --threshold 40

            Images are compared as they are shown, turned by their orientation; of animations, the first frames. PSNR \
            is that of red, green and blue, and of alpha if there is any; SSIM that of the brightness, in Gaussian \
            windows of 11×11. SSIMULACRA 2 says how much of the quality is left as people judge it: 90 where no \
            difference is seen, 70 good, 50 fair. Images of different sizes are an error.

            Exit status: 0 for images that are equal, or with --threshold as alike as it says; else 1.

            --json prints an object: source and other; width and height; sourceBytes and otherBytes; differing (the \
            number of pixels); largest (the largest difference of a component, to 255); psnr (in dB, null for equal \
            images); ssim (1 for equal images); ssimulacra2 (100 for equal images); equal; alike (what the exit status says); output. Or source and error.

            \(NetworkArguments.mention)
            """
    )

    @Argument(help: ArgumentHelp("An image.", valueName: "image"), completion: .file())
    var source: String

    @Argument(help: ArgumentHelp("The image to compare it with.", valueName: "other"), completion: .file())
    var other: String

    @Option(
        name: [.customShort("o", allowingJoined: true), .long],
        parsing: .unconditional,
        help: ArgumentHelp(
            "Write an image of the difference: black where there is none, white for the largest one; - is standard "
                + "output.",
            valueName: "file"
        ),
        completion: .file()
    )
    var output: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Take images for alike from this PSNR on, such as 40, or with at most 1 from this SSIM on, such as 0.98. "
                + "(default: equal images only)",
            valueName: "dB|ssim"
        )
    )
    var threshold: Double?

    @Flag(help: "Print one JSON object.")
    var json = false

    @OptionGroup(title: "Limits") var limits: LimitArguments
    @OptionGroup(title: "Network", visibility: .hidden) var network: NetworkArguments

    /// The meaning of `output`, known once the options have been validated.
    private var destination: OutputDestination?

    mutating func validate() throws {
        try SourceArgument.check(source)
        try SourceArgument.check(other)
        if let threshold, !(threshold > 0 && threshold.isFinite) {
            throw ValidationError("--threshold must be a PSNR above 1, or an SSIM above 0 and up to 1")
        }
        guard let output else { return }
        destination = try OutputDestination(output, sources: 1)
        try destination?.checkTerminal(force: false)
        try destination?.checkFormat(copies: false)
        try destination?.check(isNoneOf: SourceArgument.files([source, other]))
    }

    func run() async throws {
        let console = Console(results: OutputFile.resultsDescriptor(for: destination))
        let interruption = console.tidyingOnInterruption()
        defer { interruption.finish() }
        let reader = SourceBytes(network, limits)
        var failing = source
        let isAlike: Bool
        do throws(Failure) {
            let first = try await read(source, reader)
            failing = other
            let second = try await read(other, reader)
            failing = source
            isAlike = try await compare(first, second, console)
        } catch {
            console.error(error.text)
            if json { console.print(error.json(about: failing).description) }
            throw ExitStatus.failed
        }
        guard isAlike else { throw ExitStatus.failed }
    }

    /// Compares, writes and reports, and returns whether the images are alike.
    private func compare(_ first: ReadImage, _ second: ReadImage, _ console: Console) async throws(Failure) -> Bool {
        let (comparison, difference) = try await differences(first.image, second.image)
        var report = CompareReport(
            sources: (source, other),
            bytes: (first.bytes, second.bytes),
            image: first.image,
            comparison: comparison,
            isAlike: isAlike(comparison)
        )
        if let destination, let difference {
            let encoding = Encoding(wanted: destination.type, isChanged: true)
            let encoded = try await encoding.encoded(difference, original: nil)
            try await OutputFile.prepare(destination)
            report.output =
                try await OutputFile.write(
                    encoded,
                    to: destination,
                    name: ResultName(stem: "difference"),
                    keeping: InputFiles([])
                ).path
        }
        console.print(lines: json ? [report.json.description] : report.lines)
        return report.isAlike
    }

    private func isAlike(_ comparison: ImageComparison) -> Bool {
        guard let threshold else { return comparison.differing == 0 }
        return threshold <= 1 ? comparison.ssim >= threshold : comparison.psnr >= threshold
    }

    private typealias ReadImage = (image: Image, bytes: Int)

    private func read(_ source: String, _ reader: SourceBytes) async throws(Failure) -> ReadImage {
        do throws(Failure) {
            let data = try await reader.read(source)
            return (try await ImageBytes.image(data, nil, isStill: true), data.count)
        } catch {
            throw error.naming(source)
        }
    }

    /// The comparison, and the image of the difference if that is to be written.
    private func differences(
        _ first: Image,
        _ second: Image
    ) async throws(Failure) -> (comparison: ImageComparison, difference: Image?) {
        let isWritten = destination != nil
        let result = await WorkExecutor.cpu.run { () async -> Result<(ImageComparison, Image?)?, ImagingError> in
            Result { () throws(ImagingError) in
                guard let comparison = try ImageComparison(first, second) else { return nil }
                return (comparison, isWritten ? try comparison.difference() : nil)
            }
        }
        do throws(ImagingError) {
            if let differences = try result.get() { return differences }
        } catch {
            throw Self.failure("\(error)")
        }
        let (size, otherSize) = (Units.size(first), Units.size(second))
        throw Self.failure(
            "\(Units.source(source)) has \(size) pixels and \(Units.source(other)) \(otherSize); make one as large as "
                + "the other first, with kf process"
        )
    }

    private static func failure(_ message: String) -> Failure {
        Failure(code: 9011, reason: "cannotCompare", message: message)
    }
}

/// The outcome of a comparison.
private struct CompareReport {
    let sources: (String, String)
    let bytes: (Int, Int)
    let image: Image
    let comparison: ImageComparison
    let isAlike: Bool
    var output: String?

    /// The lines for people.
    var lines: [String] {
        let pixels = Double(image.size.width * image.size.height)
        let share = Units.fixed(100 * Double(comparison.differing) / pixels, digits: 2)
        let lines = [
            ("size", "\(Units.size(image)) pixels"),
            ("bytes", "\(bytes.0) (\(Units.bytes(bytes.0))), \(bytes.1) (\(Units.bytes(bytes.1)))"),
            ("differing", "\(comparison.differing) pixels (\(share) %), by at most \(comparison.largest) of 255"),
            ("PSNR", comparison.psnr.isFinite ? "\(Units.fixed(comparison.psnr, digits: 2)) dB" : "infinite"),
            ("SSIM", Units.fixed(comparison.ssim, digits: 5)),
            ("SSIMULACRA 2", Units.fixed(comparison.score, digits: 2)),
            ("result", comparison.differing == 0 ? "equal" : isAlike ? "alike" : "different"),
        ]
        return ["\(Units.source(sources.0)), \(Units.source(sources.1))"]
            + lines.map { "  \($0.padding(toLength: 14, withPad: " ", startingAt: 0))\($1)" }
            + (output.map { ["  → \($0)"] } ?? [])
    }

    /// The line for scripts.
    var json: JSON {
        [
            "source": .string(Redaction.source(sources.0)),
            "other": .string(Redaction.source(sources.1)),
            "width": .int(Int(image.size.width)),
            "height": .int(Int(image.size.height)),
            "sourceBytes": .int(bytes.0),
            "otherBytes": .int(bytes.1),
            "differing": .int(comparison.differing),
            "largest": .int(comparison.largest),
            "psnr": .number(comparison.psnr),
            "ssim": .number(comparison.ssim),
            "ssimulacra2": .number(comparison.score),
            "equal": .bool(comparison.differing == 0),
            "alike": .bool(isAlike),
            "output": .optional(output, JSON.string),
        ]
    }
}

extension Units {
    /// `600×400`, as the image is shown; its scale is 1 here.
    fileprivate static func size(_ image: Image) -> String { "\(Int(image.size.width))×\(Int(image.size.height))" }
}
