// Everyday tasks, one function each.
import Foundation
import FoundationNetworking
import Kingfisher

// snippet.load
func load(_ url: URL) async throws -> KFCrossPlatformImage {
    let result = try await KingfisherManager.shared.retrieveImage(with: url)
    print(result.image.size, result.cacheType)  // none: it was downloaded; memory or disk the next time
    return result.image
}
// snippet.end

// snippet.handler
func load(_ url: URL, then show: @escaping @Sendable (KFCrossPlatformImage) -> Void) -> DownloadTask? {
    KingfisherManager.shared.retrieveImage(with: url) { result in
        switch result {
        case .success(let value): show(value.image)
        case .failure(let error): print(error.localizedDescription)
        }
    }
}
// snippet.end

// snippet.thumbnail
func thumbnail(_ url: URL) async throws -> KFCrossPlatformImage {
    try await KF.url(url).thumbnail(size: CGSize(width: 200, height: 200), mode: .fill, anchor: .smart).retrieve().image
}
// snippet.end

// snippet.avatar
func avatar(_ url: URL) async throws -> KFCrossPlatformImage {
    let processor =
        ThumbnailImageProcessor(size: CGSize(width: 64, height: 64), mode: .fill, anchor: .smart)
        |> CircleImageProcessor(border: Border(color: .white, lineWidth: 2))
    return try await KingfisherManager.shared.retrieveImage(with: url, options: [.processor(processor)]).image
}
// snippet.end

// snippet.write
func write(_ image: KFCrossPlatformImage, to folder: URL) throws {
    try image.kf.jpegRepresentation(compressionQuality: 0.85)?.write(to: folder.appending(path: "image.jpg"))
    try image.kf.pngRepresentation()?.write(to: folder.appending(path: "image.png"))
    try image.kf.webPRepresentation(quality: 0.8)?.write(to: folder.appending(path: "image.webp"))
    try image.kf.avifRepresentation(quality: 0.6)?.write(to: folder.appending(path: "image.avif"))
}
// snippet.end

// snippet.encoded
func smallFile(of url: URL) async throws -> Data {
    var encoding = ImageEncoding(.webp, quality: 0.8)
    encoding.maxBytes = 100_000  // the highest quality that is no larger
    let options: KingfisherOptionsInfo = [.processor(ThumbnailImageProcessor(size: CGSize(width: 1600, height: 1600)))]
    return try await KingfisherManager.shared.retrieveEncoded(with: url, options: options, as: encoding).data
}
// snippet.end

// snippet.folder
func makeThumbnails(of folder: URL, in output: URL) async throws {
    let small = ThumbnailImageProcessor(size: CGSize(width: 320, height: 320))
    let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    try await withThrowingTaskGroup(of: Void.self) { group in
        for file in files {
            group.addTask {
                let image = try await EncodedImage.made(fromFile: file, options: [.processor(small)], as: .init(.webp))
                let name = file.deletingPathExtension().lastPathComponent + ".webp"
                try image.data.write(to: output.appending(path: name))
            }
        }
        try await group.waitForAll()
    }
}
// snippet.end

// snippet.source
func placeholderSource(of file: URL) async throws -> String {
    let options = ImageDecodingOptions(maxPixelSize: 128)
    let image = try await KFCrossPlatformImage.decoded(fromFile: file, options: options)
    return "let placeholder = \"\(image.kf.blurHash() ?? "")\"\n"
}
// snippet.end

// snippet.photo
func describe(_ photo: Data) throws {
    guard let info = try PhotoInfo(data: photo) else { return print("no camera has noted anything") }
    print(info.camera ?? "no camera", info.exposureTime ?? 0, info.aperture ?? 0, info.iso ?? 0)
    if let moment = info.moment { print(moment) }  // nil where the time zone of the camera's clock is not known
    print(info.hasLocation ? "it says where" : "it does not say where")
}
// snippet.end

// snippet.original
func originalBytes(of url: URL) async throws -> Data {
    try await ImageDownloader.default.downloadData(with: url).data
}
// snippet.end

// snippet.file
func preview(of file: URL) async throws -> KFCrossPlatformImage {
    let provider = LocalFileImageDataProvider(fileURL: file)
    let processor = ThumbnailImageProcessor(size: CGSize(width: 400, height: 400))
    return try await KingfisherManager.shared.retrieveImage(
        with: .provider(provider),
        options: [.processor(processor), .cacheMemoryOnly]
    ).image
}
// snippet.end

// snippet.bytes
func image(from bytes: Data) throws -> KFCrossPlatformImage {
    let info = try ImageInfo(data: bytes)  // reads the header only
    print(info.contentType.name, info.pixelWidth, info.pixelHeight, info.frameCount, info.orientation)
    guard let image = KFCrossPlatformImage(data: bytes) else { throw CocoaError(.fileReadCorruptFile) }
    return image
}
// snippet.end

// snippet.header
func load(_ url: URL, token: String) async throws -> KFCrossPlatformImage {
    try await KF.url(url).requestModifier { request in
        request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
    }.retrieve().image
}
// snippet.end

