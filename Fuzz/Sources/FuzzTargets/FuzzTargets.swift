// Everything that is fuzzed, by name. Knows nothing of libFuzzer.

import Foundation
import KFImaging

/// One thing that broken bytes are thrown at.
struct FuzzTarget: Sendable {
    let name: String
    /// False when the bytes are of another kind and not worth keeping.
    let run: @Sendable (Data) -> Bool

    static let all: [FuzzTarget] = stills + scans + animations + parts

    /// Small, so that a run is fast; the limits themselves are tested elsewhere.
    static let limits: ImageDecodingLimits = {
        var limits = ImageDecodingLimits(maxPixelCount: 1 << 22, maxScanCount: 20, maxCoefficientBytes: 16 << 20)
        limits.maxFrameCount = 100
        limits.maxAnimationPixelCount = 1 << 22
        return limits
    }()

    /// Whether an image is what images are; ends the process when it is not.
    static func examine(_ bitmap: Bitmap, atMost pixels: Int) {
        precondition(bitmap.width > 0 && bitmap.height > 0 && bitmap.width * bitmap.height <= pixels)
        // Looking at every pixel of a large one takes longer than decoding it.
        guard bitmap.width * bitmap.height <= 1 << 17 else { return }
        bitmap.withUnsafeBytes { bytes in
            precondition(bytes.count >= bitmap.height * bitmap.bytesPerRow && bitmap.bytesPerRow >= bitmap.width * 4)
            for y in 0..<bitmap.height {
                for x in 0..<bitmap.width {
                    let place = y * bitmap.bytesPerRow + x * 4
                    let alpha = bytes[place + 3]
                    precondition(bitmap.hasAlpha || alpha == 255, "an opaque bitmap has a transparent pixel")
                    let most = max(bytes[place], bytes[place + 1], bytes[place + 2])
                    precondition(most <= alpha, "a pixel is not premultiplied")
                }
            }
        }
    }
}

/// The number of the target of a name; -1 when there is none.
@_cdecl("kf_fuzz_find")
public func find(_ name: UnsafePointer<CChar>) -> Int32 {
    let name = String(cString: name)
    return Int32(FuzzTarget.all.firstIndex { $0.name == name } ?? -1)
}

/// Prints the names of all targets.
@_cdecl("kf_fuzz_list")
public func list() {
    for target in FuzzTarget.all { print(target.name) }
}

/// Runs a target; -1 when the bytes are not worth keeping.
@_cdecl("kf_fuzz_run")
public func run(_ target: Int32, _ bytes: UnsafePointer<UInt8>, _ size: Int) -> Int32 {
    // A copy of the exact size: reading beyond its end is noticed.
    FuzzTarget.all[Int(target)].run(Data(bytes: bytes, count: size)) ? 0 : -1
}
