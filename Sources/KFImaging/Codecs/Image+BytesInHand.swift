// Images of bytes or of a file that a program has in hand: off its threads, and with the reason of a failure.

public import Foundation
import KFSupport

extension Image {
    /// The image that some bytes make, decoded on the threads for pixels.
    ///
    /// No cache and no manager has a part in it.
    ///
    /// ```swift
    /// let box = ImageDecodingOptions.thumbnail(width: 256, height: 256, mode: .fill, anchor: .smart)
    /// let avatar = try await Image.decoded(from: body, options: box)
    /// ```
    /// - Parameters:
    ///   - data: The encoded bytes; they alone decide what format it is.
    ///   - options: The size and the limits. At its full size an animation comes with its frames, which are decoded
    ///     when they are shown; made smaller, it is its first frame.
    /// - Returns: The image.
    /// - Throws: ``ImagingError``: why there is none. A task that is cancelled waits for its turn and its image, too.
    public static func decoded(
        from data: Data,
        options: ImageDecodingOptions = ImageDecodingOptions()
    ) async throws(ImagingError) -> Image {
        try await WorkExecutor.cpu.run { () async throws(ImagingError) -> Image in
            if options.isReducing { return try Codecs.decode(data, options: options) }
            return try decode(data, options: ImageCreatingOptions(scale: options.scale), limits: options.limits)
        }
    }

    /// The image in a file, which is read on a thread that may wait and decoded on the threads for pixels.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - options: As for ``decoded(from:options:)-(Data,_)``.
    /// - Returns: The image.
    /// - Throws: ``ImagingError/unreadableFile(path:detail:)``, or why there is no image.
    public static func decoded(
        fromFile file: URL,
        options: ImageDecodingOptions = ImageDecodingOptions()
    ) async throws(ImagingError) -> Image {
        try await decoded(from: Data.read(file), options: options)
    }
}

extension Data {
    /// The bytes of a file, read on a thread that may wait.
    package static func read(_ file: URL) async throws(ImagingError) -> Data {
        try await read(file) { try Data(contentsOf: file) }
    }

    /// The first bytes of a file, up to a limit, read on a thread that may wait.
    package static func read(_ file: URL, atMost count: Int) async throws(ImagingError) -> Data {
        try await read(file) {
            let handle = try FileHandle(forReadingFrom: file)
            defer { try? handle.close() }
            return try handle.read(upToCount: count) ?? Data()
        }
    }

    private static func read(
        _ file: URL,
        _ body: @escaping @Sendable () throws -> Data
    ) async throws(ImagingError) -> Data {
        try await WorkExecutor.userCode.run { () async throws(ImagingError) -> Data in
            do {
                return try body()
            } catch {
                throw .unreadableFile(path: file.path, detail: error.localizedDescription)
            }
        }
    }
}
