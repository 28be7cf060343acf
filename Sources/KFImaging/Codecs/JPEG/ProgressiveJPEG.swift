// A progressive JPEG that arrives little by little, decoded scan by scan for previews.

import CKFCodecs
package import Foundation

/// Decodes what a progressive JPEG shows so far, while its bytes arrive.
///
/// Every byte is looked at and decoded once, whatever number of images is made in between: each of them costs no more
/// than bringing the coefficients to the screen. Besides those coefficients, only bytes that belong to the scan under
/// way are kept. For use by one thread at a time.
package final class ProgressiveJPEG: RowReader {
    /// The kind of file, as far as its first bytes tell.
    package enum Kind: Sendable {
        /// Not enough bytes yet.
        case unknown
        case progressive
        /// Another JPEG, or no JPEG at all.
        case other
    }
    package private(set) var kind = Kind.unknown
    /// How many scans have begun; all but the last are complete.
    package private(set) var scanCount = 0

    private let options: DecodingOptions
    private var segments = JPEGSegmentParser()
    private var byteCount = 0
    private let handle: OpaquePointer
    private var message = kf_message()
    /// The header, found when decoding began.
    private var header: JPEGHeader?
    private var rows: RowDecoding?
    private var failure: ImagingError?
    /// Whether all rows of the image under way could be decoded.
    private var isComplete = true

    /// Prepares for a file of which no byte has arrived.
    ///
    /// - Parameter options: The scale and the size of the images, and the limits.
    /// - Throws: ``ImagingError/outOfMemory(bytes:)``; ``ImagingError/unsupported(_:detail:)`` where images are not to
    ///   be decoded in this process.
    package init(options: DecodingOptions = DecodingOptions()) throws(ImagingError) {
        guard try DecoderPool.shared.forUse(options.limits.isolation) == nil else {
            throw .unsupported(.jpeg, detail: "previews are made in this process only, which is not to decode images")
        }
        guard BuiltInLibrary.jpeg.isThere else { throw .notBuiltIn("JPEG", package: BuiltInLibrary.jpeg.package) }
        guard let handle = kf_jpeg_scans_open(&message) else { throw message.error(decoding: .jpeg) }
        self.handle = handle
        self.options = options
    }

    deinit { kf_jpeg_close(handle) }

    /// Takes the next bytes of the file.
    package func append(_ data: Data) {
        guard kind != .other, failure == nil, !data.isEmpty else { return }
        data.withUnsafeBytes { bytes in
            examine(bytes)
            guard kind != .other else { return }
            if !kf_jpeg_scans_append(handle, bytes.start, bytes.count) { failure = .outOfMemory(bytes: bytes.count) }
        }
        byteCount += data.count
    }

    private func examine(_ bytes: UnsafeRawBufferPointer) {
        if byteCount < 2, zip([0xFF, 0xD8].dropFirst(byteCount), bytes).contains(where: !=) { return kind = .other }
        segments.parse(bytes) { event in
            if let frame = JPEGFrameHeader(event) {
                if kind == .unknown { kind = frame.isProgressive && frame.refusal == nil ? .progressive : .other }
            } else if case .segment(0xDA, _) = event {
                // The header of a scan has been parsed: the scans before it are complete.
                scanCount += 1
                if kind == .unknown { kind = .other }
            }
            return kind != .other
        }
    }

    /// The image as the first so many scans leave it.
    ///
    /// It is the image that the file would decode to if it ended after the scan; libjpeg smooths the edges of blocks of
    /// which little is known yet. Blocks the thread.
    /// - Parameter scan: Larger than in all calls before, and less than ``scanCount``.
    /// - Returns: The image, with its orientation as a label unless the size is limited.
    /// - Throws: ``ImagingError``. The file is then too damaged to go on with, or exceeds a limit.
    package func image(afterScan scan: Int) throws(ImagingError) -> Image {
        do throws(ImagingError) {
            if let failure { throw failure }
            guard kind == .progressive, scan >= 1, scan < scanCount else {
                throw .malformed(.jpeg, detail: "scan \(scan) is not complete")
            }
            return try decode(upToScan: scan)
        } catch {
            failure = error
            throw error
        }
    }

    private func decode(upToScan scan: Int) throws(ImagingError) -> Image {
        if header == nil { try start() }
        guard let header, let rows else { throw .malformed(.jpeg, detail: "there is no header") }
        isComplete = true
        try check(kf_jpeg_scans_begin(handle, UInt32(clamping: scan), &message))
        // With rows missing it is no image of the scan: other decoders fill them, a preview must not.
        guard var (bitmap, _) = try rows.bitmap(from: self), isComplete else { throw message.error(decoding: .jpeg) }
        var ending = kf_message()
        if kf_jpeg_scans_end(handle, &ending) != KF_OK { failure = ending.error(decoding: .jpeg) }
        var orientation = header.orientation
        if options.isReducing {
            bitmap = try options.finished(bitmap, orientation)
            orientation = .up
        }
        let metadata = Image.Metadata(contentType: .jpeg)
        return Image(cgImage: bitmap, scale: options.scale, orientation: orientation, metadata: metadata)
    }

    /// Reads the header, which is known to have arrived.
    private func start() throws(ImagingError) {
        var found = kf_jpeg_header()
        var isComplete = false
        let scans = UInt32(clamping: options.limits.maxScanCount)
        try check(kf_jpeg_scans_header(handle, scans, &found, &isComplete, &message))
        guard isComplete else { throw .malformed(.jpeg, detail: "the header is not complete") }
        let header = JPEGHeader(found)
        try header.check(options.limits)
        let target = options.target(for: header.size, header.orientation)
        var (width, height): (UInt32, UInt32) = (0, 0)
        // A preview is shown for a moment: less is decoded for it, and a smaller kernel does.
        let eighths = header.eighths(covering: target.size, times: 1)
        try check(kf_jpeg_scans_start(handle, eighths, &width, &height, &message))
        self.header = header
        rows = header.decoding(from: PixelSize(Int(width), Int(height)), eighths: eighths, to: target)
        rows?.filter = .bilinear
    }

    private func check(_ status: kf_status) throws(ImagingError) {
        if status != KF_OK { throw message.error(decoding: .jpeg) }
    }

    func read(into rows: UnsafeMutablePointer<UInt8>, bytesPerRow: Int, count: Int) -> Int {
        let done = Int(kf_jpeg_read(handle, rows, bytesPerRow, UInt32(count), &message))
        isComplete = isComplete && done == count
        return done
    }
}
