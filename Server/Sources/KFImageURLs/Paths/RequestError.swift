// Why a URL is refused, and with which status. For the parser and the handlers.

/// A URL that is not served.
package enum RequestError: Error, Hashable, Sendable {
    /// The signature is not that of the path.
    case wrongSignature
    /// The place of the signature has options, as if it had been forgotten.
    case missingSignature(found: String)
    /// An option that the server's configuration does not allow.
    case forbiddenOption(name: String)
    /// An option that is not among those that the configuration allows.
    case disallowedOption(name: String)
    /// A path without the parts that each has.
    case malformedPath(String)
    case unknownOption(name: String)
    /// Arguments that the option does not take.
    case badOption(name: String, complaint: String)
    case unknownPreset(name: String)
    case expired
    /// A source that cannot be read or is not allowed.
    case badSource(String)
    case unknownFormat(name: String)
    /// A format that is known, but that the server cannot write.
    case formatNotWritable(FileFormat)

    /// The status code of the answer.
    package var status: Int {
        switch self {
        case .wrongSignature, .missingSignature, .forbiddenOption: 403
        case .formatNotWritable: 422
        default: 404
        }
    }

    /// One word or more for metrics and the log, without anything of the URL.
    package var kind: String {
        switch self {
        case .wrongSignature: "wrong_signature"
        case .missingSignature: "missing_signature"
        case .forbiddenOption: "forbidden_option"
        case .disallowedOption: "disallowed_option"
        case .malformedPath: "malformed_path"
        case .unknownOption: "unknown_option"
        case .badOption: "bad_option"
        case .unknownPreset: "unknown_preset"
        case .expired: "expired"
        case .badSource: "bad_source"
        case .unknownFormat: "unknown_format"
        case .formatNotWritable: "format_not_writable"
        }
    }

    /// The name of the option or preset that it is about, for the log; nil where it may be something else, as a source
    /// is.
    package var subject: String? {
        switch self {
        case .forbiddenOption(let name), .disallowedOption(let name), .unknownOption(let name), .badOption(let name, _),
            .unknownPreset(let name):
            let isName = name.utf8.count <= 40 && name.wholeMatch(of: #/[A-Za-z0-9_.\-]+/#) != nil
            return isName ? name : nil
        default: return nil
        }
    }

    /// A sentence for those who develop, with parts of the URL; others are only told the status.
    package var reason: String {
        switch self {
        case .wrongSignature: "The signature is not that of this path."
        case .missingSignature(let found):
            "\(quoted(found)) is in the place of the signature, which seems to be missing."
        case .forbiddenOption(let name): "The option \(quoted(name)) needs KF_ALLOW_SECURITY_OPTIONS."
        case .disallowedOption(let name):
            "The option \(quoted(name)) is not among KF_ALLOWED_PROCESSING_OPTIONS."
        case .malformedPath(let complaint): complaint
        case .unknownOption(let name): "Unknown processing option \(quoted(name))."
        case .badOption(let name, let complaint): "Option \(quoted(name)): \(complaint)."
        case .unknownPreset(let name): "Unknown preset \(quoted(name))."
        case .expired: "The URL has expired."
        case .badSource(let complaint): complaint
        case .unknownFormat(let name): "Unknown image format \(quoted(name))."
        case .formatNotWritable(let format): "Images cannot be written as \(format.rawValue)."
        }
    }
}

/// A part of a URL as messages show it: short, and without control characters.
func quoted(_ text: String) -> String {
    let shown = text.unicodeScalars.prefix(60).map { $0.properties.generalCategory == .control ? "?" : String($0) }
    return "\"" + shown.joined() + (text.unicodeScalars.count > 60 ? "…\"" : "\"")
}
