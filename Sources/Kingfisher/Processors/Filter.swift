// Filters that users write themselves, two that are built in, and the processors that run filters.

public import Foundation
public import KFImaging

/// Makes an image out of an image; nil leaves it unchanged.
public typealias Transformer = @Sendable (FilterImage) -> FilterImage?

/// A calculation on an image's pixels as numbers.
///
/// Every pixel takes 16 bytes while a filter runs: where another processor does the same, it is faster.
public struct Filter: Sendable {
    /// The space of the pixels' numbers: linear light or encoded sRGB.
    public typealias WorkingSpace = KFImaging.WorkingSpace

    /// The calculation.
    public let transform: Transformer
    /// The space of the numbers that it is given.
    public let workingSpace: WorkingSpace

    /// Creates a filter.
    ///
    /// - Parameters:
    ///   - workingSpace: The space of the numbers that `transform` is given.
    ///   - transform: The calculation; called on a thread for pixel work, never on the thread that started a load.
    public init(workingSpace: WorkingSpace = .linear, transform: @escaping Transformer) {
        self.workingSpace = workingSpace
        self.transform = transform
    }

    /// Four numbers that change colours.
    public struct ColorElement: Sendable, Hashable {
        /// The number added to every component; 0 changes nothing.
        public var brightness: CGFloat
        /// The factor for distances from the middle; 1 changes nothing.
        public var contrast: CGFloat
        /// The factor for distances from grey; 1 changes nothing, 0 leaves greys.
        public var saturation: CGFloat
        /// How many times the light is doubled; 0 changes nothing.
        public var inputEV: CGFloat

        /// Four numbers.
        public init(brightness: CGFloat, contrast: CGFloat, saturation: CGFloat, inputEV: CGFloat) {
            self.brightness = brightness
            self.contrast = contrast
            self.saturation = saturation
            self.inputEV = inputEV
        }
    }

    /// The filter that lays a colour over an image.
    public static let tint: @Sendable (KFCrossPlatformColor) -> Filter = { color in
        Filter { $0.tinted(with: color) }
    }

    /// The filter that changes brightness, contrast, saturation and exposure.
    public static let colorControl: @Sendable (ColorElement) -> Filter = { element in
        Filter { image in
            image.adjusted(
                ColorAdjustment(
                    brightness: Double(element.brightness),
                    contrast: Double(element.contrast),
                    saturation: Double(element.saturation),
                    inputEV: Double(element.inputEV),
                    in: image.workingSpace
                )
            )
        }
    }
}

/// A processor that runs a filter.
///
/// A conforming type needs an identifier and a filter only.
public protocol CIImageProcessor: ImageProcessor {
    /// The filter that is applied to images.
    var filter: Filter { get }
}

extension CIImageProcessor {
    /// The image as the filter changes it; data is decoded first.
    public func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        switch item {
        case .image(let image): image.kf.apply(filter)
        case .data: DefaultImageProcessor.default.process(item: item, options: options)?.kf.apply(filter)
        }
    }
}

/// Runs one filter on images.
public struct FilterImageProcessor: CIImageProcessor {
    /// The filter that is applied to images.
    public let filter: Filter
    /// Names the filter down to its parameters, and its working space unless that is the default.
    public let identifier: String

    /// Creates a processor.
    ///
    /// - Parameters:
    ///   - filter: The filter that is applied to images.
    ///   - identifier: Names the filter down to its parameters: it becomes a part of cache keys.
    public init(filter: Filter, identifier: String) {
        self.filter = filter
        self.identifier = identifier + filter.workingSpace.identifierText
    }
}
