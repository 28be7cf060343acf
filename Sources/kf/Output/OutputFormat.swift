// The formats the tool writes, and the choice among them.

import ArgumentParser
import KFImaging

/// The formats the tool writes.
enum OutputFormat: String, CaseIterable, ExpressibleByArgument {
    case png, jpeg, gif, webp, avif, ico, bmp, tiff

    /// Other extensions of files.
    private static let others = ["jpg": "jpeg", "tif": "tiff"]

    /// Reads a format's name or the extension of its files, in any case.
    init?(argument: String) {
        let name = argument.lowercased()
        guard let format = Self(rawValue: Self.others[name] ?? name) else { return nil }
        self = format
    }

    /// The format of this kind, if it is one the tool writes.
    init?(_ type: ImageContentType) {
        guard let format = Self.allCases.first(where: { $0.contentType == type }) else { return nil }
        self = format
    }

    /// Whether the format can be written as an animation.
    var holdsAnimations: Bool { Codecs.canEncodeAnimation(as: contentType) }

    /// The reason why the format has no `--lossless`; nil where it has.
    var loss: String? {
        switch self {
        case .jpeg: "JPEG always loses something"
        case .gif: "GIF holds no more than 256 colours a frame"
        case .ico: "ICO holds the image in other sizes than its own"
        case .png, .webp, .avif, .bmp, .tiff: nil
        }
    }

    /// The formats that hold an image of this size, but for one.
    static func others(than type: ImageContentType, holding size: PixelSize) -> [Self] {
        allCases.filter { $0.contentType != type && $0.contentType.capacity.holds(size) }
    }

    /// The options for the formats of a kind, as advice: `--format png or --format webp`.
    static func options(_ isMeant: (Self) -> Bool) -> String {
        allCases.filter(isMeant).map { "--format \($0.rawValue)" }.joined(separator: " or ")
    }

    var contentType: ImageContentType {
        switch self {
        case .png: .png
        case .jpeg: .jpeg
        case .gif: .gif
        case .webp: .webp
        case .avif: .avif
        case .ico: .ico
        case .bmp: .bmp
        case .tiff: .tiff
        }
    }
}
