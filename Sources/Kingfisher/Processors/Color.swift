// Processors that change colours one by one. The pixel work is in KFImaging.

public import Foundation
public import KFImaging

extension WorkingSpace {
    /// The suffix of identifiers that stands for the space; empty for the default one.
    var identifierText: String { self == .linear ? "" : "_encoded" }
}

/// Changes brightness, contrast, saturation and exposure of images, in linear light unless `workingSpace` says
/// otherwise.
public struct ColorControlsProcessor: ImageProcessor {
    /// Names the four numbers.
    public let identifier: String
    /// The number added to every component; 0 changes nothing.
    public let brightness: CGFloat
    /// The factor for distances from the middle; 1 changes nothing.
    public let contrast: CGFloat
    /// The factor for distances from grey; 1 changes nothing, 0 leaves greys.
    public let saturation: CGFloat
    /// How many times the light is doubled; 0 changes nothing.
    public let inputEV: CGFloat
    /// The space the calculation is done in.
    public let workingSpace: WorkingSpace

    /// Creates a processor.
    ///
    /// Numbers that are NaN or infinite change nothing.
    public init(
        brightness: CGFloat,
        contrast: CGFloat,
        saturation: CGFloat,
        inputEV: CGFloat,
        workingSpace: WorkingSpace = .linear
    ) {
        self.brightness = brightness
        self.contrast = contrast
        self.saturation = saturation
        self.inputEV = inputEV
        self.workingSpace = workingSpace
        let numbers = [brightness, contrast, saturation, inputEV].map(\.identifierText).joined(separator: "_")
        identifier = "com.onevcat.Kingfisher.ColorControlsProcessor(\(numbers))" + workingSpace.identifierText
    }

    /// The image in its new colours; data is decoded first.
    public func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        let adjustment = ColorAdjustment(
            brightness: Double(brightness),
            contrast: Double(contrast),
            saturation: Double(saturation),
            inputEV: Double(inputEV),
            in: workingSpace
        )
        return DefaultImageProcessor.default.process(item: item, options: options)?.adjusted(adjustment)
    }
}

/// Takes the colours out of images, and brightens them a little.
public struct BlackWhiteProcessor: ImageProcessor {
    /// Always the same, except for the working space.
    public let identifier: String
    private let controls: ColorControlsProcessor

    /// Creates a processor.
    public init(workingSpace: WorkingSpace = .linear) {
        identifier = "com.onevcat.Kingfisher.BlackWhiteProcessor" + workingSpace.identifierText
        controls = ColorControlsProcessor(
            brightness: 0,
            contrast: 1,
            saturation: 0,
            inputEV: 0.7,
            workingSpace: workingSpace
        )
    }

    /// The image in greys; data is decoded first.
    public func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        controls.process(item: item, options: options)
    }
}

/// Lays a colour over images, in linear light unless `workingSpace` says otherwise.
///
/// Transparent pixels are tinted too: an opaque colour gives a rectangle. With a blend mode, the mode decides where the
/// colour goes: `CGBlendMode/sourceIn` makes a stencil of the image, as icons need it.
public struct TintImageProcessor: ImageProcessor {
    /// Names the colour, and the blend mode if there is one.
    public let identifier: String
    /// The colour; its opacity says how much of the image is left.
    public let tint: KFCrossPlatformColor
    /// The space the calculation is done in; with a blend mode always `WorkingSpace/encoded`.
    public let workingSpace: WorkingSpace
    /// How colour and image are combined; nil lays the colour over everything.
    public let blendMode: CGBlendMode?

    /// Creates a processor.
    public init(tint: KFCrossPlatformColor, workingSpace: WorkingSpace = .linear) {
        self.tint = tint
        self.workingSpace = workingSpace
        blendMode = nil
        identifier =
            "com.onevcat.Kingfisher.TintImageProcessor(\(tint.identifierText))" + workingSpace.identifierText
    }

    /// Creates a processor that blends; it calculates in encoded sRGB, as all blending processors do.
    ///
    /// - Parameters:
    ///   - tint: The colour, which is the source; its opacity counts.
    ///   - blendMode: How it and the image, the destination, are combined. `CGBlendMode/sourceIn` leaves nothing but
    ///     the colour, where the image is.
    public init(tint: KFCrossPlatformColor, blendMode: CGBlendMode) {
        self.tint = tint
        self.blendMode = blendMode
        workingSpace = .encoded
        identifier = "com.onevcat.Kingfisher.TintImageProcessor(\(tint.identifierText)_\(blendMode.rawValue))"
    }

    /// The tinted image; data is decoded first.
    public func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        let image = DefaultImageProcessor.default.process(item: item, options: options)
        guard let blendMode else { return image?.tinted(with: tint, in: workingSpace) }
        return image?.tinted(with: tint, blendMode)
    }
}
