// Where the watermark of a server comes from, and the newest one. For the renderer, and for what checks a
// configuration.

import Foundation
import Glibc
package import KFImageURLs
@_spi(Server) import Kingfisher
import Synchronization

/// Keeps the watermark of a server: one of a file or of bytes for good, one of a source until other bytes come from
/// there.
final class WatermarkKeeper: Sendable {
    private struct Kept {
        let checksum: UInt64?
        let watermark: Watermark
    }

    private let origin: WatermarkSettings.Origin
    private let opacity: Double
    private let check: SourceCheck
    private let kept = Mutex<Kept?>(nil)

    /// Nil where the server draws none.
    init?(_ configuration: ServerConfiguration) {
        guard let origin = configuration.watermark.origin, configuration.watermark.opacity > 0 else { return nil }
        (self.origin, opacity) = (origin, configuration.watermark.opacity)
        var plan = ImagePlan()
        plan.limits.animationFrames = 1
        check = SourceCheck(configuration.sources, plan)
    }

    /// The request for its bytes, as they are; nil where they come from no source.
    var request: RenderingRequest? {
        guard case .source(let source) = origin else { return nil }
        var plan = ImagePlan()
        plan.source = source
        plan.output.isRaw = true
        return RenderingRequest(plan: plan)
    }

    /// The newest one; nil if none has been needed yet.
    var newest: Watermark? { kept.withLock { $0?.watermark } }

    /// The watermark of a file or of bytes, decoded when it is first asked for; it blocks the thread then.
    func fixed() throws(RenderingError) -> Watermark? {
        if let newest { return newest }
        let data: Data
        switch origin {
        case .source: return nil
        case .data(let bytes): data = bytes
        case .file(let path):
            guard let file = fopen(path, "re"), let bytes = try? Self.bytes(of: file) else {
                throw .watermark("\(path) cannot be read: \(String(cString: strerror(errno)))")
            }
            data = bytes
        }
        return try watermark(of: data, checksum: nil)
    }

    private static func bytes(of file: UnsafeMutablePointer<FILE>) throws -> Data {
        defer { fclose(file) }
        return try FileHandle(fileDescriptor: fileno(file), closeOnDealloc: false).readToEnd() ?? Data()
    }

    /// The watermark that came from a source; decoded only if other bytes did before.
    func loaded(_ image: EncodedImage) async throws(RenderingError) -> Watermark {
        let known = kept.withLock { $0 }
        if let known, known.checksum == image.checksum { return known.watermark }
        // Decoding blocks the thread.
        let result = await withCheckedContinuation { answer in
            DispatchQueue.global().async { [self] in
                answer.resume(
                    returning: Result { () throws(RenderingError) in
                        try watermark(of: image.data, checksum: image.checksum)
                    }
                )
            }
        }
        return try result.get()
    }

    private func watermark(of data: Data, checksum: UInt64?) throws(RenderingError) -> Watermark {
        let watermark: Watermark
        do { watermark = try Watermark(data, opacity: opacity, check: check) } catch {
            throw .watermark("it is no image that can be used: \(error.reason)")
        }
        kept.withLock { $0 = Kept(checksum: checksum, watermark: watermark) }
        return watermark
    }

    /// Decodes it, if it is here; what it is, in words.
    func summary() throws(InvalidConfiguration) -> String {
        do throws(RenderingError) {
            if case .source = origin { return "loaded when it is first needed" }
            guard let size = try fixed()?.size else { return "none" }
            return "\(size.width)×\(size.height) pixels"
        } catch {
            if case .data = origin { throw InvalidConfiguration(complaints: ["KF_WATERMARK_DATA: \(error.reason)"]) }
            throw InvalidConfiguration(complaints: ["KF_WATERMARK_PATH: \(error.reason)"])
        }
    }
}

extension ServerConfiguration {
    /// What the watermark is, in words, after it was decoded if it comes from a file or from bytes.
    ///
    /// - Throws: ``InvalidConfiguration`` if it cannot be read or decoded.
    package func watermarkSummary() throws(InvalidConfiguration) -> String {
        try WatermarkKeeper(self)?.summary() ?? "none"
    }
}

extension RenderingError {
    /// There is no watermark, though the server should have one: results that ask for it are not sent unmarked.
    static func watermark(_ reason: String) -> Self {
        Self(status: 500, kind: "watermark", reason: "The server's watermark cannot be used: \(reason)")
    }
}
