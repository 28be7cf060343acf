// All fuzz targets by name, and the functions that libFuzzer's entry in kf-fuzz calls.

import Foundation
import KFImaging

/// A decoder that is run on broken bytes.
struct FuzzTarget: Sendable {
    let name: String
    /// Runs the target; false when the bytes are of another kind and not worth keeping.
    let run: @Sendable (Data) -> Bool

    static let all: [FuzzTarget] = stills + scans + animations + parts + isolated + answers

    /// The limits of decoding, small so that a run is fast.
    static let limits: ImageDecodingLimits = {
        var limits = ImageDecodingLimits(maxPixelCount: 1 << 22, maxScanCount: 20, maxCoefficientBytes: 16 << 20)
        limits.maxFrameCount = 100
        limits.maxAnimationPixelCount = 1 << 22
        return limits
    }()

    /// Ends the process if a bitmap breaks the rules that hold for all bitmaps.
    static func examine(_ bitmap: Bitmap, atMost pixels: Int) {
        precondition(bitmap.width > 0 && bitmap.height > 0 && bitmap.width * bitmap.height <= pixels)
        // Examining every pixel of a large bitmap takes longer than decoding it.
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

/// The number of the target with a name; -1 when there is none.
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
    // A copy of the exact size, so that the sanitizer detects reading beyond its end.
    FuzzTarget.all[Int(target)].run(Data(bytes: bytes, count: size)) ? 0 : -1
}
