// The limits in force where none are named. Here, since setting them may start a decoder.

import KFSupport

extension ImageDecodingLimits {
    private static let current = Locked(initial())

    /// The limits until some are set.
    ///
    /// Not inlined: Swift 6.3.1 with -O makes zeros of a static lock around a struct of more than 48 bytes whose values
    /// it knows.
    @inline(never) private static func initial() -> ImageDecodingLimits { ImageDecodingLimits() }

    /// The limits of everything that is decoded in this process without limits of its own, by loads, caches and
    /// processors too.
    ///
    /// A server that decodes images from untrusted sources sets them once, at its start, to what its memory allows: an
    /// image takes 4 bytes a pixel, and as many images are decoded at a time as there are threads for them
    /// (`PixelThreads.count`). May be set from any thread; a decoding that is under way goes on with the limits it began
    /// with. With an ``isolation`` a decoder is started ahead, for the first image.
    public static var `default`: ImageDecodingLimits {
        get { current.withLock { $0 } }
        set {
            DecodingIsolation.inForce = newValue.isolation
            current.withLock { $0 = newValue }
            if newValue.isolation != .inProcess { DecoderPool.shared.prepare() }
        }
    }
}
