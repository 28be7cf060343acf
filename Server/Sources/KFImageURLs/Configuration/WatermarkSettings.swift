// The image that is laid over results whose URLs ask for it: where it comes from, and its settings. For the renderer.

package import Foundation

/// The watermark of a server.
package struct WatermarkSettings: Hashable, Sendable {
    /// Where its image comes from.
    package enum Origin: Hashable, Sendable {
        /// A file, which is read once.
        case file(String)
        /// The bytes of an image.
        case data(Data)
        /// A source as in URLs; it is loaded when it is first needed, and asked about again as others are.
        case source(String)
    }

    /// Nil draws none.
    package var origin: Origin?
    /// The factor for the opacities that URLs name, from 0 to 1.
    package var opacity = 1.0

    package init() {}

    var path: String? {
        get { if case .file(let path)? = origin { path } else { nil } }
        set { origin = newValue.map { .file($0) } ?? origin }
    }

    var data: Data? {
        get { if case .data(let data)? = origin { data } else { nil } }
        set { origin = newValue.map { .data($0) } ?? origin }
    }

    var source: String? {
        get { if case .source(let source)? = origin { source } else { nil } }
        set { origin = newValue.map { .source($0) } ?? origin }
    }
}

extension SettingsTable {
    /// Of several images the last one counts.
    static let watermark: [Setting] = [
        Setting(
            "WATERMARK_URL",
            Value.text("source").orNil(""),
            \.watermark.source,
            help: "The image that the option watermark lays over results, a source as in URLs: loaded when it is first"
                + " needed, and asked about again as sources are."
        ),
        Setting(
            "WATERMARK_PATH",
            Value.text("file").orNil(""),
            \.watermark.path,
            help: "The same as a file, which is read at the start; comes before KF_WATERMARK_URL."
        ),
        Setting(
            "WATERMARK_DATA",
            Value.base64.orNil(""),
            \.watermark.data,
            help: "The same in base64; comes before both."
        ),
        Setting(
            "WATERMARK_OPACITY",
            .number(0...1),
            \.watermark.opacity,
            help: "The factor for the opacities that URLs name."
        ),
    ]
}

extension Value where T == Data {
    /// Bytes in base64, with either alphabet.
    fileprivate static var base64: Self {
        Value(
            words: "base64",
            read: { text in
                let text = text.replacing("+", with: "-").replacing("/", with: "_")
                return decodedBase64URL(text).map { Data($0) }
            },
            write: { "(\($0.count) bytes)" }
        )
    }
}
