// What programs set and ask about decoding: the limits in force where none are named, and how decoders are locked.
// Here, since either may start a decoder.

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
    /// (`PixelThreads.count`). May be set from any thread; a decoding that is under way goes on with the limits it
    /// began with. With an ``isolation`` a decoder is started ahead, for the first image.
    public static var `default`: ImageDecodingLimits {
        get { current.withLock { $0 } }
        set {
            DecodingIsolation.inForce = newValue.isolation
            current.withLock { $0 = newValue }
            if newValue.isolation != .inProcess { DecoderPool.shared.prepare() }
        }
    }
}

extension DecodingIsolation {
    /// What the isolation of decoders comes to on this machine. (Not in Kingfisher.)
    public struct Status: Sendable, Hashable {
        /// The path of the program that is started as a decoder; nil when there is none.
        public let program: String?
        /// The version of the Landlock that keeps a decoder from files (from 1 on), from TCP (from 4 on), and from
        /// signals and abstract Unix sockets (from 6 on); 0 when the kernel has none.
        public let landlock: Int
        /// Whether its system calls are filtered, without which a decoder is not used.
        public let seccomp: Bool
        /// Whether the number of its files, their size and its core dumps are limited; its memory always is.
        public let limits: Bool
        /// Why images cannot be decoded in processes of their own, and what to do; nil when they can.
        public let obstacle: String?
    }

    /// The status of decoders, whether they are used or not.
    ///
    /// The first time a decoder is started, and the thread is blocked until it has.
    public static var status: Status {
        let availability = DecoderPool.shared.availability()
        return Status(
            program: availability.path,
            landlock: availability.greeting?.landlock ?? 0,
            seccomp: availability.greeting?.seccomp ?? false,
            limits: availability.greeting?.limits ?? false,
            obstacle: availability.obstacle
        )
    }
}
