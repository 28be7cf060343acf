// Processors, serializers, loaders, coders and providers of a program's own.
import Foundation
import FoundationNetworking
import Kingfisher

// snippet.processor
/// Makes images darker, for text in front of them.
struct DimmingProcessor: ImageProcessor {
    let fraction: CGFloat
    var identifier: String { "com.example.Dimming(\(fraction))" }

    func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        // Decodes what is not decoded yet.
        let image = DefaultImageProcessor.default.process(item: item, options: options)
        return image?.kf.overlaying(with: .black, fraction: fraction)
    }
}
// snippet.end

// snippet.short
let invert = FilterImageProcessor(
    filter: Filter(workingSpace: .encoded) { pixels in
        pixels.mapPixels { SIMD4($0.w - $0.x, $0.w - $0.y, $0.w - $0.z, $0.w) }
    },
    identifier: "com.example.Invert"
)
let sepia = AnyImageProcessor(id: "com.example.Sepia") { image in
    image.kf.adjusted(brightness: 0, contrast: 1, saturation: 0, inputEV: 0)
        .kf.tinted(with: KFCrossPlatformColor(red: 0.44, green: 0.26, blue: 0.08, alpha: 0.5))
}
// snippet.end

// snippet.serializer
/// Keeps what was processed as AVIF, which takes longer to write and less space.
struct SmallFiles: CacheSerializer, Hashable {
    func data(with image: KFCrossPlatformImage, original: Data?) -> Data? { image.kf.avifRepresentation(quality: 0.6) }

    func image(with data: Data, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        DefaultCacheSerializer.default.image(with: data, options: options)
    }
}
// snippet.end

// snippet.loader
/// Loads `asset:` URLs from a folder of the program.
struct AssetLoader: ImageLoading {
    let folder: URL

    func canLoad(_ url: URL, options: KingfisherParsedOptionsInfo) -> Bool { url.scheme == "asset" }

    func load(
        _ url: URL,
        options: KingfisherParsedOptionsInfo,
        progress: @escaping @Sendable (_ received: Int64, _ expected: Int64) -> Void
    ) async throws -> (Data, URLResponse?) {
        (try Data(contentsOf: folder.appending(path: url.lastPathComponent)), nil)
    }
}

let assets = KingfisherManager.shared.loaders.add(AssetLoader(folder: Bundle.main.bundleURL))
// snippet.end

// snippet.provider
/// An image of a database, under a key of its own.
struct StoredImage: ImageDataProvider, Hashable {
    let id: Int
    var cacheKey: String { "stored-image-\(id)" }

    func data() async throws -> Data { try await read(id) }
}

func read(_ id: Int) async throws -> Data { Data() }  // stands for your database
// snippet.end

// snippet.coder
/// Reads Farbfeld: a magic word, the sizes, and 16 bits a component.
struct FarbfeldCoder: ImageCoder {
    func canDecode(_ data: Data) -> Bool { data.starts(with: Data("farbfeld".utf8)) && data.count >= 16 }

    func info(of data: Data) throws -> ImageInfo? {
        guard canDecode(data) else { return nil }
        let bytes = [UInt8](data.prefix(16))
        func number(_ at: Int) -> Int { bytes[at..<at + 4].reduce(0) { $0 << 8 | Int($1) } }
        let type = ImageContentType(rawValue: "org.suckless.farbfeld")
        return ImageInfo(contentType: type, pixelWidth: number(8), pixelHeight: number(12), byteCount: data.count)
    }

    func decode(_ data: Data, options: ImageDecodingOptions) throws -> Image {
        guard let info = try info(of: data), info.pixelWidth > 0, info.pixelHeight > 0,
            info.pixelHeight <= options.limits.maxPixelCount / info.pixelWidth,
            data.count >= 16 + info.pixelWidth * info.pixelHeight * 8
        else { throw CocoaError(.fileReadCorruptFile) }
        let (width, height, bytes) = (info.pixelWidth, info.pixelHeight, [UInt8](data.dropFirst(16)))
        let bitmap = try Bitmap.make(width: width, height: height, hasAlpha: false) { buffer, bytesPerRow in
            for y in 0..<height {
                for x in 0..<width {
                    let (from, to) = ((y * width + x) * 8, y * bytesPerRow + x * 4)
                    // In memory blue comes first. Of 16 bits the high byte is kept, and transparency is left out.
                    for component in 0..<3 { buffer[to + 2 - component] = bytes[from + component * 2] }
                    buffer[to + 3] = 255
                }
            }
        }
        return Image(cgImage: bitmap, scale: options.scale)
    }
}

let farbfeld = ImageCodersManager.shared.add(FarbfeldCoder())
// snippet.end
