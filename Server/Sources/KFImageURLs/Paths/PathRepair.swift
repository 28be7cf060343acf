// Undoes what content delivery networks do to paths. For the parser, before it checks the signature.

/// The path as it was before a network escaped colons and collapsed slashes.
///
/// Before `/plain/`, `%3A` and `%3a` become `:`. In the source behind it, `https:/host` becomes `https://host`, and
/// `local:/file` becomes `local:///file`.
func repaired(_ path: String) -> String {
    let bytes = Array(path.utf8)
    let plain = Array("/plain/".utf8)
    let marker = bytes.indices.first { bytes[$0] == plain[0] && bytes[$0...].starts(with: plain) }
    guard let marker else { return withColons(bytes[...]) }
    return withColons(bytes[..<marker]) + "/plain/" + withSlashes(bytes[(marker + plain.count)...])
}

/// The segments before the source without empty ones, which doubled slashes leave.
///
/// In a plain source a doubled slash means something; one in base64 has no segments that count.
func withSingleSlashes(_ segments: [String]) -> [String] {
    let source = segments.firstIndex(of: "plain") ?? segments.endIndex
    return segments[..<source].filter { !$0.isEmpty } + segments[source...]
}

private func withColons(_ bytes: ArraySlice<UInt8>) -> String {
    guard bytes.contains(UInt8(ascii: "%")) else { return String(decoding: bytes, as: UTF8.self) }
    let repaired = bytes.replacing("%3A".utf8, with: ":".utf8).replacing("%3a".utf8, with: ":".utf8)
    return String(decoding: repaired, as: UTF8.self)
}

private func withSlashes(_ source: ArraySlice<UInt8>) -> String {
    let colon = source.firstIndex { !isSchemeByte($0) }
    guard let colon, colon > source.startIndex, source[colon...].starts(with: ":/".utf8),
        source.count > colon + 2 - source.startIndex,
        source[colon + 2] != UInt8(ascii: "/")
    else { return String(decoding: source, as: UTF8.self) }
    let scheme = String(decoding: source[..<colon], as: UTF8.self)
    let rest = String(decoding: source[(colon + 2)...], as: UTF8.self)
    return scheme + (scheme == "local" ? ":///" : "://") + rest
}

private func isSchemeByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."): true
    default: false
    }
}
