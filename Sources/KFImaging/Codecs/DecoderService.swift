// What a decoder process does with a request. The product KingfisherDecoder brings the requests.

import Foundation

/// Answers requests, with the codecs of this process.
///
/// For one thread.
package final class DecoderService {
    /// The most animations that are open; the least recently used one is closed for another.
    private static let mostAnimations = 8

    private var animations: [(number: Int, decoder: any FrameDecoder)] = []
    private var opened = 0

    /// A service without animations.
    package init() {}

    /// Does what libraries do the first time they are used, as far as it needs files.
    package static func prepare() { Codecs.prepare() }

    /// Answers a request.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - bytes: The bytes of the file; empty for requests without a file.
    ///   - output: The memory that the answer will be written to.
    /// - Returns: The answer; nil for a request to repeat one.
    package func answer(
        _ request: DecoderRequest,
        _ bytes: UnsafeRawBufferPointer,
        for output: UnsafeMutableRawBufferPointer
    ) -> DecoderAnswer? {
        if ImageDecodingLimits.default != request.limits { ImageDecodingLimits.default = request.limits }
        animations.removeAll { request.closed.contains($0.number) }
        do throws(ImagingError) {
            switch request.work {
            case .info:
                let info = try Codecs.codec(for: bytes).info(bytes)
                return .done { $0.add(info) }
            case .exif:
                let exif = try Codecs.codec(for: bytes).exif(bytes)
                return .done { writer in writer.add(exif) { $0.add($1) } }
            case .decode(let options):
                BitmapMemory.offer(DecoderAnswer.memoryOfBitmap(in: output))
                defer { BitmapMemory.offer(nil) }
                return .image(try Codecs.codec(for: bytes).decode(bytes, options))
            case .open: return try open(bytes, request.limits)
            case .frame(let index, let animation): return frame(index, of: animation)
            case .repeatAnswer: return nil
            }
        } catch {
            return .failed(error)
        }
    }

    private func open(
        _ bytes: UnsafeRawBufferPointer,
        _ limits: ImageDecodingLimits
    ) throws(ImagingError) -> DecoderAnswer {
        // The memory that the bytes lie in is used for other files, too.
        let data = Data(bytes)
        guard let decoder = try Codecs.codec(for: bytes).frames(of: data, limits: limits) else {
            return .done { $0.add(false) }
        }
        if animations.count == Self.mostAnimations { animations.removeFirst() }
        opened += 1
        animations.append((opened, decoder))
        return .done { [opened] writer in
            writer.add(true)
            writer.add(opened)
            writer.add(decoder)
        }
    }

    private func frame(_ index: Int, of animation: Int) -> DecoderAnswer {
        guard let position = animations.firstIndex(where: { $0.number == animation }),
            animations[position].decoder.frames.indices.contains(index)
        else { return .closed }
        let used = animations.remove(at: position)
        animations.append(used)
        let width = used.decoder.frames[index].size.width
        var (rows, pixels): ([Int], [UInt32]) = ([], [])
        var failure: ImagingError?
        do throws(ImagingError) {
            try used.decoder.decode(index) { y, row in
                rows.append(y)
                pixels.append(contentsOf: UnsafeBufferPointer(start: row, count: width))
            }
        } catch {
            failure = error
        }
        return .frame(rows: rows, pixels, failure)
    }
}
