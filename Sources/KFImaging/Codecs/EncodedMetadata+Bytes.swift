// The bytes of what is written beside pixels, for the codecs.

import CKFCodecs
import Foundation

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
