// The warning about images that are smaller than the thumbnails asked for, for `kf fetch` and `kf process`.

import Foundation
import KFImaging

extension PipelineStep {
    /// The warning when a pipeline begins with a thumbnail that is larger than the image, and does not enlarge it.
    ///
    /// - Parameters:
    ///   - steps: The pipeline.
    ///   - original: The bytes of the image; nil when they are not known.
    /// - Returns: What happened, and how to enlarge the image; nil when it was large enough.
    static func enlargingWarning(_ steps: [PipelineStep], original: Data?) -> String? {
        guard case .thumbnail(let size, let mode, _, _)? = steps.first, let original,
            let info = try? ImageInfo(data: original), info.contentType != .svg
        else { return nil }
        let box = Thumbnail(
            width: Int(size.width),
            height: Int(size.height),
            mode: mode.libraryMode,
            anchor: .center,
            enlarges: false
        )
        let stored = PixelSize(info.pixelWidth, info.pixelHeight)
        let shown = info.orientation.isTransposing ? stored.transposed : stored
        guard box.isTooLarge(for: shown) else { return nil }
        func side(_ length: Int) -> String { length > 0 ? "\(length)" : "" }
        let text = "\(side(box.width))x\(side(box.height))"
        let instead =
            switch mode {
            case _ where box.width == 0 || box.height == 0: "resize(\(text))"
            case .fill: "resize(\(text),aspectFill)|>crop(\(text))"
            case .fit, .exact: "resize(\(text),aspectFit)"
            }
        return
            "the image of \(shown.width)×\(shown.height) is too small for thumbnail(\(text)), which does not enlarge "
            + "it; use \(instead) to enlarge it"
    }
}
