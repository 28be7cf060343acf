// Everything that a program needs of an uploaded image, from one decode: its variants, encoded, and the facts about it.

public import Foundation
import KFImaging
import KFSupport

/// An uploaded image, made into what a program stores and sends. (Not in Kingfisher.)
///
/// ```swift
/// let formats = [ImageEncoding(.webp), ImageEncoding(.jpeg)]
/// let variants = [400, 800, 1600].map { UploadVariant("w\($0)", width: $0, encodings: formats) }
/// let upload = try await Upload.processing(body, into: variants)
/// try await upload.write(to: folder)  // w400-400.webp, w400-400.jpg and so on
/// let markup = upload.pictureMarkup(alt: "A bird") { "/photos/\($0.fileName)" }
/// ```
/// It is decoded once, and each variant is made of the smallest one that is at least twice as large, or else of the
/// decoded image: no difference to one that was made alone can be seen. The encodings run side by side on the threads
/// for pixels, as many at a time as there are threads (``PixelThreads/count``). Beside the decoded image there are as
/// many sizes in memory as are being encoded, and those that smaller ones are made of.
///
/// The frames of an animation are decoded once for all files, if they take at most 64 MiB in the decoded size;
/// otherwise each file decodes them for itself, one at a time.
///
/// Variants are upright, in sRGB, and say nothing of where the image was taken, of serial numbers and owners, nor have
/// they previews, XMP or comments, unless ``ImageEncoding/keptMetadata`` keeps EXIF. No manager, cache or shared
/// instance is used.
public struct Upload: Sendable {
    /// One file of a variant.
    public struct File: Sendable {
        /// The name of the variant.
        public let variant: String
        /// The width in pixels.
        public let pixelWidth: Int
        /// The height in pixels.
        public let pixelHeight: Int
        /// The bytes, with their format.
        public let image: EncodedImage

        /// The name that ``Upload/write(to:template:)`` gives it, such as `small-400.webp`.
        public var fileName: String { name(by: Upload.usualTemplate) }
    }

    /// What is known of the upload.
    public let facts: UploadFacts
    /// The files, in the order of the variants and their encodings.
    public let files: [File]

    /// Makes the variants of an upload.
    ///
    /// - Parameters:
    ///   - data: The bytes, of any format that is read here; they alone decide which.
    ///   - name: The name that they were sent under: one with the extension of another image format is refused, unless
    ///     ``UploadOptions/allowsWrongExtension`` is set. Nothing else is made of it.
    ///   - variants: The sizes and formats; without any, only the facts are found out.
    ///   - options: The limits; those for untrusted files unless set.
    /// - Returns: The files and the facts.
    /// - Throws: ``UploadError``. A task that is cancelled ends with the encodings that are under way.
    public static func processing(
        _ data: Data,
        named name: String? = nil,
        into variants: [UploadVariant],
        options: UploadOptions = UploadOptions()
    ) async throws(UploadError) -> Upload {
        do {
            return try await UploadWork(data: data, name: name, variants: variants, options: options).upload()
        } catch {
            // The type of the work does not say that it throws nothing else.
            throw error as? UploadError ?? .cancelled
        }
    }

    /// The same for an upload in a file, which is read on a thread that may wait: no more of it than is allowed.
    ///
    /// - Parameters:
    ///   - file: The file; its name counts as the name of the upload.
    ///   - variants: The sizes and formats; without any, only the facts are found out.
    ///   - options: The limits; those for untrusted files unless set.
    /// - Returns: The files and the facts.
    /// - Throws: ``UploadError``.
    public static func processing(
        file: URL,
        into variants: [UploadVariant],
        options: UploadOptions = UploadOptions()
    ) async throws(UploadError) -> Upload {
        let data = try await bytes(of: file, options)
        return try await processing(data, named: file.lastPathComponent, into: variants, options: options)
    }

    /// The bytes of a file; of one that is too large, more than are allowed.
    static func bytes(of file: URL, _ options: UploadOptions) async throws(UploadError) -> Data {
        // One byte more than is allowed tells that there are too many.
        let count = options.maxBytes < .max ? max(options.maxBytes, 0) + 1 : .max
        do throws(ImagingError) { return try await Data.read(file, atMost: count) } catch { throw .unusable(error) }
    }
}
