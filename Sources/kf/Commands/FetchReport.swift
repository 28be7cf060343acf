// The outcome of one source of `kf fetch`, as a line for people and as one for scripts.

import KFImaging
import KFSupport
import Kingfisher

/// The outcome of one source.
struct FetchReport: Sendable {
    let source: String
    var key = ""
    var loaded: LoadedImage?
    var output: WrittenImage?
    /// Where the image is now, if that needs to be said.
    var whereabouts: String?
    var enlargingWarning: String?
    var failure: Failure?

    var isFailure: Bool { failure != nil }

    /// The warnings about a source that was loaded.
    var warnings: [String] {
        [
            loaded?.cacheProblem.map { "not cached: \($0)" },
            loaded?.refreshProblem.map { "out of date, perhaps: the cached image is used, since \($0)" },
            loaded?.image.isDamaged == true ? Failure.damage : nil,
            enlargingWarning,
            output?.warning,
        ].compactMap(\.self)
    }

    private var bytes: Int? { output?.bytes ?? loaded?.data?.count }

    private var format: String? {
        (output?.type ?? loaded?.data.flatMap { ImageContentType(sniffing: $0) } ?? loaded?.image.contentType)?.name
    }

    /// The line for scripts.
    var json: JSON {
        guard let loaded else { return failure?.json(about: source) ?? .null }
        return [
            "source": .string(Redaction.source(source)),
            "key": .string(Redaction.source(key)),
            "cacheType": .string("\(loaded.cacheType)"),
            "bytes": .optional(bytes, JSON.int),
            "width": .int(loaded.width),
            "height": .int(loaded.height),
            "frames": .int(output?.frames ?? loaded.image.frameCount ?? 1),
            "format": .optional(format?.lowercased(), JSON.string),
            "milliseconds": .milliseconds(loaded.seconds),
            "output": .optional(output?.path, JSON.string),
            "damaged": .bool(loaded.image.isDamaged),
        ]
    }

    /// The line for people.
    var line: String {
        guard let loaded else { return source }
        let origin =
            switch loaded.cacheType {
            case .none: "loaded"
            case .memory: "from memory"
            case .disk: "from disk"
            }
        var parts = ["\(loaded.width)×\(loaded.height)"]
        if let format { parts.append(format) }
        if let bytes { parts.append(Units.bytes(bytes)) }
        parts.append("\(origin) in \(Units.seconds(loaded.seconds))")
        return "\(Units.source(source)): \(parts.joined(separator: ", "))" + (whereabouts.map { " → \($0)" } ?? "")
    }
}
