// Processors whose work can be done in strips, on images that are too large to be held as a whole. For results that are
// encoded, and for kf.

package import Foundation
package import KFImaging

/// A processor whose work can be done in strips, at a scale of one: points are pixels.
package protocol StripImageProcessor: ImageProcessor {
    /// Adds the work to that of an image.
    ///
    /// - Returns: Whether it can be done so, and with the same result; the image is of no use if not.
    func addSteps(to image: inout StripImage) -> Bool
}

extension ImageProcessor {
    /// A large image of some bytes with the work of this processor, in strips; nil where bitmaps are right.
    ///
    /// - Parameters:
    ///   - data: The bytes.
    ///   - isMapped: Whether they are a file that is mapped, and begin where a page does: strips let go of its pages.
    ///   - options: The options of the load.
    /// - Returns: The image.
    package func strips(
        of data: Data,
        isMapped: Bool = false,
        _ options: KingfisherParsedOptionsInfo
    ) -> StripImage? {
        guard options.scaleFactor == 1, var image = StripImage(data, limits: options.limits), image.add(self) else {
            return nil
        }
        image.isMapped = isMapped
        return image.isLarge || isMapped ? image : nil
    }
}

extension StripImage {
    /// Adds the work of a processor, or of several in a row.
    mutating func add(_ processor: any ImageProcessor) -> Bool {
        let processor = processor.named
        if let steps = processor.lastStep { return add(steps.before) && add(steps.last) }
        return (processor as? any StripImageProcessor)?.addSteps(to: &self) ?? false
    }

    /// The size in points.
    fileprivate var points: CGSize { CGSize(width: size.width, height: size.height) }
}

extension DefaultImageProcessor: StripImageProcessor {
    package func addSteps(to image: inout StripImage) -> Bool { true }
}

extension CroppingImageProcessor: StripImageProcessor {
    package func addSteps(to image: inout StripImage) -> Bool {
        image.crop(to: image.points.constrainedRect(for: size, anchor: anchor))
        return true
    }
}

extension RectCroppingImageProcessor: StripImageProcessor {
    package func addSteps(to image: inout StripImage) -> Bool {
        image.crop(to: rect)
        return true
    }
}

extension ResizingImageProcessor: StripImageProcessor {
    package func addSteps(to image: inout StripImage) -> Bool {
        let target = Geometry.canvas(points: image.points.resized(to: referenceSize, for: targetContentMode), scale: 1)
        return target.map { image.resize(to: $0, filter: filter, in: space) } ?? false
    }
}

extension DownsamplingImageProcessor: StripImageProcessor {
    package func addSteps(to image: inout StripImage) -> Bool {
        image.reduce(toLongerSide: longerSide(scale: 1))
        return true
    }
}

extension SharpeningImageProcessor: StripImageProcessor {
    package func addSteps(to image: inout StripImage) -> Bool {
        image.sharpen(sigma: Double(sigma), amount: Double(amount))
    }
}
