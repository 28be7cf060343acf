// Turns C's statuses into Swift's errors, and C's memory into data.

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
