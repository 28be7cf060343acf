// The C libraries of this build, each of which may have been missing when it was compiled. For the registry of codecs,
// and for code that calls a library without a codec.

import CKFCodecs

/// A library that formats or operations take.
package enum BuiltInLibrary: Sendable, CaseIterable {
    case jpeg, png, webp, avif, tiff
    /// Writes GIF; reading it is code of ours.
    case cgif
    /// Inflates PNG faster than libpng.
    case deflate
    /// Converts colours of other profiles than sRGB; without it they are shown as if they were of sRGB.
    case lcms
    /// Blends images.
    case cairo

    /// Whether it was there when this was compiled.
    package var isThere: Bool {
        switch self {
        case .jpeg: kf_has_library(KF_LIBRARY_JPEG)
        case .png: kf_has_library(KF_LIBRARY_PNG)
        case .webp: kf_has_library(KF_LIBRARY_WEBP)
        case .avif: kf_has_library(KF_LIBRARY_AVIF)
        case .tiff: kf_has_library(KF_LIBRARY_TIFF)
        case .cgif: kf_has_library(KF_LIBRARY_CGIF)
        case .deflate: kf_has_library(KF_LIBRARY_DEFLATE)
        case .lcms: kf_has_library(KF_LIBRARY_LCMS)
        case .cairo: Self.isCairoThere
        }
    }

    private static var isCairoThere: Bool {
        #if canImport(CKFCairo)
        true
        #else
        false
        #endif
    }

    /// The package of Debian and Ubuntu that has its headers.
    package var package: String {
        switch self {
        case .jpeg: "libjpeg-dev"
        case .png: "libpng-dev"
        case .webp: "libwebp-dev"
        case .avif: "libavif-dev"
        case .tiff: "libtiff-dev"
        case .cgif: "libcgif-dev"
        case .deflate: "libdeflate-dev"
        case .lcms: "liblcms2-dev"
        case .cairo: "libcairo2-dev"
        }
    }

    /// The library without which a format is not read; nil for those that are code of ours, or have a trait.
    static func reading(_ type: ImageContentType) -> BuiltInLibrary? {
        switch type {
        case .jpeg: .jpeg
        case .png: .png
        case .webp: .webp
        case .avif, .heif: .avif
        case .tiff: .tiff
        default: nil
        }
    }

    /// The library without which a format is not written.
    static func writing(_ type: ImageContentType) -> BuiltInLibrary? {
        switch type {
        case .gif: .cgif
        case .ico: .png
        default: reading(type)
        }
    }
}
