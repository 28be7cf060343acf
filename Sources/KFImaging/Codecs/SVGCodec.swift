// SVG: drawn at the size that is asked for, or its own. Built in with the trait of that name only; knows no element of it.

#if SVG
import Foundation
import KFSupport

enum SVGCodec: ImageCodec {
    static let contentType = ImageContentType.svg

    static func info(_ bytes: UnsafeRawBufferPointer) throws(ImagingError) -> ImageInfo {
        let size = try SVGProgram(limits: .default).size(of: bytes)
        var info = ImageInfo(contentType: contentType, size: size, byteCount: bytes.count)
        info.hasAlpha = true
        return info
    }

    static func decode(
        _ bytes: UnsafeRawBufferPointer,
        _ options: DecodingOptions
    ) throws(ImagingError) -> DecodedPicture {
        let program = SVGProgram(limits: options.limits)
        let longerSide = options.maxPixelSize.flatMap { $0 > 0 ? $0 : nil }
        let pixelCount: Int
        if let longerSide, longerSide <= SVGProgram.longestSide, longerSide * longerSide <= options.limits.maxPixelCount
        {
            // Whatever its shape: asking for that first would take as long as drawing.
            pixelCount = longerSide * longerSide
        } else {
            let size = try program.size(of: bytes).with(longerSide: longerSide)
            try options.limits.check(width: size.width, height: size.height)
            guard max(size.width, size.height) <= SVGProgram.longestSide else {
                throw .unsupported(.svg, detail: "a side is longer than \(SVGProgram.longestSide) pixels")
            }
            pixelCount = size.width * size.height
        }
        let picture = try program.draw(bytes, longerSide: longerSide, pixelCount: pixelCount)
        return try picture.withBytes { picture throws(ImagingError) in try PNGCodec.decode(picture, options) }
    }
}

extension PixelSize {
    /// The size with the given longer side, which may be larger: a drawing loses nothing.
    fileprivate func with(longerSide: Int?) -> PixelSize {
        guard let longerSide else { return self }
        let scale = Double(longerSide) / Double(max(width, height))
        return PixelSize(Self.pixels(Double(width) * scale), Self.pixels(Double(height) * scale))
    }

    /// Parts of a pixel need a whole one; what rounding has added does not.
    fileprivate static func pixels(_ length: Double) -> Int {
        length < Double(Int32.max) ? max(1, Int((length - 1e-6).rounded(.up))) : Int(Int32.max)
    }
}

/// librsvg's own program, which draws in a process of its own.
///
/// A drawing is a program that strangers wrote: some bytes of it take minutes or gigabytes, and librsvg ends the process it
/// is in when it meets what it did not expect. There it is bounded, and what happens to it does not happen to us. It reads the
/// drawing from a pipe, so that it knows no place that references could be looked for.
private struct SVGProgram {
    /// Cairo knows no larger pictures.
    static let longestSide = 32_767
    private static let name = "rsvg-convert"
    private let limits: ImageDecodingLimits

    init(limits: ImageDecodingLimits) { self.limits = limits }

    /// The size in pixels of CSS: its own, or that of what it shows.
    func size(of drawing: UnsafeRawBufferPointer) throws(ImagingError) -> PixelSize {
        // As vectors again, of which nothing but the head is needed. With nothing to be seen that takes no time, but only who
        // says a size has one then.
        let hidden = "* { display: none !important }"
        let arguments = ["--format", "svg"]
        let first = try run(
            drawing,
            arguments + ["--stylesheet", "/proc/self/fd/3"],
            hidden,
            pixelCount: 0,
            answer: 1 << 16
        )
        if let size = Self.size(in: first.output) { return size }
        let second = try run(drawing, arguments, nil, pixelCount: 0, answer: 1 << 16)
        if let size = Self.size(in: second.output) { return size }
        throw error(second, memory(pixelCount: 0))
    }

    /// Draws it as a PNG, with the given longer side or in its own size.
    func draw(
        _ drawing: UnsafeRawBufferPointer,
        longerSide: Int?,
        pixelCount: Int
    ) throws(ImagingError) -> Data {
        var arguments = ["--format", "png"]
        // A trifle less, which 32 bits can tell apart: what rounding adds would need a pixel more.
        let side = longerSide.map { String(Double($0) * (1 - 3e-7)) }
        if let side { arguments += ["--keep-aspect-ratio", "--width", side, "--height", side] }
        let answer = try run(drawing, arguments, nil, pixelCount: pixelCount, answer: (1 << 20) + 5 * pixelCount)
        guard answer.code == 0, !answer.output.isEmpty else { throw error(answer, memory(pixelCount: pixelCount)) }
        return answer.output
    }

    private func run(
        _ drawing: UnsafeRawBufferPointer,
        _ arguments: [String],
        _ style: String?,
        pixelCount: Int,
        answer: Int
    ) throws(ImagingError) -> FilterProgram.Answer {
        let seconds = limits.maxDrawingDuration
        let bounds = FilterProgram.Limits(memory: memory(pixelCount: pixelCount), seconds: seconds, answer: answer)
        do throws(FilterProgram.Failure) {
            return try FilterProgram(Self.name, limits: bounds).run(drawing, arguments: arguments, companion: style)
        } catch {
            throw .unsupported(.svg, detail: reason(error))
        }
    }

    /// The page and three layers as large, and what else a drawing needs: fonts, its text as a tree, pictures in it.
    private func memory(pixelCount: Int) -> Int { (512 << 20) + 16 * pixelCount }

    private func reason(_ failure: FilterProgram.Failure) -> String {
        switch failure {
        case .notFound:
            "drawings are drawn by the program \(Self.name), which is not in the PATH; install the package "
                + "librsvg2-bin (Debian, Ubuntu), librsvg2-tools (Fedora) or librsvg (others)"
        case .notStarted(let number):
            "the program \(Self.name) could not be started: \(String(cString: strerror(number)))"
        case .tookTooLong:
            "drawing it takes longer than maxDrawingDuration = \(limits.maxDrawingDuration) seconds"
        }
    }

    /// What went wrong, in the words of the program.
    private func error(_ answer: FilterProgram.Answer, _ memory: Int) -> ImagingError {
        let lines = answer.complaints.split(separator: "\n").filter { !$0.contains("-WARNING **") }
        let words = lines.joined(separator: " ").replacing("Error reading SVG stdin: ", with: "")
            .replacing("Error rendering SVG stdin: ", with: "").prefix(300)
        if ["memory", "alloc"].contains(where: words.lowercased().contains) {
            return .unsupported(.svg, detail: "drawing it takes more than \(memory >> 20) MiB of memory (\(words))")
        }
        // Its word for a mistake in the drawing; anything else is one of its own.
        if answer.code == 1 { return .malformed(.svg, detail: String(words)) }
        let end = answer.code < 0 ? "signal \(-answer.code)" : "code \(answer.code)"
        return .unsupported(.svg, detail: "\(Self.name) ended with \(end) while drawing it (\(words))")
    }

    /// The size in the head of a drawing that cairo wrote.
    private static func size(in drawing: Data) -> PixelSize? {
        let head = String(decoding: drawing.prefix(4096), as: UTF8.self)
        guard let match = head.firstMatch(of: /viewBox="0 0 ([0-9.e+]+) ([0-9.e+]+)"/),
            let width = Double(match.1), let height = Double(match.2), width > 0, height > 0
        else { return nil }
        return PixelSize(PixelSize.pixels(width), PixelSize.pixels(height))
    }
}
#endif
