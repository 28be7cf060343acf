// Uploads whose files are taken one by one as they are ready: by a store, or a database.

public import Foundation

extension Upload {
    /// Makes the variants of an upload, and hands over one file after the other. (Not in Kingfisher.)
    ///
    /// ```swift
    /// let facts = try await Upload.processing(body, into: variants) { file in
    ///     try await store.put(file.image.data, at: "photos/\(file.fileName)", type: file.image.mimeType)
    /// }
    /// ```
    /// At most one encoded file more than there are threads for pixels (``PixelThreads/count``) is in memory. The first
    /// file is handed over once that many encodings have begun; of an upload with fewer files, once all sizes are made.
    /// A closure that is slower than the encodings holds them up.
    ///
    /// - Parameters:
    ///   - data: The bytes, of any format that is read here; they alone decide which.
    ///   - name: The name that they were sent under: one with the extension of another image format is refused, unless
    ///     ``UploadOptions/allowsWrongExtension`` is set. Nothing else is made of it.
    ///   - variants: The sizes and formats; without any, only the facts are found out.
    ///   - options: The limits; those for untrusted files unless set.
    ///   - body: Takes a file. It is called for one after the other, in the order in which they are ready: those of
    ///     large sizes are begun first. It runs in the caller's task, on the threads that Swift's tasks share unless it
    ///     belongs to an actor, and never on those for pixels.
    /// - Returns: The facts, when all files have been taken.
    /// - Throws: What the closure throws, which ends the work, or ``UploadError``. The closure is not called again
    ///   then; what it has done with files before is the caller's to undo.
    @discardableResult
    public static func processing(
        _ data: Data,
        named name: String? = nil,
        into variants: [UploadVariant],
        options: UploadOptions = UploadOptions(),
        forEachFile body: @escaping @concurrent @Sendable (File) async throws -> Void
    ) async throws -> UploadFacts {
        let work = UploadWork(data: data, name: name, variants: variants, options: options)
        return try await work.upload(to: body).facts
    }

    /// The same for an upload in a file, which is read on a thread that may wait: no more of it than is allowed.
    ///
    /// - Parameters:
    ///   - file: The file; its name counts as the name of the upload.
    ///   - variants: The sizes and formats; without any, only the facts are found out.
    ///   - options: The limits; those for untrusted files unless set.
    ///   - body: Takes a file, as for bytes.
    /// - Returns: The facts, when all files have been taken.
    /// - Throws: What the closure throws, which ends the work, or ``UploadError``.
    @discardableResult
    public static func processing(
        file: URL,
        into variants: [UploadVariant],
        options: UploadOptions = UploadOptions(),
        forEachFile body: @escaping @concurrent @Sendable (File) async throws -> Void
    ) async throws -> UploadFacts {
        let data = try await bytes(of: file, options)
        let name = file.lastPathComponent
        return try await processing(data, named: name, into: variants, options: options, forEachFile: body)
    }
}
