// Where images are decoded: here, or in processes that can do nothing else.

import KFSupport

/// Whether images are decoded in this process, or in decoder processes that are locked.
///
/// Formats are decoded by C libraries, and a crafted file may exploit a fault of theirs to run code in that process.
/// A decoder process has nothing worth taking: it cannot open files, connect, or start programs (Landlock and seccomp), its
/// memory is limited, and this process believes nothing of what it says beyond the pixels. What it can still do is
/// to give wrong pixels. When it crashes or takes too long, that costs the one image: ``ImagingError/decoderEnded(_:reason:)``.
///
/// The program is `kf-decoder`. It is looked for where the variable `KF_DECODER` says, then beside the program or in
/// `../libexec` and `../libexec/kingfisher`. A program that depends on the product `KingfisherDecoder` and calls
/// `EmbeddedDecoder.start()` as the first thing it does needs no other program.
///
/// Isolated are all built-in formats, their headers and their frames. Coders of your own (``ImageCoder``) run in this
/// process, and so does encoding. Previews of progressive JPEGs that still arrive are not made.
public enum DecodingIsolation: String, Sendable, Hashable, CaseIterable {
    /// Images are decoded in this process.
    case inProcess
    /// Images are decoded in decoder processes where these can be had; otherwise in this process, which says so once on
    /// standard error.
    case sandboxed
    /// Images are decoded in decoder processes or not at all: ``ImagingError/isolationUnavailable(detail:)``.
    case required

    private static let current = Locked(DecodingIsolation.inProcess)

    /// The isolation of limits that are made from now on; set with ``ImageDecodingLimits/default``.
    static var inForce: DecodingIsolation {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }
}
