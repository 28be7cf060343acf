// What processors are to the library beside making images: chains, wrappers, limits of a size. For processors and
// loads.

import Foundation

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
