// The library's processors behind the steps of pipelines.

import Foundation
import Kingfisher
import Testing

@testable import kf
@testable import kf_demo

/// The conversion of steps to the library's processors.
@Suite(.tags(.processes)) struct PipelineProcessorTests {
    /// The arguments are the typed text, and the identifier of the library's processor behind its common beginning.
    @Test(
        "Each step becomes its processor",
        arguments: [
            ("downsample(20x10)", "DownsamplingImageProcessor((20.0, 10.0))"),
            ("downsample(20x)", "ThumbnailImageProcessor((20.0, 0.0), encoded)"),
            ("thumbnail(20x10)", "ThumbnailImageProcessor((20.0, 10.0))"),
            ("thumbnail(20x10,exact)", "ThumbnailImageProcessor((20.0, 10.0), exact)"),
            ("thumbnail(20x10,fill,anchor=0,1)", "ThumbnailImageProcessor((20.0, 10.0), fill, (0.0, 1.0))"),
            ("thumbnail(20x10,fill,anchor=smart)", "ThumbnailImageProcessor((20.0, 10.0), fill, smart)"),
            ("resize(20x10,filter=bilinear)", "ResizingImageProcessor((20.0, 10.0), bilinear, linear)"),
            ("resize(20x10)", "ResizingImageProcessor((20.0, 10.0), linear)"),
            ("resize(20x10,light=encoded)", "ResizingImageProcessor((20.0, 10.0))"),
            ("thumbnail(20x10,light=encoded)", "ThumbnailImageProcessor((20.0, 10.0), encoded)"),
            ("resize(20x)", "ResizingImageProcessor((20.0, inf), aspectFit, linear)"),
            ("resize(x10,filter=lanczos3)", "ResizingImageProcessor((inf, 10.0), aspectFit, lanczos3, linear)"),
            ("resize(20x10,aspectFill)", "ResizingImageProcessor((20.0, 10.0), aspectFill, linear)"),
            ("crop(20x10,0,1)", "CroppingImageProcessor((20.0, 10.0)_(0.0, 1.0))"),
            ("smartcrop(20x10)", "SmartCroppingImageProcessor((20.0, 10.0))"),
            ("trim(0.1)", "TrimmingImageProcessor(0.1)"),
            ("pad(20x10)", "CanvasResizingImageProcessor((20.0, 10.0), aspectFit)"),
            ("pad(20x10,0,1)", "CanvasResizingImageProcessor((20.0, 10.0), aspectFit, (0.0, 1.0))"),
            ("pad(20x10,#f00)", "CanvasResizingImageProcessor((20.0, 10.0), aspectFit)_(1.00,0.00,0.00,1.00)"),
            ("round(8,corners=tl)", "RoundCornerImageProcessor(8.0_corner(1))"),
            ("circle()", "CircleImageProcessor"),
            ("rotate(90)", "RotationImageProcessor(\(-Double.pi / 2)_true)"),
            ("flip(h)", "FlippingImageProcessor(true_false)"),
            ("flip(v)", "FlippingImageProcessor(false_true)"),
            ("blur(5)", "GaussianBlurImageProcessor(5.0)"),
            ("sharpen(2,0.5)", "SharpeningImageProcessor(2.0_0.5)"),
            ("colors(0.1,1.5,2,-1)", "ColorControlsProcessor(0.1_1.5_2.0_-1.0)"),
            ("grayscale()", "ColorControlsProcessor(0.0_1.0_0.0_0.0)"),
            ("bw()", "BlackWhiteProcessor"),
            ("blend(multiply,0.5)", "BlendImageProcessor(1,0.5)"),
            ("composite(sourceAtop)", "CompositingImageProcessor(5,1.0)"),
        ]
    )
    func processors(text: String, identifier: String) throws {
        let processor = try #require(PipelineStep.processor(of: try PipelineParser.parse(text)))
        #expect(processor.identifier == "com.onevcat.Kingfisher.\(identifier)")
    }

    @Test(
        "A side that is left out follows from the proportions, for larger images and smaller ones",
        arguments: [
            ("resize(30x)", 30, 20), ("resize(x10)", 15, 10), ("resize(300x)", 300, 200), ("resize(x401)", 602, 401),
            ("resize(1x)", 1, 1), ("downsample(30x)", 30, 20), ("downsample(x10)", 15, 10),
            ("downsample(300x)", 60, 40), ("thumbnail(30x)", 30, 20), ("thumbnail(30x30,fill)", 30, 30),
        ]
    )
    func oneSide(text: String, width: Int, height: Int) throws {
        let processor = try #require(PipelineStep.processor(of: try PipelineParser.parse(text)))
        let options = KingfisherParsedOptionsInfo(nil)
        let image = try #require(processor.process(item: .data(try SampleImages.jpeg(60, 40)), options: options))
        #expect(image.pixelWidth == width && image.pixelHeight == height)
    }

    @Test("Filters and colours reach the processor") func filtersAndColours() throws {
        let resize = PipelineStep.resize(CGSize(width: 4, height: 3), .none, .lanczos3).processor()
        #expect((resize as? ResizingImageProcessor)?.filter == .lanczos3)
        let red = HexColor(red: 255, green: 0, blue: 0)
        let overlay = try #require(PipelineStep.overlay(red, fraction: 0.25).processor() as? OverlayImageProcessor)
        #expect(overlay.overlay == .red)
        #expect(overlay.fraction == 0.25)
        #expect((PipelineStep.tint(red).processor() as? TintImageProcessor)?.tint == .red)
        let border = try #require(
            PipelineStep.border(width: 3, red, radius: .fraction(0.5)).processor() as? BorderImageProcessor
        )
        #expect(border.border == Border(color: .red, lineWidth: 3, radius: .widthFraction(0.5)))
    }

    @Test("Words stand for the library's cases of the same name") func words() {
        #expect(PipelineStep.BlendMode.allCases.map { "\($0)" } == CGBlendMode.allCases.map { "\($0)" })
        for mode in PipelineStep.BlendMode.allCases { #expect("\(mode)" == "\(mode.libraryMode)") }
        let operations = PipelineStep.CompositingOperation.allCases
        #expect(operations.map { "\($0)" } == NSCompositingOperation.allCases.map { "\($0)" })
        for operation in operations { #expect("\(operation)" == "\(operation.libraryOperation)") }
        let filters = ResamplingFilter.allCases.filter { $0 != .automatic }
        #expect(PipelineStep.Filter.allCases.map(\.rawValue) == filters.map(\.rawValue))
    }

    @Test("Degrees count clockwise") func rotation() async throws {
        let place = TestDirectory()
        // Red on the left, blue on the right: a quarter turn clockwise puts red on top.
        let image = SampleImages.drawn(20, 10) { x, _ in x < 10 ? 0xFFFF_0000 : 0xFF00_00FF }
        try place.write(try #require(image.pngData()), "in.png")
        let result = try await place.kf("process", "in.png", "-o", "out.png", "--process", "rotate(90)")
        #expect(result.status == 0, "\(result.errors)")
        let pixels = ShownPixels(try #require(KFCrossPlatformImage(data: try place.data("out.png"))?.cgImage))
        #expect(pixels.width == 10 && pixels.height == 20)
        #expect(pixels.colors.first == 0xFFFF_0000)
        #expect(pixels.colors.last == 0xFF00_00FF)
    }

    @Test("The gallery shows every step, with its text under each cell")
    func gallery() throws {
        let exhibits = Exhibit.all.dropFirst()  // the image itself
        for exhibit in exhibits {
            let steps = try PipelineParser.parse(exhibit.label)
            #expect(PipelineStep.processor(of: steps)?.identifier == exhibit.processor.identifier, "\(exhibit.label)")
        }
        let labels = exhibits.map(\.label)
        for step in PipelineParser.steps { #expect(labels.contains { $0.hasPrefix("\(step.name)(") }, "\(step.name)") }
    }
}
