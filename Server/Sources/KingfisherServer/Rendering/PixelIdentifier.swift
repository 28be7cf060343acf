// What tells the results of two plans apart before they are encoded. For the keys of the caches.

import KFImageURLs
import Kingfisher

extension ImagePlan {
    /// Is raised when the same plan makes another image than before: what the disk has is made anew then.
    private static let renderingVersion = 2

    /// A text of all that changes a pixel, and of nothing else; two plans of one text have one result.
    ///
    /// Only numbers, names of cases, base64 and a hash are in it, and none of them has a colon or a slash, so it can be
    /// read in one way only. A group of fields that has its defaults is left out. Of the watermark it has what tells it
    /// from others, if one is drawn.
    func pixelIdentifier(
        resultLimit: Int,
        keptFormats: Set<ImageContentType>,
        drawings: Drawings,
        watermark image: String?,
        space: WorkingSpace
    ) -> String {
        let defaults = ImagePlan()
        var text = "imgproxy\(Self.renderingVersion)"
        func add(_ name: String, _ values: any CustomStringConvertible...) {
            text += "/" + name
            for value in values { text += ":" + value.description }
        }
        if !delivery.cacheBuster.isEmpty { add("version", encodedBase64URL(delivery.cacheBuster.utf8)) }
        addLimits(add)
        guard !output.isRaw else { return text + "/raw" }
        if resizing != defaults.resizing {
            add("size", resizing.kind.rawValue, resizing.width, resizing.height, resizing.minWidth, resizing.minHeight)
            add("scale", resizing.zoomX, resizing.zoomY, resizing.dpr, resizing.enlarges)
        }
        if space == .linear { add("light") }
        if gravity != Gravity() { add("gravity", gravity.kind.rawValue, gravity.x, gravity.y) }
        if crop != defaults.crop {
            add("crop", crop.width, crop.height)
            if let own = crop.ownGravity { add("cropgravity", own.kind.rawValue, own.x, own.y) }
        }
        if let threshold = trim.threshold {
            add("trim", threshold, trim.color?.number ?? "auto", trim.isEqualHorizontally, trim.isEqualVertically)
        }
        if turning != defaults.turning {
            add("turn", turning.followsOrientation, turning.rotation.rawValue)
            add("flip", turning.flipsHorizontally, turning.flipsVertically)
        }
        if effects != defaults.effects { add("effects", effects.blur, effects.sharpen, effects.pixelate) }
        addCanvas(add)
        // Where a format is named they cannot be anything else.
        if output.format == nil || output.format == .svg, drawings != .cleaned { add("drawings", drawings.rawValue) }
        if let image {
            add("watermark", image, watermark.opacity, watermark.position.rawValue)
            add("mark", watermark.x, watermark.y, watermark.scale)
        }
        if resultLimit > 0 { add("limit", resultLimit) }
        // What a named format cannot hold is made smaller.
        if formatLimit != .none { add("format", formatLimit.side, formatLimit.pixelCount) }
        if !keptFormats.isEmpty { add("kept", keptFormats.compactMap { $0.preferredFileExtension }.sorted()) }
        return text
    }

    private func addCanvas(_ add: (String, any CustomStringConvertible...) -> Void) {
        if canvas.extends { add("extend", canvas.gravity.kind.rawValue, canvas.gravity.x, canvas.gravity.y) }
        if canvas.extendsToAspectRatio {
            let gravity = canvas.aspectRatioGravity
            add("ratio", gravity.kind.rawValue, gravity.x, gravity.y)
        }
        if padding != Sides() { add("padding", padding.top, padding.right, padding.bottom, padding.left) }
        if let background { add("background", background.number) }
    }

    /// Limits decide whether there is a result, so those with other ones do not share a load.
    private func addLimits(_ add: (String, any CustomStringConvertible...) -> Void) {
        if let value = limits.sourceMegapixels { add("megapixels", value) }
        if let value = limits.sourceBytes { add("bytes", value) }
        if let value = limits.frameMegapixels { add("framepixels", value) }
        if let value = limits.resultDimension { add("dimension", value) }
    }
}

extension KFImageURLs.Color {
    fileprivate var number: Int { Int(red) << 16 | Int(green) << 8 | Int(blue) }
}
