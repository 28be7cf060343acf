// The uploads of the example: a folder with a directory for each, and the page that shows them.
import Foundation
import Kingfisher

struct Gallery: Sendable {
    let folder: URL

    /// Makes an upload's variants, and a directory with all of them and their markup, or none.
    func store(_ bytes: Data, named name: String?) async throws(UploadError) {
        let upload = try await variants(of: bytes, named: name)
        let id = UUID().uuidString
        let directory = folder.appending(path: id)
        try await upload.write(to: directory)
        let markup = upload.pictureMarkup(alt: "An upload", sizes: "400px") { "/files/\(id)/\($0.fileName)" }
        do {
            try Data(markup.utf8).write(to: directory.appending(path: "picture.html"), options: .atomic)
        } catch {
            try? FileManager.default.removeItem(at: directory)
            throw .notWritten(path: directory.path, detail: error.localizedDescription)
        }
    }

    /// The form, and the images, the newest first.
    func page() async throws -> String {
        let manager = FileManager.default
        let directories =
            (try? manager.contentsOfDirectory(
                at: folder,
                includingPropertiesForKeys: [.creationDateKey]
            )) ?? []
        let dated = directories.map { directory in
            (directory, (try? directory.resourceValues(forKeys: [.creationDateKey]))?.creationDate ?? .distantPast)
        }
        let pictures = dated.sorted { $0.1 > $1.1 }.compactMap { directory, _ in
            try? String(contentsOf: directory.appending(path: "picture.html"), encoding: .utf8)
        }
        return """
            <!DOCTYPE html>
            <html lang="en"><meta charset="utf-8"><title>Uploads</title>
            <style>img { max-width: 400px; height: auto; margin: 8px }</style>
            <form method="post" enctype="multipart/form-data">
            <input type="file" name="image" accept="image/*" required> <button>Upload</button>
            </form>
            \(pictures.joined(separator: "\n"))
            </html>
            """
    }
}
