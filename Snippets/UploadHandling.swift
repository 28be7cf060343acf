// What becomes of an uploaded file: a snippet of the page Uploads, and a part of Examples/Uploads.
// snippet.hide
import Foundation
import Kingfisher

// snippet.show
// snippet.handling
/// What an upload may be: 20 MB, and otherwise the limits for untrusted files.
let uploadOptions: UploadOptions = {
    var options = UploadOptions()
    options.maxBytes = 20_000_000
    return options
}()

/// The files that the application shows: three widths, each as WebP for most and as JPEG for all.
func variants(of bytes: Data, named name: String?) async throws(UploadError) -> Upload {
    let formats = [ImageEncoding(.webp, quality: 0.8), ImageEncoding(.jpeg, quality: 0.8)]
    let sizes = [400, 800, 1600].map { UploadVariant("w\($0)", width: $0, encodings: formats) }
    return try await Upload.processing(bytes, named: name, into: sizes, options: uploadOptions)
}
// snippet.end