// snippet.key
func load(_ signed: URL, named key: String) async throws -> KFCrossPlatformImage {
    let resource = KF.ImageResource(downloadURL: signed, cacheKey: key)
    return try await KingfisherManager.shared.retrieveImage(with: resource).image
}
// snippet.end

// snippet.alternatives
func load(_ url: URL, elsewhere: [URL]) async throws -> KFCrossPlatformImage {
    try await KF.url(url).alternativeSources(elsewhere.map { .network($0) }).retrieve().image
}
// snippet.end

// snippet.view
@MainActor func show(_ url: URL, in view: KFCrossPlatformImageView, placeholder: KFCrossPlatformImage) {
    view.kf.indicatorType = .activity
    KF.url(url)
        .placeholder(placeholder)
        .sizedToView()
        .fade(duration: 0.3)
        .onFailureImage(placeholder)
        .onFailure { error in print(error.localizedDescription) }
        .set(to: view)
}
// snippet.end

// snippet.blurhash
@MainActor func show(_ url: URL, in view: KFCrossPlatformImageView, blurHash: String) {
    let placeholder = KFCrossPlatformImage(blurHash: blurHash, size: CGSize(width: 32, height: 24))
    view.kf.setImage(with: url, placeholder: placeholder, options: [.transition(.fade(0.2))])
}

func hashes(of image: KFCrossPlatformImage) -> (blurHash: String?, thumbHash: Data?) {
    (image.kf.blurHash(), image.kf.thumbHash())
}
// snippet.end

// snippet.progress
func load(_ url: URL, progress: @escaping @MainActor @Sendable (Double) -> Void) -> DownloadTask? {
    KF.url(url)
        .onProgress { received, total in if total > 0 { progress(Double(received) / Double(total)) } }
        .onSuccess { result in print(result.image.size) }
        .start()
}
// snippet.end

// snippet.cached
func cached(_ url: URL) async throws -> KFCrossPlatformImage? {
    guard ImageCache.default.isCached(forKey: url.cacheKey) else { return nil }
    return try await KF.url(url).onlyFromCache().retrieve().image
}
// snippet.end

// snippet.store
func keep(_ image: KFCrossPlatformImage, as key: String) async throws {
    try await ImageCache.default.store(image, forKey: key)
    print(try await ImageCache.default.retrieveImage(forKey: key).image?.size ?? .zero)
}
// snippet.end

// snippet.remove
func forget(_ url: URL) async throws {
    // The image as it came, and its encoded results; with processorIdentifier: what that processor has made.
    try await ImageCache.default.removeImage(forKey: url.cacheKey)
    // All that was made of it, on all machines of a shared tier.
    try await ImageCache.default.purge(.source(key: url.cacheKey), mode: .delete)
}
// snippet.end

// snippet.size
func lookAfter(_ cache: ImageCache, _ url: URL) async throws {
    cache.memoryStorage.config.totalCostLimit = 100 << 20  // bytes of pixels, four a pixel
    cache.diskStorage.config.sizeLimit = 200 << 20
    cache.diskStorage.config.expiration = .days(30)
    print(await cache.imageCachedTypeAsync(forKey: url.cacheKey), cache.cachePath(forKey: url.cacheKey))
    print(try await cache.diskStorageSize, "bytes on disk")
    await cache.cleanExpiredDiskCache()  // removes what is too old, then the least recently used
    await cache.clearCache()  // removes everything
}
// snippet.end

// snippet.refresh
func refreshed(_ url: URL) async throws -> KFCrossPlatformImage {
    try await KingfisherManager.shared.retrieveImage(with: url, options: [.refreshCached]).image
}
// snippet.end

// snippet.colors
func theme(of image: KFCrossPlatformImage) -> (main: KFCrossPlatformColor?, average: KFCrossPlatformColor?) {
    (image.kf.dominantColor, image.kf.averageColor)
}
// snippet.end

// snippet.many
func loadAll(_ urls: [URL]) async -> [URL: KFCrossPlatformImage] {
    await withTaskGroup(of: (URL, KFCrossPlatformImage?).self) { group in
        for url in urls { group.addTask { (url, try? await KF.url(url).retrieve().image) } }
        return await group.reduce(into: [:]) { images, next in images[next.0] = next.1 }
    }
}
// snippet.end

// snippet.filter
func dimmed(_ image: KFCrossPlatformImage) -> KFCrossPlatformImage {
    let filter = Filter { pixels in pixels.mapPixels { $0 * SIMD4(0.6, 0.6, 0.6, 1) } }
    return image.kf.apply(filter)
}
// snippet.end

// snippet.failures
func explain(_ url: URL) async {
    do {
        _ = try await KingfisherManager.shared.retrieveImage(with: url)
    } catch {
        switch error {
        case _ where error.isTaskCancelled: break
        case _ where error.isInvalidResponseStatusCode(404): print("There is no such image.")
        case _ where error.imagingError != nil: print("That is no image, or it is too large.")
        default: print(error.localizedDescription)
        }
    }
}
// snippet.end
