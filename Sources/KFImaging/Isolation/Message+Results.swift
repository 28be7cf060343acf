// How a decoder's results are written, and read where nothing of them is believed.

import Foundation

extension MessageWriter {
    mutating func add(_ info: ImageInfo) {
        add(info.contentType.rawValue)
        add(info.pixelWidth)
        add(info.pixelHeight)
        add(info.orientation.rawValue)
        add(info.frameCount)
        add(info.duration) { $0.add($1) }
        add(info.loopCount) { $0.add($1) }
        add(info.hasAlpha)
        add(info.colorProfileName) { $0.add($1) }
    }

    mutating func add(_ frame: FrameDescription) {
        add(frame.x)
        add(frame.y)
        add(frame.size.width)
        add(frame.size.height)
        add(frame.delay)
        add(FrameDescription.Disposal.allCases.firstIndex(of: frame.disposal) ?? 0)
        add(frame.blend == .over)
        add(frame.isOpaque)
    }

    mutating func add(_ error: ImagingError) {
        switch error {
        case .malformed(let type, let detail): add(0, type, detail)
        case .unsupported(let type, let detail): add(1, type, detail)
        case .limitExceeded(let limit, let allowed, let width, let height):
            add(2)
            add(limit)
            for number in [allowed, width, height] { add(number) }
        case .tooManyFrames(let count, let allowed):
            add(3)
            add(count)
            add(allowed)
        case .outOfMemory(let bytes):
            add(4)
            add(bytes) { $0.add($1) }
        case .unrecognizedFormat(let resembling):
            add(5)
            add(resembling) { $0.add($1) }
        case .emptyData: add(6)
        case .notBuiltIn(let what, let package):
            add(7)
            add(what)
            add(package)
        // Nothing that a decoder does: it has no files, no coders and no decoders, and writes no image.
        case .unreadableFile, .encodingFailed, .coderFailed, .decoderEnded, .isolationUnavailable:
            add(1, .unknown, "\(error)")
        }
    }

    private mutating func add(_ kind: Int, _ type: ImageContentType, _ detail: String) {
        add(kind)
        add(type.rawValue)
        add(detail)
    }
}

extension MessageReader {
    mutating func orientation() throws(MalformedMessage) -> Orientation {
        guard let orientation = Orientation(rawValue: try count()) else { throw MalformedMessage() }
        return orientation
    }

    /// The information about a file of a known format and length.
    mutating func info(of type: ImageContentType, byteCount: Int) throws(MalformedMessage) -> ImageInfo {
        // What it says of the format is not needed.
        _ = try string()
        var info = ImageInfo(contentType: type, size: try size(), byteCount: byteCount)
        info.orientation = try orientation()
        info.frameCount = try int(in: 0...1 << 32)
        info.duration = try optional { reader throws(MalformedMessage) in try reader.seconds() }
        info.loopCount = try optional { reader throws(MalformedMessage) in try reader.count() }
        info.hasAlpha = try bool()
        info.colorProfileName = try optional { reader throws(MalformedMessage) in try reader.string() }
        return info
    }

    mutating func frame() throws(MalformedMessage) -> FrameDescription {
        let (x, y) = (try int(in: 0...1 << 32), try int(in: 0...1 << 32))
        var frame = FrameDescription(x: x, y: y, size: try size(), delay: try seconds())
        frame.disposal = FrameDescription.Disposal.allCases[try int(in: 0...2)]
        frame.blend = try bool() ? .over : .source
        frame.isOpaque = try bool()
        return frame
    }

    mutating func error() throws(MalformedMessage) -> ImagingError {
        switch try int(in: 0...7) {
        case 0: return .malformed(ImageContentType(rawValue: try string()), detail: try string())
        case 1: return .unsupported(ImageContentType(rawValue: try string()), detail: try string())
        case 2:
            let (limit, allowed) = (try string(), try int(in: Int.min...Int.max))
            let (width, height) = (try int(in: 0...1 << 32), try int(in: 0...1 << 32))
            return .limitExceeded(limit: limit, allowed: allowed, width: width, height: height)
        case 3: return .tooManyFrames(try count(), allowed: try int(in: Int.min...Int.max))
        case 4: return .outOfMemory(bytes: try optional { reader throws(MalformedMessage) in try reader.count() })
        case 5:
            let resembling = try optional { reader throws(MalformedMessage) in try reader.string() }
            return .unrecognizedFormat(resembling: resembling)
        case 7: return .notBuiltIn(try string(), package: try string())
        default: return .emptyData
        }
    }
}
