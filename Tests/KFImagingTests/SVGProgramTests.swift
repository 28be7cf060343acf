// Drawings that would end or block the process that draws them, and their access to files.

#if SVG
import Foundation
import KFImaging
import KFSupport
import Testing

@Suite(.tags(.processes)) struct SVGProgramTests {
    private func drawing(_ content: String, size: String = "width='10' height='10'") -> Data {
        let spaces = "xmlns='http://www.w3.org/2000/svg' xmlns:xlink='http://www.w3.org/1999/xlink'"
        return Data("<svg \(spaces) \(size)>\(content)</svg>".utf8)
    }

    private func image(_ reference: String) -> String { "<image width='10' height='10' xlink:href='\(reference)'/>" }

    /// The description of the error that decoding throws.
    private func refusal(of data: Data, limits: ImageDecodingLimits = ImageDecodingLimits()) -> String? {
        do {
            _ = try Codecs.decode(data, options: DecodingOptions(limits: limits))
            return nil
        } catch {
            return "\(error)"
        }
    }

    @Test("Text that crashes librsvg does not end this process") func crashingText() throws {
        let reason = try #require(refusal(of: drawing("<text font-size='1e7' y='5'>x</text>")))
        #expect(reason.hasPrefix("SVG is not supported here: rsvg-convert ended with "))
    }

    @Test("Large convolution matrices do not end this process") func largeMatrices() throws {
        func filtered(_ count: Int) -> Data {
            let numbers = Array(repeating: "1", count: count).joined(separator: " ")
            return drawing(
                "<filter id='f'><feConvolveMatrix kernelMatrix='\(numbers)'/></filter>"
                    + "<rect width='9' height='9' filter='url(#f)'/>"
            )
        }
        #expect(try Codecs.decode(filtered(9)).pixelWidth == 10)
        #expect(refusal(of: filtered(441)) != nil)
        // Only the size is requested here; whether that succeeds does not matter.
        _ = try? ImageInfo(data: filtered(441))
    }

    @Test("A drawing that takes longer than its limit is an error") func timeLimit() throws {
        let blur = "<feTurbulence baseFrequency='0.01' numOctaves='1000000000'/>"
        let endless = drawing("<filter id='f'>\(blur)</filter><rect width='9' height='9' filter='url(#f)'/>")
        var limits = ImageDecodingLimits()
        limits.maxDrawingDuration = 0.5
        let expected = ImagingError.unsupported(
            .svg,
            detail: "drawing it takes longer than maxDrawingDuration = 0.5 seconds"
        )
        #expect(throws: expected) { try Codecs.decode(endless, options: DecodingOptions(limits: limits)) }
        // Its size takes no drawing.
        #expect(try ImageInfo(data: endless).pixelWidth == 10)
    }

    @Test("A drawing that takes more memory than its limit is an error") func memoryLimit() throws {
        let transform = "patternUnits='userSpaceOnUse' patternTransform='scale(30000)'"
        let pattern = "<pattern id='p' width='1' height='1' \(transform)><rect width='1' height='1'/></pattern>"
        let data = drawing(pattern + "<rect width='10' height='10' fill='url(#p)'/>")
        let reason = try #require(refusal(of: data))
        #expect(reason.hasPrefix("SVG is not supported here: drawing it takes more than 512 MiB of memory"))
    }

    @Test("Long chains of references are drawn or refused") func longReferenceChains() async throws {
        func chain(_ count: Int) -> Data {
            let masks = (0..<count).map {
                "<mask id='m\($0)'><rect width='10' height='10' mask='url(#m\($0 + 1))'/></mask>"
            }
            return drawing(masks.joined() + "<rect width='10' height='10' mask='url(#m0)'/>")
        }
        #expect(refusal(of: chain(200)) == nil)
        #expect(refusal(of: chain(20_000)) != nil)
    }

    @Test("Without Landlock drawings are refused where locked processes are required, and drawn otherwise")
    func withoutLandlock() async throws {
        await #expect(processExitsWith: .success) {
            setenv("KF_DECODER", try decoderWithoutLandlock(), 1)
            let drawing = try fixture("drawing.svg")
            var limits = ImageDecodingLimits()
            limits.isolation = .sandboxed
            #expect(try Codecs.decode(drawing, options: DecodingOptions(limits: limits)).pixelWidth > 0)
            limits.isolation = .required
            let error = #expect(throws: ImagingError.self) {
                try Codecs.decode(drawing, options: DecodingOptions(limits: limits))
            }
            #expect(error?.description.contains("need Landlock") == true)
        }
    }

    @Test("A program that is locked draws the same") func lockedProgram() throws {
        var limits = ImageDecodingLimits()
        limits.isolation = .required
        let data = drawing("<rect width='7' height='3' fill='teal'/><text y='9' font-size='8'>Ag</text>")
        let locked = try Codecs.decode(data, options: DecodingOptions(limits: limits)).bitmap()
        #expect(try locked.likeness(to: Codecs.decode(data).bitmap()) == .infinity)
    }

    @Test("Embedded images are drawn") func embeddedImages() throws {
        let photo = "data:image/png;base64," + (try fixture("photo.png").base64EncodedString())
        #expect(try Codecs.decode(drawing(image(photo))).bitmap()[5, 5].a == 255)
    }

    @Test("Files outside the drawing are not read") func externalReferences() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "photo.png").path
        try fixture("photo.png").write(to: URL(filePath: path))
        let here = FileManager.default.currentDirectoryPath
        let up = String(repeating: "../", count: here.split(separator: "/").count)
        for reference in [path, "file://" + path, up + path.dropFirst(), "/proc/self/fd/0"] {
            // Either the drawing is refused, or what it refers to is not shown.
            guard let bitmap = try? Codecs.decode(drawing(image(reference))).bitmap() else { continue }
            #expect(bitmap.rows.joined().allSatisfy { $0.a == 0 }, "\(reference)")
        }
        let included = "<xi:include xmlns:xi='http://www.w3.org/2001/XInclude' parse='text' href='file://\(path)'/>"
        #expect(refusal(of: drawing("<text>\(included)</text>")) == nil)
    }

    @Test("Drawings without a size have the size of their contents") func missingSize() throws {
        let data = drawing("<rect x='5' y='7' width='30.5' height='70'/>", size: "")
        #expect(try ImageInfo(data: data).pixelWidth == 31)
        let image = try Codecs.decode(data)
        #expect(image.pixelWidth == 31 && image.pixelHeight == 70)
    }

    @Test("The longer side has exactly the requested size", arguments: 1...48) func longerSide(side: Int) throws {
        func size(_ box: String) throws -> PixelSize {
            let data = drawing("<rect width='9' height='9'/>", size: "viewBox='0 0 \(box)'")
            return try Codecs.decode(data, options: DecodingOptions(maxPixelSize: side)).bitmap().size
        }
        let shorter = Int((Double(side) * 0.75).rounded(.up))
        #expect(try size("33 44") == PixelSize(shorter, side))
        #expect(try size("44 33") == PixelSize(side, shorter))
        #expect(try size("1200 2") == PixelSize(side, 1))
    }

    @Test("Sides longer than Cairo's limit are refused") func sidesBeyondCairo() throws {
        var options = DecodingOptions(maxPixelSize: 40_000)
        let line = drawing("<rect width='40000' height='1'/>", size: "viewBox='0 0 40000 1'")
        #expect(throws: ImagingError.self) { try Codecs.decode(line, options: options) }
        options.maxPixelSize = 32_767
        #expect(try Codecs.decode(line, options: options).pixelWidth == 32_767)
    }

    @Test("The memory limit follows the image's size, not that of a square") func memoryOfFlatImages() throws {
        let transform = "patternUnits='userSpaceOnUse' patternTransform='scale(20000)'"
        let pattern = "<pattern id='p' width='1' height='1' \(transform)><rect width='1' height='1'/></pattern>"
        let flat = drawing(pattern + "<rect width='9000' height='8' fill='url(#p)'/>", size: "viewBox='0 0 9000 8'")
        #expect(throws: ImagingError.self) { try Codecs.decode(flat, options: DecodingOptions(maxPixelSize: 9000)) }
    }

    @Test("Drawings of no size are refused") func emptyDrawings() {
        for size in ["", "width='0' height='0'", "width='1e-30' height='1e-30'"] {
            #expect(refusal(of: drawing("", size: size))?.hasPrefix("the SVG data is damaged: ") == true)
        }
    }

    @Test("Text of the drawing in an error message is not taken for a lack of memory") func misleadingMessages() {
        for mistake in ["<memory></g>", "&allocation;", "<allocate>"] {
            #expect(refusal(of: drawing(mistake))?.hasPrefix("the SVG data is damaged: XML parse error") == true)
        }
    }

    @Test("The time limit applies to all runs of the program together") func totalDuration() throws {
        var limits = ImageDecodingLimits()
        limits.maxDrawingDuration = 0
        #expect(refusal(of: drawing(""), limits: limits)?.contains("maxDrawingDuration = 0") == true)
        limits.maxDrawingDuration = .nan
        #expect(refusal(of: drawing(""), limits: limits) != nil)
    }

    @Test("Errors contain the program's own message") func programMessages() throws {
        let expected = "the SVG data is damaged: XML parse error: "
        #expect(
            refusal(of: Data("<svg xmlns='http://www.w3.org/2000/svg'><g></svg>".utf8))?.hasPrefix(expected) == true
        )
    }

    @Test("Without the program the error names it and its package") func missingProgram() async {
        // This runs in a process of its own, whose environment may be changed.
        await #expect(processExitsWith: .success) {
            setenv("PATH", "/nowhere", 1)
            let data = Data("<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'></svg>".utf8)
            let reason = Codecs.diagnose(data).map { "\($0)" } ?? ""
            guard reason.contains("rsvg-convert"), reason.contains("librsvg2-bin") else { exit(1) }
        }
    }
}
#endif
