// What the renderer does with uploads: they are sources that are nobody else's, and it says what is known of them.

import Foundation
import KFImageURLs
package import Kingfisher

extension ImageRenderer {
    package func facts(of upload: UploadedFile, in slot: RenderingSlot) async throws(RenderingError) -> UploadFacts {
        defer { withExtendedLifetime(slot) {} }
        // Its bytes were counted while they came.
        var options = UploadOptions()
        (options.maxBytes, options.limits, options.allowsDamage) = (.max, .default, true)
        options.limits.maxPixelCount = Int(configuration.sources.maxMegapixels * 1e6)
        do throws(UploadError) {
            return try await Upload.processing(upload.data, into: [], options: options).facts
        } catch {
            switch error {
            case .unusable(let reason): throw RenderingError(reason)
            case .cancelled: throw .unwanted
            default: throw RenderingError(status: 500, kind: "internal", reason: error.description)
            }
        }
    }
}

extension UploadedFile {
    /// Its bytes as a source, whose key is no other's.
    var provider: RawImageDataProvider { RawImageDataProvider(data: data, cacheKey: "upload:\(identifier)") }
}
