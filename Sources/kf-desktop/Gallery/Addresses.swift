// What the program is given: URLs, files and folders.

#if canImport(CKFGTK4)
import Foundation
@_spi(Server) import Kingfisher

extension GalleryImage {
    /// The images of addresses, in their order; those of a folder, and of the folders in it, by their paths.
    ///
    /// In folders, files count whose names end as those of images do. What cannot be read is there, too: its cell says
    /// why. Only the folders inside a folder that cannot be read are left out.
    static func all(at addresses: [String]) -> [GalleryImage] {
        addresses.flatMap { address -> [GalleryImage] in
            if let url = lenientURL(address.utf8), url.scheme != nil { return [GalleryImage(url, title: nil)] }
            let file = URL(fileURLWithPath: address)
            return files(in: file) ?? [GalleryImage(file, title: nil)]
        }
    }

    private init(_ url: URL, title: String?) {
        self.init(source: url.convertToSource(), title: title ?? url.lastPathComponent)
    }

    /// The images in a folder; nil for anything else, and for a folder that cannot be read.
    private static func files(in folder: URL) -> [GalleryImage]? {
        let manager = FileManager.default
        guard (try? manager.contentsOfDirectory(atPath: folder.path)) != nil,
            let paths = manager.enumerator(atPath: folder.path)
        else { return nil }
        return paths.compactMap { $0 as? String }
            .filter { path in !path.hasPrefix(".") && !path.contains("/.") && isImage(path) }
            .sorted { $0.localizedStandardCompare($1) == .orderedAscending }
            .map { GalleryImage(folder.appendingPathComponent($0), title: $0) }
    }

    private static func isImage(_ path: String) -> Bool {
        ImageContentType(fileExtension: (path as NSString).pathExtension) != nil
    }
}
#endif
