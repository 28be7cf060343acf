// Progressive JPEGs that arrive in pieces, decoded after every scan.

import Foundation
import KFImaging

extension FuzzTarget {
    static let scans = [FuzzTarget(name: "scans-jpeg", run: watch)]

    @Sendable private static func watch(_ data: Data) -> Bool {
        // The bytes also determine the size of the pieces.
        guard data.count > 4, data.starts(with: [0xFF, 0xD8]), let last = data.last else { return false }
        let side = last.isMultiple(of: 3) ? 16 : nil
        let options = DecodingOptions(maxPixelSize: side, limits: limits)
        guard let decoder = try? ProgressiveJPEG(options: options) else { return true }
        let piece = Int(last) + 1
        var shown = 0
        for start in stride(from: 0, to: data.count, by: piece) {
            decoder.append(data[start..<min(start + piece, data.count)])
            let complete = decoder.scanCount - 1
            guard decoder.kind == .progressive, complete > shown else { continue }
            shown = complete
            guard let image = try? decoder.image(afterScan: complete) else { return true }
            if let bitmap = image.cgImage { examine(bitmap, atMost: limits.maxPixelCount) }
        }
        return decoder.kind != .other
    }
}
