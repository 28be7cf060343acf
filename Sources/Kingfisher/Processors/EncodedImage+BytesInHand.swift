// Encoded results of bytes or of a file that a program has in hand: without a key, a cache or a manager.

public import Foundation
import KFImaging

extension EncodedImage {
    /// The file that is made of some bytes, on the threads for pixels. (Not in Kingfisher.)
    ///
    /// It is the same as the result of
    /// ``KingfisherManager/retrieveEncoded(with:options:as:progressBlock:)-(Source,_,_,_)``, and no cache is looked at
    /// or written.
    ///
    /// ```swift
    /// let box = ThumbnailImageProcessor(size: CGSize(width: 256, height: 256), mode: .fill, anchor: .smart)
    /// let avatar = try await EncodedImage.made(from: body, options: [.processor(box)], as: ImageEncoding(.webp))
    /// ```
    /// - Parameters:
    ///   - data: The bytes of an image file.
    ///   - options: How the image is decoded and processed; those of downloads and caches have no effect.
    ///   - encoding: The format, the quality and the like.
    /// - Returns: The file.
    /// - Throws: ``KingfisherError/ProcessorErrorReason/processingFailed(processor:item:)``, whose
    ///   ``KingfisherError/imagingError`` is the reason where the bytes cannot be decoded; for a cancelled task as for
    ///   a load.
    public static func made(
        from data: Data,
        options: KingfisherOptionsInfo = [],
        as encoding: ImageEncoding = ImageEncoding()
    ) async throws(KingfisherError) -> EncodedImage {
        var parsed = KingfisherParsedOptionsInfo(options)
        parsed.encodeResult(as: encoding)
        let cancellation = KingfisherError.requestError(reason: .asyncTaskContextCancelled)
        guard !Task.isCancelled else { throw cancellation }
        do throws(KingfisherError) {
            let image = try await parsed.processor.processed(.data(data), parsed)
            if let content = image.metadata.encoded { return EncodedImage(content, isDamaged: image.isDamaged) }
        } catch {
            throw Task.isCancelled ? cancellation : error
        }
        throw .processorError(reason: .processingFailed(processor: parsed.processor.named, item: .data(data)))
    }

    /// The same of a file, which is read on a thread that may wait. (Not in Kingfisher.)
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - options: How the image is decoded and processed; those of downloads and caches have no effect.
    ///   - encoding: The format, the quality and the like.
    /// - Returns: The file.
    /// - Throws: ``KingfisherError``: as for bytes;
    ///   ``KingfisherError/ImageSettingErrorReason/dataProviderError(provider:error:)`` for a file that cannot be read.
    public static func made(
        fromFile file: URL,
        options: KingfisherOptionsInfo = [],
        as encoding: ImageEncoding = ImageEncoding()
    ) async throws(KingfisherError) -> EncodedImage {
        let provider = LocalFileImageDataProvider(fileURL: file)
        let data: Data
        do { data = try await provider.data() } catch {
            throw .imageSettingError(reason: .dataProviderError(provider: provider, error: error))
        }
        return try await made(from: data, options: options, as: encoding)
    }
}
