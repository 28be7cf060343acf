// Live photos as sources and as results: their files, by URL and type.

public import Foundation

/// One file of a live photo: where it is, the key it is cached under, and what type of file it is.
public struct LivePhotoResource: Sendable {
    /// The type of a file of a live photo, which names the extension of the file in the cache.
    public enum FileType: Sendable, Hashable {
        /// The still image.
        case heic
        /// The movie.
        case mov
        /// Any other type, by its extension; an empty one means that the type is unknown.
        case other(String)
    }

    /// Where the data comes from: a URL or a provider.
    public let dataSource: Source
    /// The type that was given, or that the URL's extension suggests.
    public let referenceFileType: FileType

    /// The key in the caches.
    public var cacheKey: String { dataSource.cacheKey }
    /// Where the data is; `about:blank` for a provider that does not say.
    public var downloadURL: URL { dataSource.url ?? Self.nowhere }
    /// The URL and the key.
    public var resource: any Resource { KF.ImageResource(downloadURL: downloadURL, cacheKey: cacheKey) }

    private static let nowhere = URL(string: "about:blank") ?? URL(fileURLWithPath: "/")

    /// Creates a resource from a source.
    /// - Parameters:
    ///   - source: Where the data comes from.
    ///   - fileType: The type of the file; nil takes it from the extension of the URL.
    public init(source: Source, fileType: FileType? = nil) {
        dataSource = source
        referenceFileType = fileType ?? source.url.map { FileType(extensionOf: $0) } ?? .other("")
    }

    /// Creates a resource from another one, which has a URL and a key.
    /// - Parameters:
    ///   - resource: The URL and the key.
    ///   - fileType: The type of the file; nil takes it from the extension of the URL.
    public init(resource: any Resource, fileType: FileType? = nil) {
        self.init(source: resource.convertToSource(), fileType: fileType)
    }

    /// Creates a resource.
    /// - Parameters:
    ///   - downloadURL: Where the data is.
    ///   - cacheKey: The key in the caches; nil uses the URL's own.
    ///   - fileType: The type of the file; nil takes it from the extension of the URL.
    public init(downloadURL: URL, cacheKey: String? = nil, fileType: FileType? = nil) {
        self.init(resource: KF.ImageResource(downloadURL: downloadURL, cacheKey: cacheKey), fileType: fileType)
    }
}

/// The files that a live photo is loaded from, usually a HEIC and a MOV.
public struct LivePhotoSource: Sendable {
    /// The files.
    public let resources: [LivePhotoResource]

    /// Creates a source.
    public init(resources: [LivePhotoResource]) { self.resources = resources }

    /// Creates a source of files whose types follow from their URLs.
    @_disfavoredOverload
    public init(resources: [any Resource]) {
        self.init(resources: resources.map { LivePhotoResource(resource: $0) })
    }

    /// Creates a source of files whose types follow from their URLs.
    /// - Parameter urls: Where the files are.
    public init(urls: [URL]) { self.init(resources: urls.map { LivePhotoResource(downloadURL: $0) }) }
}

/// The files of a live photo, on disk.
public struct LivePhotoLoadingInfoResult: Sendable {
    /// Where the files are, in the order of the source's resources.
    ///
    /// They are files of the cache: they stay there as long as it keeps them.
    public let fileURLs: [URL]
    /// ``CacheType/disk`` when all files were there; ``CacheType/none`` when any was downloaded.
    public let cacheType: CacheType
    /// The source that was loaded.
    public let source: LivePhotoSource
    /// The source that was requested: the same.
    public let originalSource: LivePhotoSource
    /// The bytes of the files that were downloaded, in the order of the source's resources; none of those that were in
    /// the cache.
    public let data: @Sendable () -> [Data]
}

/// A live photo as a view shows it; empty, because no view on Linux shows one.
public struct RetrieveLivePhotoResult: Sendable {}

extension LivePhotoResource.FileType {
    /// The types a live photo normally has.
    static let known: [Self] = [.heic, .mov]

    /// The type that the extension of a URL suggests.
    init(extensionOf url: URL) {
        let fileExtension = url.pathExtension.lowercased()
        self = Self.known.first { $0.fileExtension == fileExtension } ?? .other(fileExtension)
    }

    /// The extension of files of this type; empty when the type is unknown.
    var fileExtension: String {
        switch self {
        case .heic: "heic"
        case .mov: "mov"
        case .other(let fileExtension): fileExtension
        }
    }

    /// The extensions a file of this type may have in a cache, the likeliest first; nil stands for the cache's own.
    var possibleExtensions: [String?] {
        self == .other("") ? Self.known.map(\.fileExtension) + [nil] : [fileExtension]
    }

    /// The extension for a file of these bytes: the type's own, or for an unknown type the one its first bytes show.
    /// - Parameter data: The bytes of the file.
    /// - Returns: The extension; nil when the bytes do not show it either.
    func fileExtension(for data: Data) -> String? {
        guard self == .other("") else { return fileExtension }
        // Both are ISO base media files: a length, "ftyp" and the main brand, four bytes each.
        let start = data.prefix(12)
        guard start.count == 12, start.dropFirst(4).prefix(4).elementsEqual("ftyp".utf8) else { return nil }
        switch String(decoding: start.suffix(4), as: UTF8.self) {
        case "heic", "heix": return Self.heic.fileExtension
        case "qt  ": return Self.mov.fileExtension
        default: return nil
        }
    }
}
