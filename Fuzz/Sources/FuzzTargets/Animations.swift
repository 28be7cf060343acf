// The animations of every format: their frames in order, and then at random.

import Foundation
import KFImaging

extension FuzzTarget {
    static let animations = [("gif", ImageContentType.gif), ("apng", .png), ("webp", .webp), ("avif", .avif)]
        .map { name, type in FuzzTarget(name: "frames-\(name)") { play($0, as: type) } }

    private static func play(_ data: Data, as type: ImageContentType) -> Bool {
        guard ImageContentType(sniffing: data) == type else { return false }
        guard let source = (try? Codecs.frameSource(of: data, limits: limits)) ?? nil else { return true }
        precondition(source.frameCount > 0 && source.frameCount <= limits.maxFrameCount)
        let count = min(source.frameCount, 12)
        for index in 0..<count { examine(source, index) }
        for index in (0..<count).reversed() where index % 3 == 0 { examine(source, index) }
        precondition(source.frame(at: source.frameCount) == nil && source.frame(at: -1) == nil)
        let other = source.copy()
        precondition(other.frameCount == source.frameCount)
        examine(other, count - 1)
        return true
    }

    private static func examine(_ source: any ImageFrameSource, _ index: Int) {
        let duration = source.duration(at: index)
        precondition(duration.isFinite && duration >= 0)
        guard let frame = source.frame(at: index) else { return }
        examine(frame, atMost: limits.maxPixelCount)
    }
}
