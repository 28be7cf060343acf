// The exhibits of `kf-demo gallery`: every processor, and the pipeline that stands for it.

import Foundation
import KFImaging
import Kingfisher

/// A processor, and the image it is shown on.
struct Exhibit: Sendable {
    /// The pipeline as it is typed for `kf process`.
    let label: String
    /// The same pipeline in Swift.
    let processor: any ImageProcessor
    /// The image that shows it best.
    let subject: Subject

    /// An image to process.
    enum Subject {
        /// A landscape, or the photo that was given.
        case photo
        /// A bird on a transparent ground; the photo if one was given.
        case bird
        /// Bright lines and points of one or two pixels, four times as large as a cell.
        case lines, stars
    }

    init(_ label: String, _ processor: any ImageProcessor, on subject: Subject = .photo) {
        self.label = label
        self.processor = processor
        self.subject = subject
    }

    /// Every processor that a pipeline has a step for; some with several parameters.
    static let all = sizes + shapes + colors + mixtures

    private static let sizes = [
        Exhibit("the image", DefaultImageProcessor.default),
        Exhibit(
            "resize(120x120,aspectFit)",
            ResizingImageProcessor(referenceSize: size(120, 120), mode: .aspectFit, space: .linear)
        ),
        Exhibit("resize(240x90)", ResizingImageProcessor(referenceSize: size(240, 90), space: .linear)),
        Exhibit("resize(24x18)|>resize(240x180,filter=nearest)", enlarging(with: .nearest)),
        Exhibit("resize(24x18)|>resize(240x180,filter=lanczos3)", enlarging(with: .lanczos3)),
        Exhibit("downsample(100x100)", DownsamplingImageProcessor(size: size(100, 100))),
        Exhibit("thumbnail(120x90)", ThumbnailImageProcessor(size: size(120, 90))),
        Exhibit("thumbnail(120x120,fill)", ThumbnailImageProcessor(size: size(120, 120), mode: .fill)),
        Exhibit(
            "thumbnail(100x160,fill,anchor=smart)",
            ThumbnailImageProcessor(size: size(100, 160), mode: .fill, anchor: .smart)
        ),
        Exhibit("crop(120x120)", CroppingImageProcessor(size: size(120, 120))),
        Exhibit("crop(120x90,0,1)", CroppingImageProcessor(size: size(120, 90), anchor: CGPoint(x: 0, y: 1))),
        Exhibit("smartcrop(100x100)", SmartCroppingImageProcessor(size: size(100, 100))),
        Exhibit(
            "pad(200x180,#1386c4)",
            CanvasResizingImageProcessor(size: size(200, 180), scaleMode: .aspectFit, backgroundColor: color(0x1386C4))
        ),
        Exhibit("trim()", TrimmingImageProcessor(), on: .bird),
    ]

    private static let shapes = [
        Exhibit("round(40)", RoundCornerImageProcessor(cornerRadius: 40)),
        Exhibit(
            "round(25%,corners=tl+br,background=#1386c4)",
            RoundCornerImageProcessor(
                radius: .widthFraction(0.25),
                roundingCorners: [.topLeft, .bottomRight],
                backgroundColor: color(0x1386C4)
            )
        ),
        Exhibit("circle()", CircleImageProcessor()),
        Exhibit(
            "border(10,orange,30)",
            BorderImageProcessor(border: Border(color: color(0xFF8000), lineWidth: 10, radius: .point(30)))
        ),
        // The library turns the other way, and in radians.
        Exhibit("rotate(15)", RotationImageProcessor(angle: -15 * .pi / 180)),
        Exhibit("rotate(-90)", RotationImageProcessor(angle: .pi / 2)),
        Exhibit("flip(h)", FlippingImageProcessor(horizontal: true, vertical: false)),
        Exhibit("flip(v)", FlippingImageProcessor(horizontal: false, vertical: true)),
    ]

    private static let colors = [
        Exhibit("blur(6)", GaussianBlurImageProcessor(sigma: 6)),
        Exhibit("sharpen(2,1.5)", SharpeningImageProcessor(sigma: 2, amount: 1.5)),
        Exhibit("overlay(#e98a2b,0.4)", OverlayImageProcessor(overlay: color(0xE98A2B), fraction: 0.4)),
        Exhibit("tint(#1386c480)", TintImageProcessor(tint: color(0x1386C4).withAlphaComponent(128 / 255))),
        Exhibit(
            "colors(0,1.2,1.8,0.3)",
            ColorControlsProcessor(brightness: 0, contrast: 1.2, saturation: 1.8, inputEV: 0.3)
        ),
        Exhibit("grayscale()", ColorControlsProcessor(brightness: 0, contrast: 1, saturation: 0, inputEV: 0)),
        Exhibit("bw()", BlackWhiteProcessor()),
    ]

    private static let mixtures = [
        Exhibit("blend(multiply,#f0b060)", blend(.multiply, 0xF0B060)),
        Exhibit("blend(screen,#204080)", blend(.screen, 0x204080)),
        Exhibit("blend(overlay,#c04080)", blend(.overlay, 0xC04080)),
        Exhibit("blend(hardLight,0.7,#8040c0)", blend(.hardLight, 0x8040C0, alpha: 0.7)),
        Exhibit("blend(difference,white)", blend(.difference, 0xFFFFFF)),
        Exhibit("blend(luminosity,#3080c0)", blend(.luminosity, 0x3080C0)),
        Exhibit("composite(sourceOver,#ffe0a0)", composite(.sourceOver, 0xFFE0A0), on: .bird),
        Exhibit("composite(destinationOut,#1386c4)", composite(.destinationOut, 0x1386C4), on: .bird),
        Exhibit("composite(xor,0.6,#1386c4)", composite(.xor, 0x1386C4, alpha: 0.6), on: .bird),
        Exhibit("composite(sourceAtop,0.5,#7030a0)", composite(.sourceAtop, 0x7030A0, alpha: 0.5), on: .bird),
        Exhibit("composite(plusLighter,#402060)", composite(.plusLighter, 0x402060), on: .bird),
    ]

    static func size(_ width: CGFloat, _ height: CGFloat) -> CGSize { CGSize(width: width, height: height) }

    private static func color(_ hex: Int) -> Color {
        func channel(_ shift: Int) -> CGFloat { CGFloat(hex >> shift & 255) / 255 }
        return Color(red: channel(16), green: channel(8), blue: channel(0))
    }

    private static func enlarging(with filter: ResamplingFilter) -> any ImageProcessor {
        ResizingImageProcessor(referenceSize: size(24, 18), space: .linear)
            |> ResizingImageProcessor(referenceSize: size(240, 180), filter: filter, space: .linear)
    }

    private static func blend(_ mode: CGBlendMode, _ hex: Int, alpha: CGFloat = 1) -> any ImageProcessor {
        BlendImageProcessor(blendMode: mode, alpha: alpha, backgroundColor: color(hex))
    }

    private static func composite(
        _ operation: NSCompositingOperation,
        _ hex: Int,
        alpha: CGFloat = 1
    ) -> any ImageProcessor {
        CompositingImageProcessor(compositingOperation: operation, alpha: alpha, backgroundColor: color(hex))
    }
}
