// The same bytes in a decoder process, which is the program that users have, and in this one: the results are the same.

import Foundation
import KFImaging

extension FuzzTarget {
    static let isolated = [FuzzTarget(name: "isolated", run: compare)]

    @Sendable private static func compare(_ data: Data) -> Bool {
        guard let type = ImageContentType(sniffing: data), type != .svg else { return false }
        let there = Results(of: data, .required)
        for error in there.errors { examine(error, of: type) }
        // Their libraries would end this process for some files.
        guard !type.isDecodedOutside else { return true }
        let here = Results(of: data, .inProcess)
        demand(there.header.isLike(here.header), "the headers differ: \(there.header), \(here.header)")
        demand(there.exif == here.exif, "the EXIF blocks differ")
        for (one, other) in zip(there.images, here.images) {
            demand(one.isLike(other), "the images differ: \(one.failure, default: ""), \(other.failure, default: "")")
        }
        demand(there.frames.isLike(here.frames), "the frames differ")
        return true
    }

    /// Fails if a decoder could not be had, did what it may not, or ended where it should not have.
    private static func examine(_ error: ImagingError, of type: ImageContentType) {
        switch error {
        case .isolationUnavailable: demand(false, "\(error)")
        case .decoderEnded: demand(type.isDecodedOutside && !error.description.contains("signal 31"), "\(error)")
        default: break
        }
    }

    /// Ends this process, and says why: `precondition` does not say it in a release.
    private static func demand(_ holds: Bool, _ otherwise: @autoclosure () -> String) {
        if !holds { fatalError(otherwise()) }
    }
}

extension ImageContentType {
    /// Whether the library that decodes it is known to crash, which would end the fuzzer.
    var isDecodedOutside: Bool { [.heic, .heif, .jxl].contains(self) }
}

/// What becomes of a file.
private struct Results {
    typealias Pixels = [UInt8]

    let header: Result<ImageInfo, ImagingError>
    let exif: Data?
    let images: [Result<Pixels, ImagingError>]
    /// None for stills.
    let frames: Result<[Frame], ImagingError>

    struct Frame: Equatable {
        let delay: Double
        /// Of the first ones only.
        let pixels: Pixels?
    }

    init(of data: Data, _ isolation: DecodingIsolation) {
        var limits = FuzzTarget.limits
        limits.isolation = isolation
        limits.maxDecodingDuration = 10
        ImageDecodingLimits.default = limits
        header = Result { () throws(ImagingError) in try ImageInfo(data: data) }
        exif = Codecs.exif(of: data)
        images = [nil, 16].map { side in
            Result { () throws(ImagingError) in
                try Codecs.decode(data, options: DecodingOptions(maxPixelSize: side, limits: limits)).cgImage?.pixels
                    ?? []
            }
        }
        frames = Result { () throws(ImagingError) in
            guard let source = try Codecs.frameSource(of: data, limits: limits) else { return [] }
            return (0..<source.frameCount).map { index in
                Frame(delay: source.duration(at: index), pixels: index < 6 ? source.frame(at: index)?.pixels : nil)
            }
        }
    }

    var errors: [ImagingError] {
        let failures: [ImagingError?] = [header.failure, frames.failure] + images.map(\.failure)
        return failures.compactMap(\.self)
    }
}

extension Bitmap {
    fileprivate var pixels: [UInt8] {
        [hasAlpha ? 1 : 0]
            + withUnsafeBytes { bytes in
                (0..<height).flatMap { y in bytes[y * bytesPerRow..<y * bytesPerRow + width * 4] }
            }
    }
}

extension Result where Failure == ImagingError, Success: Equatable {
    fileprivate var failure: ImagingError? {
        if case .failure(let error) = self { error } else { nil }
    }

    /// Whether both are the same, or have errors of one kind.
    ///
    /// Memory may be short on one side only: it is bounded there, and here.
    fileprivate func isLike(_ other: Result) -> Bool {
        switch (self, other) {
        case (.failure(.outOfMemory), _), (_, .failure(.outOfMemory)): true
        case (.failure(let one), .failure(let other)): one == other
        default: self == other
        }
    }
}
