// What a key gives to the name of its file. Knows nothing of files.

import KFStorage

extension KingfisherWrapper where Base == String {
    /// The SHA-256 of the text's UTF-8, as 64 lowercase hexadecimal digits.
    var sha256: String { FileNaming.hash(base) }

    /// The extension a key seems to have: what follows the last dot before the first `@`, if that is at most 20 letters
    /// and digits.
    var ext: String? { FileNaming.fileExtension(ofKey: base) }
}
