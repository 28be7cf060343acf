// An uploaded image, as a program stores it.
import Foundation
import Kingfisher

/// Three sizes in two formats, written to a folder; the markup that shows them.
func store(_ body: Data, in folder: URL) async throws(UploadError) -> String {
    let formats = [ImageEncoding(.webp), ImageEncoding(.jpeg)]
    let variants = [400, 800, 1600].map { UploadVariant("photo", width: $0, encodings: formats) }
    let upload = try await Upload.processing(body, into: variants)
    try await upload.write(to: folder)  // photo-400.webp, photo-400.jpg and so on
    print(upload.facts.photo?.moment ?? "at an unknown moment", upload.facts.perceptualHash?.description ?? "")
    return upload.pictureMarkup(alt: "A photo") { "/photos/\($0.fileName)" }
}
