// SVG: drawn at the size that is asked for, or its own, by a program of librsvg. Built in with the trait of that name
// only.
//
// A program, since what a drawing costs is known when it is drawn, and librsvg ends the process it is in for some
// texts. In a process of its own it has limits of memory and time. That costs some 20 ms, locked twice as much, however
// small the drawing is, and builds need no librsvg.

#if SVG
import Foundation
import KFSupport

enum SVGCodec: ImageCodec {
    static let contentType = ImageContentType.svg
    static let isReadByProgram = true

    static func info(_ bytes: UnsafeRawBufferPointer) throws(ImagingError) -> ImageInfo {
        let size = try drawing(bytes) { text throws(ImagingError) in
            try SVGProgram(limits: .default).size(of: text).inPixels(longerSide: nil)
        }
        var info = ImageInfo(contentType: contentType, size: size, byteCount: bytes.count)
        info.hasAlpha = true
        return info
    }

    static func decode(
        _ bytes: UnsafeRawBufferPointer,
        _ options: DecodingOptions
    ) throws(ImagingError) -> DecodedImage {
        try drawing(bytes) { text throws(ImagingError) in try draw(text, options) }
    }

    /// Calls a body with the text, which may be compressed.
    private static func drawing<Result>(
        _ bytes: UnsafeRawBufferPointer,
        _ body: (UnsafeRawBufferPointer) throws(ImagingError) -> Result
    ) throws(ImagingError) -> Result {
        guard CompressedDrawing.isHere(bytes) else { return try body(bytes) }
        return try CompressedDrawing.text(of: bytes).withBytes(body)
    }

    private static func draw(
        _ bytes: UnsafeRawBufferPointer,
        _ options: DecodingOptions
    ) throws(ImagingError) -> DecodedImage {
        let program = try SVGProgram(limits: options.limits)
        let ownSize = try program.size(of: bytes)
        let longerSide = options.longerSide(ofDrawing: ownSize.inPixels(longerSide: nil))
        let size = ownSize.inPixels(longerSide: longerSide)
        try options.limits.check(width: size.width, height: size.height)
        guard max(size.width, size.height) <= SVGProgram.longestSide else {
            throw .unsupported(.svg, detail: "a side is longer than \(SVGProgram.longestSide) pixels")
        }
        // Slightly less, by an amount that 32 bits can represent: what rounding adds would need one pixel more.
        let asked = longerSide.map { (ownSize.longerSide, Double($0) * (1 - 3e-7)) }
        let drawing = try program.draw(bytes, asked, pixelCount: size.width * size.height)
        return try Codecs.image(of: drawing, PNGCodec.self, options)
    }
}

extension DecodingOptions {
    /// How long the longer side of a drawing is to be, which loses nothing by being enlarged; nil leaves it as it is.
    fileprivate func longerSide(ofDrawing size: PixelSize) -> Int? {
        guard var box = thumbnail else { return maxPixelSize.flatMap { $0 > 0 ? $0 : nil } }
        box.enlarges = true
        // Proportions are kept until it has been drawn: enough for the side that is scaled least.
        let scaled = box.scaled(size)
        let scale = max(Double(scaled.width) / Double(size.width), Double(scaled.height) / Double(size.height))
        return Int((Double(size.longerSide) * scale).rounded())
    }
}

/// The size of a drawing in pixels of CSS, and parts of them.
private struct DrawingSize {
    let width: Double
    let height: Double

    enum Side: String {
        case width, height
    }

    var longerSide: Side { width >= height ? .width : .height }

    /// With the given longer side, which may enlarge: a drawing loses nothing.
    func inPixels(longerSide: Int?) -> PixelSize {
        let scale = longerSide.map { Double($0) / max(width, height) } ?? 1
        return PixelSize(Self.pixels(width * scale), Self.pixels(height * scale))
    }

    /// Fractions of a pixel need a whole one; a fraction that only rounding has added does not.
    private static func pixels(_ length: Double) -> Int {
        length < Double(Int32.max) ? max(1, Int((length - 1e-6).rounded(.up))) : Int(Int32.max)
    }
}

/// librsvg's own program, which draws in a process of its own.
///
/// A drawing is a program from an untrusted source: some bytes of it take minutes or gigabytes, and librsvg ends its
/// process when it meets something unexpected. In a process of its own it is bounded, and its end does not affect this
/// one. It reads the drawing from a socket, so that it has no location to look for references.
private struct SVGProgram {
    /// Cairo supports no larger images.
    static let longestSide = 32_767
    private static let name = "rsvg-convert"
    private let limits: ImageDecodingLimits
    /// The decoder that locks it; nil: nothing does.
    private let decoder: String?
    /// The time is that of all runs for one drawing.
    private let start = SuspendingClock.now

    /// The program under limits, locked as decoders are if that is wanted; throws where it is required and cannot be
    /// had.
    init(limits: ImageDecodingLimits) throws(ImagingError) {
        self.limits = limits
        let availability = try DecoderPool.shared.forUse(limits.isolation)?.availability()
        if limits.isolation == .required, availability?.greeting?.landlock == 0 {
            // The program reads files, and only Landlock says which.
            throw .isolationUnavailable(detail: "drawings need Landlock, which this kernel does not have")
        }
        decoder = availability?.path
    }

