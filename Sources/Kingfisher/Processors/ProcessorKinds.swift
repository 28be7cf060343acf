// What processors are to the library beside making images: chains, wrappers, limits of a size, weights. For processors
// and loads.

public import Foundation

func == (left: any ImageProcessor, right: any ImageProcessor) -> Bool { left.identifier == right.identifier }

func != (left: any ImageProcessor, right: any ImageProcessor) -> Bool { !(left == right) }

/// A processor that is several in a row.
protocol ChainedImageProcessor: ImageProcessor {
    /// See ``ImageProcessor/lastStep``.
    var steps: (before: any ImageProcessor, last: any ImageProcessor)? { get }
}

/// A processor that decodes data to a smaller size, and does nothing else to it.
protocol SizeLimitingImageProcessor: ImageProcessor {
    /// The longer side of the result, in pixels; 0 limits nothing.
    func longerSide(scale: CGFloat) -> Int
}

/// A processor that knows from the bytes of an image how much work it is.
@_spi(Server) public protocol WeighingImageProcessor: ImageProcessor {
    /// Called once the bytes are there, before they wait for a thread on which pixels are made.
    func weight(of data: Data) -> ImageWeight
}

/// How much work an image is.
@_spi(Server) public enum ImageWeight: Sendable {
    /// It is made in the order in which it came.
    case small
    /// Smaller ones of the same priority go first, and never wait for it.
    case large
    /// It is not made: its load fails as if the processor had made no image.
    case refused
}

/// A processor that the options of a load have put around the one they name.
protocol WrappingImageProcessor: ImageProcessor {
    var base: any ImageProcessor { get }
}

extension ImageProcessor {
    /// The processor that the options name, for errors.
    var named: any ImageProcessor { (self as? any WrappingImageProcessor)?.base.named ?? self }

    /// The last processor of several in a row, and the one that stands for those before it; nil if there is one only.
    ///
    /// The image before the last one has a key of its own: the last one has an identifier.
    var lastStep: (before: any ImageProcessor, last: any ImageProcessor)? {
        (self as? any ChainedImageProcessor)?.steps
    }

    /// The processor that is given the data: the first of several in a row.
    var firstStep: any ImageProcessor { lastStep?.before.firstStep ?? self }
}
