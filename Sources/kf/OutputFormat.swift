// In which format a picture is written. Knows nothing of files.

import ArgumentParser
import Foundation
import KFImaging
import KFSupport
import Kingfisher

/// The formats the tool writes.
enum OutputFormat: String, CaseIterable, ExpressibleByArgument {
    case png, jpeg, gif, webp, avif

    /// Reads a format's name or the extension of its files, in any case.
    init?(argument: String) {
        let name = argument.lowercased()
        guard let format = Self(rawValue: name == "jpg" ? "jpeg" : name) else { return nil }
        self = format
    }

    /// The format of this kind, if it is one the tool writes.
    init?(_ type: ImageContentType) {
        guard let format = Self.allCases.first(where: { $0.contentType == type }) else { return nil }
        self = format
    }

    /// The most pixels a picture in this format has on one side; nil where memory ends first.
    var largestSide: Int? {
        switch self {
        case .png: nil
        case .jpeg: 65_500
        case .gif: 65_535
        case .webp: 16_383
        case .avif: 65_536
        }
    }

    var contentType: ImageContentType {
        switch self {
        case .png: .png
        case .jpeg: .jpeg
        case .gif: .gif
        case .webp: .webp
        case .avif: .avif
        }
    }
}

/// What was asked about the format, and what follows from it.
struct Encoding: Sendable {
    /// What `--format` named.
    var format: OutputFormat?
    /// What `--quality` named, from 0 to 1.
    var quality: Double?
    /// The name after `-o`, when that is a file.
    var fileName: String?
    /// Whether the picture was changed, so that its original bytes are not what was asked for.
    var isChanged: Bool

    /// The quality of lossy formats when none was named.
    static let usualQuality = 0.85

    /// The bytes to write: the original ones where they are what was asked for.
    ///
    /// - Parameters:
    ///   - image: The picture.
    ///   - original: The bytes it came as, if they are known.
    /// - Returns: The bytes and their format.
    /// - Throws: Why it cannot be encoded.
    func encoded(_ image: Image, original: Data?) async throws(Failure) -> (data: Data, type: ImageContentType) {
        let own = original.flatMap { ImageContentType(sniffing: $0) } ?? image.contentType
        let wanted = format?.contentType ?? typeOfName ?? own
        if let original, let own, own == wanted, !isChanged, quality == nil || !own.hasQuality {
            return (original, own)
        }
        let type = try encodable(wanted, own: own)
        let quality = quality ?? Self.usualQuality
        let data = await WorkExecutor.cpu.run { () async -> Result<Data, ImagingError> in
            Result { () throws(ImagingError) in
                guard Codecs.canEncodeAnimation(as: type), let frames = image.kf.frameSource, frames.frameCount > 1
                else { return try Codecs.encode(image, as: type, quality: quality) }
                return try Codecs.encode(frames, as: type, quality: quality)
            }
        }
        switch data {
        case .success(let data): return (data, type)
        case .failure(let error):
            let side = max(image.pixelWidth, image.pixelHeight)
            let others = OutputFormat.allCases.filter { $0.contentType != type && side <= $0.largestSide ?? side }
            throw .cannotEncode(type.name, "\(error)", instead: others)
        }
    }

    /// The format that the file's name stands for, if it is one of a picture.
    private var typeOfName: ImageContentType? {
        fileName.flatMap { ImageContentType(fileExtension: URL(fileURLWithPath: $0).pathExtension) }
    }

    /// The wanted format if the tool writes it.
    ///
    /// A format nobody asked for, only the source's own, falls back to PNG, which loses nothing.
    private func encodable(
        _ wanted: ImageContentType?,
        own: ImageContentType?
    ) throws(Failure) -> ImageContentType {
        guard let wanted else { return .png }
        if OutputFormat(wanted) != nil { return wanted }
        guard typeOfName != nil else { return .png }
        throw .cannotEncode(
            wanted.name,
            "the name asks for a format this tool does not write",
            instead: OutputFormat.allCases
        )
    }
}

extension ImageContentType {
    /// Whether a quality changes what is written in this format.
    fileprivate var hasQuality: Bool { self != .png }
}
