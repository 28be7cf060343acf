// Filters that users write themselves, and two that are built in. Knows `FilterImage`, and no bytes.

public import Foundation
public import KFImaging

/// Makes a picture out of a picture; nil leaves it as it is.
public typealias Transformer = @Sendable (FilterImage) -> FilterImage?

/// A calculation on a picture's pixels as numbers.
///
/// Every pixel takes 16 bytes while a filter runs: for what the other processors do, they are faster.
public struct Filter: Sendable {
    /// What the pixels' numbers stand for.
    public typealias WorkingSpace = KFImaging.WorkingSpace

    /// What the filter does.
    public let transform: Transformer
    /// What the numbers that it is given stand for.
    public let workingSpace: WorkingSpace

    /// Creates a filter.
    ///
    /// - Parameters:
    ///   - workingSpace: What the numbers that `transform` is given stand for.
    ///   - transform: Called on a thread for pixel work, never on the caller's own of a load.
    public init(workingSpace: WorkingSpace = .linear, transform: @escaping Transformer) {
        self.workingSpace = workingSpace
        self.transform = transform
    }

    /// Four numbers that change colours.
    public struct ColorElement: Sendable, Hashable {
        /// What is added to every component; 0 changes nothing.
        public var brightness: CGFloat
        /// By what distances from the middle are multiplied; 1 changes nothing.
        public var contrast: CGFloat
        /// By what distances from grey are multiplied; 1 changes nothing, 0 leaves greys.
        public var saturation: CGFloat
        /// How many times the light is doubled; 0 changes nothing.
        public var inputEV: CGFloat

        /// Four numbers.
        ///
        /// - Parameters:
        ///   - brightness: What is added to every component; 0 changes nothing.
        ///   - contrast: By what distances from the middle are multiplied; 1 changes nothing.
        ///   - saturation: By what distances from grey are multiplied; 1 changes nothing, 0 leaves greys.
        ///   - inputEV: How many times the light is doubled; 0 changes nothing.
        public init(brightness: CGFloat, contrast: CGFloat, saturation: CGFloat, inputEV: CGFloat) {
            self.brightness = brightness
            self.contrast = contrast
            self.saturation = saturation
            self.inputEV = inputEV
        }
    }

    /// The filter that lays a colour over a picture.
    public static let tint: @Sendable (KFCrossPlatformColor) -> Filter = { color in
        Filter { $0.tinted(with: color) }
    }

    /// The filter that changes brightness, contrast, saturation and exposure.
    public static let colorControl: @Sendable (ColorElement) -> Filter = { element in
        Filter { picture in
            picture.adjusted(
                ColorAdjustment(
                    brightness: Double(element.brightness),
                    contrast: Double(element.contrast),
                    saturation: Double(element.saturation),
                    inputEV: Double(element.inputEV),
                    in: picture.workingSpace
                )
            )
        }
    }
}

/// A processor that runs a filter.
///
/// Give it an identifier and a filter; the rest is there.
public protocol CIImageProcessor: ImageProcessor {
    /// What is done to images.
    var filter: Filter { get }
}

extension CIImageProcessor {
    /// The image as the filter changes it; data is decoded first.
    ///
    /// - Parameters:
    ///   - item: Data to decode or an image.
    ///   - options: Names the scale for data.
    /// - Returns: The image, or nil for data that cannot be decoded.
    public func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        switch item {
        case .image(let image): image.kf.apply(filter)
        case .data: DefaultImageProcessor.default.process(item: item, options: options)?.kf.apply(filter)
        }
    }
}

/// Runs one filter on images.
public struct FilterImageProcessor: CIImageProcessor {
    /// What is done to images.
    public let filter: Filter
    /// Names the filter down to its parameters, and its working space unless that is the default.
    public let identifier: String

    /// Creates a processor.
    ///
    /// - Parameters:
    ///   - filter: What is done to images.
    ///   - identifier: Names the filter down to its parameters: it becomes a part of cache keys.
    public init(filter: Filter, identifier: String) {
        self.filter = filter
        self.identifier = identifier + filter.workingSpace.identifierText
    }
}