    /// The size of a drawing: its own size, or the size of its visible content.
    func size(of drawing: UnsafeRawBufferPointer) throws(ImagingError) -> DrawingSize {
        // As vectors again, of which nothing but the head is needed. With all elements hidden nothing is drawn, but
        // then only a drawing that declares a size has one: others are drawn a second time.
        let hidden = "* { display: none !important }"
        let arguments = ["--format", "svg"]
        let styled = arguments + ["--stylesheet", "/proc/self/fd/3"]
        let first = try run(drawing, styled, hidden, pixelCount: 0, output: 1 << 16)
        if let size = Self.size(in: first.output) { return size }
        let second = try run(drawing, arguments, nil, pixelCount: 0, output: 1 << 16)
        if let size = Self.size(in: second.output) { return size }
        guard second.code != 0 else { throw .malformed(.svg, detail: "it says no size, and shows nothing of any size") }
        throw error(second, memory(pixelCount: 0))
    }

    /// Draws it as a PNG, in its own size or with that length of its longer side.
    func draw(
        _ drawing: UnsafeRawBufferPointer,
        _ asked: (side: DrawingSize.Side, length: Double)?,
        pixelCount: Int
    ) throws(ImagingError) -> Data {
        var arguments = ["--format", "png"]
        // Only the longer side: of two, versions before 2.54 take the larger scale.
        if let asked { arguments += ["--keep-aspect-ratio", "--\(asked.side)", "\(asked.length)"] }
        let outcome = try run(drawing, arguments, nil, pixelCount: pixelCount, output: (1 << 20) + 5 * pixelCount)
        guard outcome.code == 0, !outcome.output.isEmpty else { throw error(outcome, memory(pixelCount: pixelCount)) }
        guard !outcome.isTruncated else { throw .unsupported(.svg, detail: "\(Self.name) draws it larger than asked") }
        return outcome.output
    }

    private func run(
        _ drawing: UnsafeRawBufferPointer,
        _ arguments: [String],
        _ style: String?,
        pixelCount: Int,
        output: Int
    ) throws(ImagingError) -> SandboxedProcess.Outcome {
        let seconds = limits.maxDrawingDuration - (.now - start) / .seconds(1)
        let bounds = SandboxedProcess.Limits(memory: memory(pixelCount: pixelCount), seconds: seconds, output: output)
        do throws(SandboxedProcess.Failure) {
            // Threads share the limits of time and memory; as many as there are cores would use them up.
            let program = SandboxedProcess(
                Self.name,
                limits: bounds,
                variables: ["RAYON_NUM_THREADS=1"],
                lockedBy: decoder
            )
            return try program.run(drawing, arguments: arguments, companion: style)
        } catch {
            throw .unsupported(.svg, detail: reason(error))
        }
    }

    /// The page and three layers as large, and the other memory that a drawing needs: fonts, its text as a tree, images
    /// in it.
    private func memory(pixelCount: Int) -> Int { (512 << 20) + 16 * pixelCount }

    private func reason(_ failure: SandboxedProcess.Failure) -> String {
        switch failure {
        case .notFound:
            "drawings are drawn by the program \(Self.name), which is not in the PATH; install the package "
                + "librsvg2-bin (Debian, Ubuntu), librsvg2-tools (Fedora) or librsvg (others)"
        case .notStarted(let number):
            "the program \(Self.name) could not be started within limits: \(String(cString: strerror(number)))"
        case .tookTooLong:
            "drawing it takes longer than maxDrawingDuration = \(limits.maxDrawingDuration) seconds"
        }
    }

    /// The error, in the words of the program.
    private func error(_ outcome: SandboxedProcess.Outcome, _ memory: Int) -> ImagingError {
        let lines = outcome.standardError.split(separator: "\n").filter { !$0.contains("-WARNING **") }
        let words = lines.joined(separator: " ").replacing("Error reading SVG stdin: ", with: "")
            .replacing("Error rendering SVG stdin: ", with: "").prefix(300)
        // The program's prefix for a mistake in the drawing, which text of the drawing may follow; anything else is
        // about the program.
        if outcome.code == 1, words.hasPrefix("XML parse error") { return .malformed(.svg, detail: String(words)) }
        if ["NoMemory", "memory allocation of", "allocate", "out of memory"].contains(where: words.contains) {
            return .unsupported(.svg, detail: "drawing it takes more than \(memory >> 20) MiB of memory (\(words))")
        }
        if words.contains("--width") || words.contains("--height") {
            return .unsupported(.svg, detail: "\(Self.name) is older than 2.52, which is needed (\(words))")
        }
        if outcome.code == 1 { return .malformed(.svg, detail: String(words)) }
        let end = outcome.code < 0 ? "signal \(-outcome.code)" : "code \(outcome.code)"
        return .unsupported(.svg, detail: "\(Self.name) ended with \(end) while drawing it (\(words))")
    }

    /// The size in the head of a drawing that cairo wrote.
    private static func size(in drawing: Data) -> DrawingSize? {
        let head = String(decoding: drawing.prefix(4096), as: UTF8.self)
        guard let match = head.firstMatch(of: /viewBox="0 0 ([0-9.e+]+) ([0-9.e+]+)"/),
            let width = Double(match.1), let height = Double(match.2), width > 0, height > 0
        else { return nil }
        return DrawingSize(width: width, height: height)
    }
}
#endif
