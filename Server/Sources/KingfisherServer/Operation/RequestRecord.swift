// What is known of a request for an image, for the log and the metrics. The routes fill it in.

import Logging

/// One request.
///
/// The log has the host of the source and nothing else of URLs: paths have signatures, and sources may have
/// credentials.
struct RequestRecord {
    /// What stands for the source of what is made of an upload.
    static let upload = "upload://"

    let identifier: String
    private let started = ContinuousClock.now
    var source: String?
    var warnings: [String] = []
    var status = 0
    /// Nil if nothing was sent but an error.
    var origin: ImageOrigin?
    var byteCount = 0
    /// Whether a part of what was sent is missing.
    var isDamaged = false
    var error: RenderingError?

    init(identifier: String) {
        self.identifier = identifier
    }

    /// Counts it, and writes a line: errors of the server as warnings, answers from the caches only for debugging.
    func write(to logger: Logger, _ metrics: ServerMetrics) {
        let duration = ContinuousClock.now - started
        metrics.count(status: status, origin: origin, error: error?.kind)
        if isDamaged { metrics.countDamaged() }
        metrics.observe(.request, duration)
        let level = level
        guard logger.logLevel <= level else { return }
        var metadata: Logger.Metadata = [
            "request_id": .string(identifier),
            "status": .stringConvertible(status),
            "ms": .stringConvertible((duration / .milliseconds(1) * 1000).rounded() / 1000),
        ]
        if let source { metadata["source_host"] = .string(host(of: source)) }
        if let origin {
            metadata["from"] = .string(origin.rawValue)
            metadata["bytes"] = .stringConvertible(byteCount)
        }
        if let error {
            metadata["kind"] = .string(error.kind)
            if let subject = error.subject { metadata["name"] = .string(subject) }
            // Reasons for which there is no source are about the URL, and quote it.
            if source != nil { metadata["reason"] = .string(error.reason) }
        }
        let warnings =
            warnings + (isDamaged ? ["The source is damaged or incomplete: the part that is there was sent."] : [])
        if !warnings.isEmpty { metadata["warnings"] = .array(warnings.map { .string($0) }) }
        logger.log(level: level, error == nil ? "served" : "failed", metadata: metadata)
    }

    private var level: Logger.Level {
        if let error { return error.status >= 500 ? .warning : .info }
        return warnings.isEmpty && (origin == .memory || origin == .disk) ? .debug : .info
    }
}

/// The host of a URL, without user, password and port; `local` for files, `upload` for uploads.
package func host(of source: String) -> String {
    guard let scheme = source.utf8.firstRange(of: "://".utf8) else { return "" }
    if source.hasPrefix("local://") { return "local" }
    if source == RequestRecord.upload { return "upload" }
    let authority = source.utf8[scheme.upperBound...].prefix { !"/?#\\".utf8.contains($0) }
    let host = authority.lastIndex(of: UInt8(ascii: "@")).map { authority[$0...].dropFirst() } ?? authority
    if host.first == UInt8(ascii: "[") { return String(Substring(host.prefix { $0 != UInt8(ascii: "]") })) + "]" }
    return String(Substring(host.prefix { $0 != UInt8(ascii: ":") }))
}
