// Every cell of the gallery: what `kf process` calls it, and the same in Swift.
import Foundation
import Kingfisher

func size(_ width: CGFloat, _ height: CGFloat) -> CGSize { CGSize(width: width, height: height) }
let blue = KFCrossPlatformColor(red: 0.07, green: 0.53, blue: 0.77)
let orange = KFCrossPlatformColor.orange
let cream = KFCrossPlatformColor(red: 1, green: 0.88, blue: 0.63)

// snippet.sizes
let sizes: [any ImageProcessor] = [
    // the image
    DefaultImageProcessor.default,
    // resize(120x120,aspectFit)
    ResizingImageProcessor(referenceSize: size(120, 120), mode: .aspectFit),
    // resize(240x90)
    ResizingImageProcessor(referenceSize: size(240, 90)),
    // resize(24x18)|>resize(240x180,filter=nearest)
    ResizingImageProcessor(referenceSize: size(24, 18))
        |> ResizingImageProcessor(referenceSize: size(240, 180), filter: .nearest),
    // resize(24x18)|>resize(240x180,filter=lanczos3)
    ResizingImageProcessor(referenceSize: size(24, 18))
        |> ResizingImageProcessor(referenceSize: size(240, 180), filter: .lanczos3),
    // downsample(100x100)
    DownsamplingImageProcessor(size: size(100, 100)),
    // thumbnail(120x90)
    ThumbnailImageProcessor(size: size(120, 90)),
    // thumbnail(120x120,fill)
    ThumbnailImageProcessor(size: size(120, 120), mode: .fill),
    // thumbnail(100x160,fill,anchor=smart)
    ThumbnailImageProcessor(size: size(100, 160), mode: .fill, anchor: .smart),
    // crop(120x120)
    CroppingImageProcessor(size: size(120, 120)),
    // crop(120x90,0,1)
    CroppingImageProcessor(size: size(120, 90), anchor: CGPoint(x: 0, y: 1)),
    // smartcrop(100x100)
    SmartCroppingImageProcessor(size: size(100, 100)),
    // pad(200x180,#1386c4)
    CanvasResizingImageProcessor(size: size(200, 180), scaleMode: .aspectFit, backgroundColor: blue),
    // trim()
    TrimmingImageProcessor(),
]
// snippet.end

// snippet.shapes
let shapes: [any ImageProcessor] = [
    // round(40)
    RoundCornerImageProcessor(cornerRadius: 40),
    // round(25%,corners=tl+br,background=#1386c4)
    RoundCornerImageProcessor(
        radius: .widthFraction(0.25),
        roundingCorners: [.topLeft, .bottomRight],
        backgroundColor: blue
    ),
    // circle()
    CircleImageProcessor(),
    // border(10,orange,30)
    BorderImageProcessor(border: Border(color: orange, lineWidth: 10, radius: .point(30))),
    // rotate(15): degrees, clockwise; in Swift radians, counterclockwise
    RotationImageProcessor(angle: -15 * .pi / 180),
    // rotate(-90)
    RotationImageProcessor(angle: .pi / 2),
    // flip(h)
    FlippingImageProcessor(horizontal: true, vertical: false),
    // flip(v)
    FlippingImageProcessor(horizontal: false, vertical: true),
]
// snippet.end

// snippet.colors
let colors: [any ImageProcessor] = [
    // blur(6)
    BlurImageProcessor(blurRadius: 6),
    // sharpen(2,1.5)
    SharpeningImageProcessor(sigma: 2, amount: 1.5),
    // overlay(#e98a2b,0.4)
    OverlayImageProcessor(overlay: orange, fraction: 0.4),
    // tint(#1386c480)
    TintImageProcessor(tint: blue.withAlphaComponent(0.5)),
    // colors(0,1.2,1.8,0.3)
    ColorControlsProcessor(brightness: 0, contrast: 1.2, saturation: 1.8, inputEV: 0.3),
    // grayscale()
    ColorControlsProcessor(brightness: 0, contrast: 1, saturation: 0, inputEV: 0),
    // bw()
    BlackWhiteProcessor(),
]
// snippet.end

// snippet.mixtures
let mixtures: [any ImageProcessor] = [
    // blend(multiply,#f0b060)
    BlendImageProcessor(blendMode: .multiply, backgroundColor: orange),
    // blend(screen,#204080)
    BlendImageProcessor(blendMode: .screen, backgroundColor: blue),
    // blend(overlay,#c04080)
    BlendImageProcessor(blendMode: .overlay, backgroundColor: .magenta),
    // blend(hardLight,0.7,#8040c0)
    BlendImageProcessor(blendMode: .hardLight, alpha: 0.7, backgroundColor: .purple),
    // blend(difference,white)
    BlendImageProcessor(blendMode: .difference, backgroundColor: .white),
    // blend(luminosity,#3080c0)
    BlendImageProcessor(blendMode: .luminosity, backgroundColor: blue),
    // composite(sourceOver,#ffe0a0)
    CompositingImageProcessor(compositingOperation: .sourceOver, backgroundColor: cream),
    // composite(destinationOut,#1386c4)
    CompositingImageProcessor(compositingOperation: .destinationOut, backgroundColor: blue),
    // composite(xor,0.6,#1386c4)
    CompositingImageProcessor(compositingOperation: .xor, alpha: 0.6, backgroundColor: blue),
    // composite(sourceAtop,0.5,#7030a0)
    CompositingImageProcessor(compositingOperation: .sourceAtop, alpha: 0.5, backgroundColor: .purple),
    // composite(plusLighter,#402060)
    CompositingImageProcessor(compositingOperation: .plusLighter, backgroundColor: .purple),
]
// snippet.end

// snippet.chain
let badge =
    ThumbnailImageProcessor(size: size(96, 96), mode: .fill, anchor: .smart)
    |> RoundCornerImageProcessor(radius: .widthFraction(0.5))
    |> BorderImageProcessor(border: Border(color: .white, lineWidth: 3, radius: .widthFraction(0.5)))

func badge(of image: KFCrossPlatformImage) -> KFCrossPlatformImage? {
    badge.process(item: .image(image), options: KingfisherParsedOptionsInfo())
}

func badge(of url: URL) async throws -> KFCrossPlatformImage {
    try await KF.url(url).setProcessor(badge).serialize(as: .PNG).retrieve().image
}
// snippet.end
