// What toolkits need of an image beside showing it: the bytes that it was decoded from, which are given to other
// programs, and its pixels in the size in which they are drawn.

package import Foundation
package import KFImaging
import KFSupport

extension KFCrossPlatformImageView {
    /// The bytes that an image of this view was decoded from; nil when it has been processed, or they are not at hand.
    ///
    /// The bytes of an animation are with the image; the bytes of other images are on disk if the view's last load put
    /// them there.
    package func originalBytes(of image: KFCrossPlatformImage) async -> Data? {
        if let animation = image.animatedData { return animation }
        guard image.isUnprocessed || image.isReduced && image === loadedImage, let original = storedOriginal else {
            return nil
        }
        return await WorkExecutor.io.run {
            original.bytes().flatMap { image.isReduced || image.isDecoded(from: $0) ? $0 : nil }
        }
    }

    /// The image with all the pixels that its original bytes have; the image itself unless it has fewer.
    package func wholeImage(of image: KFCrossPlatformImage, decodedFrom bytes: Data) async -> KFCrossPlatformImage {
        guard image.isReduced else { return image }
        let options = DecodingOptions(scale: image.scale)
        return await WorkExecutor.cpu.run { try? Codecs.decode(bytes, options: options) } ?? image
    }
}

extension KFCrossPlatformImage {
    /// Whether a zoom view had it decoded with fewer pixels than its original has.
    fileprivate var isReduced: Bool { metadata.reducedFrom != nil }
}

extension Bitmap {
    /// The pixels in another size, reduced by the Lanczos filter; nil when there is not enough memory.
    package func reducedOffMain(to size: PixelSize) async -> Bitmap? {
        await WorkExecutor.cpu.run { try? self.resampled(to: size, filter: .lanczos3) }
    }
}
