// Pixels in the size that a toolkit draws them in, made off the main thread.

package import KFImaging
import KFSupport

extension Bitmap {
    /// The pixels in another size, reduced by the Lanczos filter; nil when there is not enough memory.
    package func reducedOffMain(to size: PixelSize) async -> Bitmap? {
        await WorkExecutor.cpu.run { try? self.resampled(to: size, filter: .lanczos3) }
    }
}
