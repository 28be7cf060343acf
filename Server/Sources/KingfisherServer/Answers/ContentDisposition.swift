// The name that browsers save a result under. For the answers.

import Foundation
import KFImageURLs

/// The field `Content-Disposition` of a plan's result.
///
/// Whatever the name, the field has only printable ASCII, and no quote but its own. The extension is the result's,
/// without dot; nil takes the source's.
func contentDisposition(of plan: ImagePlan, fileExtension: String?, isAttachment: Bool) -> String {
    let source = lastPart(of: plan.source)
    let stem = plan.delivery.filename ?? (source.stem.isEmpty ? "image" : source.stem)
    let name = "\(stem).\(fileExtension ?? (source.fileExtension.isEmpty ? "bin" : source.fileExtension))"
    let kind = isAttachment ? "attachment" : "inline"
    if name.utf8.allSatisfy(isUnreserved) { return "\(kind); filename=\"\(name)\"" }
    let field = "\(kind); filename=\"\(String(decoding: name.unicodeScalars.map(safeByte), as: UTF8.self))\""
    if name.utf8.allSatisfy({ $0 < 0x80 }) { return field }
    return "\(field); filename*=UTF-8''\(name.utf8.map(escaped).joined())"
}

/// The last part of a source's path in two, at the dot before its extension; empty texts if there is none.
private func lastPart(of source: String) -> (stem: String, fileExtension: String) {
    // The name of a file is neither escaped nor followed by a query.
    let isFile = source.utf8.starts(with: "local://".utf8)
    let path = source.utf8.prefix { isFile || $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
    let separator = "://".utf8
    let colon = path.firstIndex(of: UInt8(ascii: ":")).map { path[$0...] }
    let afterScheme = colon.flatMap { $0.starts(with: separator) ? $0.dropFirst(separator.count) : nil } ?? path
    guard let slash = afterScheme.lastIndex(of: UInt8(ascii: "/")) else { return ("", "") }
    let last = String(Substring(afterScheme[slash...].dropFirst()))
    let decoded = isFile ? nil : percentDecoded(last).flatMap { String(validating: $0, as: UTF8.self) }
    let name = decoded ?? last
    guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")) else { return (name, "") }
    return (String(name[..<dot]), String(name[dot...].dropFirst()))
}

private func safeByte(_ scalar: Unicode.Scalar) -> UInt8 {
    let isSafe =
        scalar.isASCII && scalar.value >= 0x20 && scalar.value != 0x7F && !"\"\\/%".unicodeScalars.contains(scalar)
    return isSafe ? UInt8(scalar.value) : UInt8(ascii: "_")
}

private func escaped(_ byte: UInt8) -> String {
    if isUnreserved(byte) { return String(Unicode.Scalar(byte)) }
    return "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
}
