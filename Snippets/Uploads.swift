import Foundation
import Kingfisher

/// A photo that a user has sent, in three widths: upright, and without the place where it was taken.
func store(_ photo: Data, in folder: URL) async throws(UploadError) -> String {
    let formats = [ImageEncoding(.webp, quality: 0.8), ImageEncoding(.jpeg, quality: 0.8)]
    let widths = [400, 800, 1600].map { UploadVariant("w\($0)", width: $0, encodings: formats) }
    let upload = try await Upload.processing(photo, into: widths)
    let id = UUID().uuidString
    try await upload.write(to: folder.appending(path: id))
    return upload.pictureMarkup(alt: "A photo") { "/photos/\(id)/\($0.fileName)" }
}
