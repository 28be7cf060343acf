// Why the last bytes that could not be decoded could not be. Decoding notes it, errors of loads ask for it.

package import Foundation
import KFSupport

/// Bytes that could not be decoded, and why: processors do not say it.
private struct FailedDecoding: Sendable {
    let bytes: ContentFingerprint
    let limits: ImageDecodingLimits
    let reason: ImagingError
    /// Whether a load with limits of its own has failed by it.
    var isFinal = false
}

extension Codecs {
    /// More than there are errors whose reasons are about to be asked for.
    private static let maxFailureCount = 64
    /// The latest is the last.
    private static let failures = Locked<[FailedDecoding]>([])

    /// Notes why bytes could not be decoded, and returns it.
    static func recorded(_ reason: ImagingError, of data: Data, _ limits: ImageDecodingLimits) -> ImagingError {
        let failure = FailedDecoding(bytes: ContentFingerprint(data), limits: limits, reason: reason)
        failures.withLock { failures in
            failures.removeAll { $0.bytes == failure.bytes }
            if failures.count == maxFailureCount { failures.removeFirst() }
            failures.append(failure)
        }
        return reason
    }

    /// Notes that a load with limits of its own has failed by these bytes: their reason is the one under these limits.
    package static func noteFinalFailure(of data: Data, _ limits: ImageDecodingLimits) {
        let bytes = ContentFingerprint(data)
        failures.withLock { failures in
            guard let last = failures.lastIndex(where: { $0.bytes == bytes && $0.limits == limits }) else { return }
            failures[last].isFinal = true
        }
    }

    /// Why no image, animated or not, can be made of these bytes under the limits of the load that failed by them, or
    /// else under these; nil when one can.
    ///
    /// It is the reason for which they could not be decoded just now. Where that is not known any more, or was under
    /// other limits, they are decoded again to find out.
    package static func diagnose(_ data: Data, limits: ImageDecodingLimits = .default) -> ImagingError? {
        let bytes = ContentFingerprint(data)
        let known = failures.withLock { $0.last { $0.bytes == bytes && ($0.isFinal || $0.limits == limits) } }
        if let known { return known.reason }
        do throws(ImagingError) {
            _ = try Image.decode(data, options: ImageCreatingOptions(), limits: limits)
            return nil
        } catch {
            return error
        }
    }
}
