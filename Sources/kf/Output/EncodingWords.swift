// The words of `--subsampling`, `--keep`, `--progressive` and `--effort`, for `kf fetch` and `kf process`.

import ArgumentParser
import Foundation
@_spi(Server) import KFImaging

/// The resolution of colours.
enum Subsampling: String, CaseIterable, ExpressibleByArgument {
    case full = "444"
    case half = "420"

    /// The encoders' word for it.
    var chroma: ChromaSubsampling {
        switch self {
        case .full: .full
        case .half: .half
        }
    }
}

/// What is kept of a source beside its pixels: the words that `--keep` named.
struct KeptMetadata: ExpressibleByArgument, Hashable, Sendable {
    private enum Word: String, CaseIterable {
        case exif
        case exifWithLocation = "exif+gps"
        case gainMap = "gainmap"
    }

    private let words: Set<Word>

    init?(argument: String) {
        let parts = argument.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        words = Set(parts.compactMap(Word.init))
        guard parts.allSatisfy({ Word(rawValue: $0) != nil }) else { return nil }
    }

    static var allValueStrings: [String] { Word.allCases.map(\.rawValue) }

    /// Whether EXIF data is kept.
    var hasEXIF: Bool { !words.isDisjoint(with: [.exif, .exifWithLocation]) }

    /// Whether the location is a part of that.
    var hasLocation: Bool { words.contains(.exifWithLocation) }

    /// Whether a gain map is kept.
    var hasGainMap: Bool { words.contains(.gainMap) }

    /// What is written beside the pixels of an image made of these bytes.
    func metadata(of original: Data?, as type: ImageContentType) -> EncodedMetadata {
        let block = hasEXIF ? original.flatMap { Codecs.exif(of: $0) }.flatMap { EXIFCopy($0) } : nil
        return EncodedMetadata(
            exif: block?.block(keepsLocation: hasLocation),
            gainMap: hasGainMap && type == .jpeg ? original.flatMap { GainMap(of: $0) } : nil
        )
    }

    /// The warning when EXIF data that was to be kept has no place in a format, or is not read.
    func warning(of original: Data?, as type: ImageContentType) -> String? {
        guard hasEXIF else { return nil }
        guard ![.gif, .ico, .bmp, .tiff].contains(type) else {
            return
                "no EXIF data was written, for \(type.name) is written without; use --format png, jpeg, webp or avif to "
                + "keep them"
        }
        return original.flatMap(Self.unreadPlace).map { place in
            "no EXIF data was kept, for kf does not read it from \(place); copy it with another tool, such as exiftool"
        }
    }

    /// The place where an image may have EXIF data that is not read; nil when there is none.
    private static func unreadPlace(in original: Data) -> String? {
        switch ImageContentType(sniffing: original) {
        case let type? where [.tiff, .heic, .heif].contains(type): return type.name
        case .png? where Codecs.exif(of: original) == nil:
            // How ImageMagick wrote it before PNG had a chunk for it.
            let words = ["exif", "APP1"].map { Data("Raw profile type \($0)\0".utf8) }
            return words.contains { original.range(of: $0) != nil } ? "a text in PNG" : nil
        default: return nil
        }
    }
}

extension EncoderSettings {
    /// The efforts of `--effort`.
    static let efforts = 0...10

    /// What `--progressive` and `--effort` ask for, in each format.
    init(isProgressive: Bool?, effort: Int?) {
        self.init()
        (self.isProgressive, isInterlaced) = (isProgressive ?? true, isProgressive ?? false)
        guard let effort else { return }
        webPEffort = (effort * Self.webPEfforts.upperBound + 5) / Self.efforts.upperBound
        avifSpeed = Self.avifSpeeds.upperBound - effort
    }

    /// The lowest of these efforts that a format has unless one is named.
    static func usualEffort<Number: Equatable>(_ setting: KeyPath<EncoderSettings, Number>) -> Int {
        efforts.first { Self(isProgressive: nil, effort: $0)[keyPath: setting] == Self()[keyPath: setting] } ?? 0
    }

    /// The effort of WebP where something may be lost.
    var webPMethod: Int { webPEffort ?? Self.usualWebPEffort }

    /// Whether files of a format are written in another way than usual.
    func changes(_ type: ImageContentType) -> Bool {
        let usual = EncoderSettings()
        switch type {
        case .jpeg: return isProgressive != usual.isProgressive
        case .png: return isInterlaced
        case .webp: return webPEffort != usual.webPEffort
        case .avif: return avifSpeed != usual.avifSpeed
        default: return false
        }
    }
}
