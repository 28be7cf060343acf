// Turns C's statuses into Swift's errors, C's memory into data, and what is written beside pixels into bytes for C. For
// the codecs.

import CKFCodecs
import Foundation

extension kf_message {
    /// The message of the C side.
    var detail: String {
        withUnsafePointer(to: self) { String(cString: kf_message_text($0)) }
    }

    /// The failure as an error of a decoder.
    func error(decoding type: ImageContentType) -> ImagingError {
        switch status {
        case KF_OUT_OF_MEMORY: .outOfMemory(bytes: nil)
        case KF_UNSUPPORTED, KF_LIMIT: .unsupported(type, detail: detail)
        default: .malformed(type, detail: detail)
        }
    }

    /// The failure as an error of an encoder.
    func error(encoding type: ImageContentType) -> ImagingError {
        status == KF_OUT_OF_MEMORY ? .outOfMemory(bytes: nil) : .encodingFailed(type, detail: detail)
    }
}

/// Bytes that C has allocated, and that their owner has to free.
struct CBytes {
    var bytes: UnsafeMutablePointer<UInt8>?
    var count = 0

    /// Hands the bytes over, without copying them.
    consuming func takeData() -> Data {
        guard let bytes else { return Data() }
        return Data(bytesNoCopy: bytes, count: count, deallocator: .free)
    }
}

extension EncodedMetadata {
    /// The ICC profile of sRGB.
    private static let profile: Data = {
        guard BuiltInLibrary.lcms.isThere else { return Data() }
        var result = CBytes()
        kf_profile_srgb(&result.bytes, &result.count)
        return result.takeData()
    }()

    /// Calls `body` with the EXIF block and the ICC profile; what is not to be written is empty.
    func withBytes<Result>(_ body: (_ exif: UnsafeRawBufferPointer, _ profile: UnsafeRawBufferPointer) -> Result)
        -> Result
    {
        (exif ?? Data()).withUnsafeBytes { exif in
            (hasProfile ? Self.profile : Data()).withUnsafeBytes { profile in body(exif, profile) }
        }
    }
}
