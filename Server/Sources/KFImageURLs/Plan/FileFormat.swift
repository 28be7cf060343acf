// The formats that URLs can name. For options, extensions and settings.

/// A format as URLs write it; some cannot be written, see ``URLSettings/writableFormats``.
package enum FileFormat: String, CaseIterable, Hashable, Sendable {
    case jpeg, png, webp, avif, gif, ico, svg, heic, bmp, tiff, jxl

    /// A format by its name in a URL; `jpg` and `tif` are accepted, too.
    package init?(name: String) {
        switch name {
        case "jpg": self = .jpeg
        case "tif": self = .tiff
        default: self.init(rawValue: name)
        }
    }
}
