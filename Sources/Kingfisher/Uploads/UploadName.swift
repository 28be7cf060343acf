// Whether the name of an upload says another format than its bytes. For UploadWork.

import KFImaging

extension ImageContentType {
    /// The extension of a name, without its dot, if the extension belongs to another image format than this one.
    ///
    /// - Parameter name: The name of a file, or its path.
    /// - Returns: The extension as it is written; nil where it is one of this format, or of no image format.
    func foreignExtension(of name: String) -> String? {
        guard self != .unknown, let dot = name.lastIndex(of: ".") else { return nil }
        let ending = String(name[name.index(after: dot)...])
        guard let named = ImageContentType(fileExtension: ending), named.mimeType.hasPrefix("image/"),
            named.family != family, !(self == .avif && named == .heif)
        else { return nil }
        return ending
    }

    /// The format whose extensions are used for this one, too: cameras name HEIC either way.
    private var family: ImageContentType { self == .heic ? .heif : self }
}
