// Colour profiles, and the conversions that bring their colours to sRGB.

import CKFCodecs
import Foundation

/// A conversion of pixels to sRGB.
final class ColorTransform: Sendable {
    private enum Method {
        case profiles(ProfileTransform)
        case toneMapping(ToneMapping)
    }
    private let method: Method

    fileprivate init(_ transform: ProfileTransform) { method = .profiles(transform) }
    fileprivate init(_ mapping: ToneMapping) { method = .toneMapping(mapping) }

    /// Converts pixels in place.
    func apply(_ pixels: UnsafeMutablePointer<UInt8>, count: Int) {
        switch method {
        case .profiles(let transform): transform.apply(pixels, count: count)
        case .toneMapping(let mapping): mapping.apply(pixels, count: count)
        }
    }
}

/// The conversion between two profiles, by lcms.
private final class ProfileTransform: Sendable {
    // SAFETY: any number of threads may convert at one time: `cmsDoTransform` only reads the transform, its cache
    // of the last pixel is copied to the stack. `deinit` closes the handle, after the last reference to it has gone.
    private nonisolated(unsafe) let handle: OpaquePointer

    init(_ handle: OpaquePointer) { self.handle = handle }
    deinit { kf_transform_close(handle) }

    func apply(_ pixels: UnsafeMutablePointer<UInt8>, count: Int) { kf_transform_apply(handle, pixels, count) }
}

/// A file's description of its colours.
enum ColorProfile: Hashable {
    case icc(Data)
    /// White, red, green, blue as x, y pairs; a display gamma, or 0 for the curve of sRGB.
    case primaries([Double], gamma: Double)
    /// The same with a curve that reaches beyond white, which no profile describes.
    case highDynamicRange([Double], HDRTransferFunction)

    /// The kinds of pixels that profiles distinguish.
    enum Pixels: Hashable {
        case grey
        case rgb
        case cmyk(inverted: Bool)
    }

    /// The conversion to sRGB; nil when there is nothing to convert, or no sensible conversion.
    func transform(for pixels: Pixels) -> ColorTransform? {
        ColorTransformCache.shared.transform(of: self, for: pixels) { makeTransform(for: pixels) }
    }

    /// The profile's own name.
    var name: String? {
        // Those that we make have no name of their own.
        guard case .icc = self, let profile = open() else { return nil }
        defer { kf_profile_close(profile) }
        let name = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 400) { buffer -> String in
            guard let start = buffer.baseAddress else { return "" }
            let length = kf_profile_name(profile, start, buffer.count)
            return String(decoding: UnsafeRawBufferPointer(start: start, count: length), as: UTF8.self)
        }
        return name.isEmpty ? nil : name
    }

    private func open() -> OpaquePointer? {
        guard BuiltInLibrary.lcms.isThere else { return nil }
        return switch self {
        case .icc(let data): data.withUnsafeBytes { kf_profile_open($0.start, $0.count) }
        case .primaries(let values, let gamma): values.count == 8 ? kf_profile_rgb(values, gamma) : nil
        case .highDynamicRange: nil
        }
    }

    private func makeTransform(for pixels: Pixels) -> ColorTransform? {
        if case .highDynamicRange(let values, let curve) = self {
            return ToneMapping(chromaticities: values, curve).map { ColorTransform($0) }
        }
        guard let profile = open() else { return nil }
        defer { kf_profile_close(profile) }
        var inverted = false
        switch (kf_profile_space(profile), pixels) {
        case (KF_SPACE_RGB, .rgb), (KF_SPACE_RGB, .grey), (KF_SPACE_GREY, .grey): break
        case (KF_SPACE_CMYK, .cmyk(let isInverted)): inverted = isInverted
        // A profile of another kind of pixels is a mistake in the file.
        default: return nil
        }
        if kf_profile_is_srgb(profile) { return nil }
        return kf_transform_open(profile, inverted).map { ColorTransform(ProfileTransform($0)) }
    }
}
