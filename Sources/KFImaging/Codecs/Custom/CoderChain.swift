// Asks one coder after the other, with the built-in ones at their priority.

import Foundation

/// The coders of one moment, and how they are asked.
struct CoderChain {
    /// Those asked before the built-in ones, and those asked after them.
    let before: [any ImageCoder]
    let after: [any ImageCoder]

    func info(of data: Data) throws(ImagingError) -> ImageInfo {
        let data = data.rebased
        return try ask {
            $0.canDecode(data)
        } of: { coder in
            if let info = try coder.info(of: data) { return info }
            let image = try coder.decode(data, options: ImageDecodingOptions())
            guard image.cgImage != nil else { throw CoderError(description: "it gave an image without pixels") }
            let type = image.contentType ?? ImageContentType(sniffing: data) ?? .unknown
            var info = ImageInfo(
                contentType: type,
                size: PixelSize(image.pixelWidth, image.pixelHeight),
                byteCount: data.count
            )
            (info.orientation, info.hasAlpha) = (image.imageOrientation, image.hasAlpha)
            return info
        } builtIn: { () throws(ImagingError) in
            try Codecs.builtInInfo(of: data)
        }
    }

    func decode(_ data: Data, options: DecodingOptions) throws(ImagingError) -> Image {
        let data = data.rebased
        return try ask {
            $0.canDecode(data)
        } of: { coder in
            try finished(coder.decode(data, options: options), of: data, options)
        } builtIn: { () throws(ImagingError) in
            try Codecs.decodeBuiltIn(data, options: options)
        }
    }

    func frames(of data: Data, limits: ImageDecodingLimits) throws(ImagingError) -> (any ImageFrameSource)? {
        let data = data.rebased
        let before = before.filter { $0.canDecode(data) }
        if let frames = try Self.frames(of: data, by: before, limits) { return frames }
        var failure: ImagingError?
        do throws(ImagingError) {
            if let frames = try Codecs.builtInFrameSource(of: data, limits: limits) { return frames }
        } catch {
            failure = error
        }
        let after = after.filter { $0.canDecode(data) }
        if let frames = try Self.frames(of: data, by: after, limits) { return frames }
        // A coder that accepts the bytes may still decode a still image from them.
        if let failure, before.isEmpty, after.isEmpty { throw failure }
        return nil
    }

    /// The frames of the first coder that has some, which may not be too many; looks at none.
    private static func frames(
        of data: Data,
        by coders: [any ImageCoder],
        _ limits: ImageDecodingLimits
    ) throws(ImagingError) -> (any ImageFrameSource)? {
        for coder in coders {
            guard let frames = coder.frames(of: data) else { continue }
            try limits.check(frameCount: frames.frameCount)
            return frames
        }
        return nil
    }

    func encode(
        _ image: Image,
        as type: ImageContentType,
        options: ImageEncodingOptions
    ) throws(ImagingError) -> Data {
        let upright = try image.upright()
        guard upright.cgImage != nil else { throw .encodingFailed(type, detail: "the image is empty") }
        do {
            return try ask {
                $0.canEncode(type)
            } of: { coder in
                try coder.encode(upright, as: type, options: options)
            } builtIn: { () throws(ImagingError) in
                try Codecs.encodeBuiltIn(upright, as: type, options)
            }
        } catch .coderFailed(let reasons) {
            throw .encodingFailed(type, detail: reasons.joined(separator: "; "))
        }
    }

    /// The first result.
    ///
    /// An error of the built-in coders alone is thrown unchanged.
    private func ask<Value>(
        _ isWilling: (any ImageCoder) -> Bool,
        of work: (any ImageCoder) throws -> Value,
        builtIn: () throws(ImagingError) -> Value
    ) throws(ImagingError) -> Value {
        var reasons: [String] = []
        func first(_ coders: [any ImageCoder]) -> Value? {
            for coder in coders where isWilling(coder) {
                do { return try work(coder) } catch { reasons.append("\(type(of: coder)): \(error)") }
            }
            return nil
        }
        if let value = first(before) { return value }
        let failure: ImagingError
        do throws(ImagingError) {
            return try builtIn()
        } catch {
            failure = error
        }
        let builtInReason = reasons.count
        if let value = first(after) { return value }
        if reasons.isEmpty { throw failure }
        reasons.insert("built-in: \(failure)", at: builtInReason)
        throw .coderFailed(reasons)
    }

    /// The image that a coder returned, made to fit the request.
    private func finished(_ image: Image, of data: Data, _ options: DecodingOptions) throws -> Image {
        guard let bitmap = image.cgImage else { throw CoderError(description: "it gave an image without pixels") }
        try options.limits.check(width: bitmap.width, height: bitmap.height)
        var metadata = image.metadata
        metadata.contentType = metadata.contentType ?? ImageContentType(sniffing: data)
        guard options.isReducing else {
            metadata.decodedFrom = ContentFingerprint(data)
            return Image(
                cgImage: bitmap,
                scale: options.scale,
                orientation: image.imageOrientation,
                metadata: metadata
            )
        }
        let small = try bitmap.resampled(to: options.target(for: bitmap.size, image.imageOrientation))
        return Image(
            cgImage: try options.finished(small, image.imageOrientation),
            scale: options.scale,
            orientation: .up,
            metadata: Image.Metadata(contentType: metadata.contentType)
        )
    }
}

extension Data {
    /// The same bytes counted from 0, as coders expect them.
    fileprivate var rebased: Data { startIndex == 0 ? self : subdata(in: startIndex..<endIndex) }
}
