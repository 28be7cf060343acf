// From the path of a request to the plan of an image: prefix, signature, options, source. For the handlers.

package import Foundation

/// What a path says.
package struct ParsedPath: Hashable, Sendable {
    package let plan: ImagePlan
    /// What was read in another way than it was meant; for the log.
    package let warnings: [String]
}

/// What the path of an upload says.
package struct ParsedUpload: Hashable, Sendable {
    /// What becomes of it; the plan has no source.
    package let plan: ImagePlan
    /// Whether not an image is wanted, but what is known of the upload.
    package let wantsFacts: Bool
    /// What was read in another way than it was meant; for the log.
    package let warnings: [String]
}

/// Reads the URLs of images, and those of uploads.
///
///     /SIGNATURE/OPTION:ARGUMENT:…/OPTION:…/plain/SOURCE@FORMAT
///     /SIGNATURE/OPTION:ARGUMENT:…/OPTION:…/SOURCE IN BASE64.FORMAT
///     /SIGNATURE/OPTION:ARGUMENT:…/OPTION:…
///     /SIGNATURE/info
package struct PathParser: Sendable {
    private let settings: URLSettings

    package init(settings: URLSettings) {
        self.settings = settings
    }

    /// Reads a path as it was sent: nothing in it is decoded.
    ///
    /// A query is ignored.
    package func parse(_ path: String, now: Date = Date()) throws(RequestError) -> ParsedPath {
        let (signature, segments) = try split(path)
        try checkSignature(signature, of: segments)
        var builder = PlanBuilder(settings: settings)
        let source = try options(in: segments, into: &builder, now: now)
        var plan = builder.plan
        try read(source: source, into: &plan)
        return ParsedPath(plan: plan, warnings: builder.warnings)
    }

    /// Reads the path of an upload as it was sent.
    ///
    /// The signature is that of a path without a source. A query is ignored.
    package func parseUpload(_ path: String, now: Date = Date()) throws(RequestError) -> ParsedUpload {
        let (signature, signed) = try split(path)
        try checkSignature(signature, of: signed)
        var segments = signed
        let wantsFacts = segments.last == "info"
        if wantsFacts { segments.removeLast() }
        var builder = PlanBuilder(settings: settings)
        let rest = try options(in: segments, into: &builder, now: now)
        guard rest.isEmpty else {
            throw .malformedPath("The path of an upload is /signature/options, without a source, or /signature/info.")
        }
        try checkFormat(of: builder.plan.output)
        return ParsedUpload(plan: builder.plan, wantsFacts: wantsFacts, warnings: builder.warnings)
    }

    /// Throws unless a signature is that of segments.
    private func checkSignature(_ signature: String, of segments: [String]) throws(RequestError) {
        // A network may have doubled slashes since the path was signed, and the program that signed may have done so,
        // too.
        let forms = [segments, withSingleSlashes(segments)].map { "/" + $0.joined(separator: "/") }
        try settings.signatures.check(signature, of: Set(forms))
    }

    /// Applies the options that segments begin with.
    ///
    /// - Returns: The segments behind them.
    private func options(
        in segments: [String],
        into builder: inout PlanBuilder,
        now: Date
    ) throws(RequestError) -> [String] {
        var segments = withSingleSlashes(segments)[...]
        if settings.presets["default"] != nil { try builder.apply(preset: "default") }
        if settings.allowsOnlyPresets {
            for name in segments.popFirst().map(settings.arguments(of:)) ?? [] { try builder.apply(preset: name) }
        } else {
            while let segment = segments.first, settings.arguments(of: segment).count > 1 {
                try builder.apply(segment: segment)
                segments.removeFirst()
            }
        }
        if let expiration = builder.plan.delivery.expirationDate, expiration < now { throw .expired }
        return Array(segments)
    }

    /// The signature and the segments that are signed, without the prefix and the query.
    private func split(_ path: String) throws(RequestError) -> (signature: String, signed: [String]) {
        var path = parts(of: path, by: "?")[0]
        if !settings.prefix.isEmpty {
            guard path.utf8.starts(with: (settings.prefix + "/").utf8) else {
                throw .malformedPath("The path does not begin with \(settings.prefix).")
            }
            path = String(Substring(path.utf8.dropFirst(settings.prefix.utf8.count)))
        }
        let segments = parts(of: repaired(path), by: "/")
        let named = segments.drop { $0.isEmpty }
        guard segments[0].isEmpty, let signature = named.first, named.count > 1 else {
            throw .malformedPath("The path is not /signature/options/source.")
        }
        return (signature, Array(named.dropFirst()))
    }

    private func read(source segments: [String], into plan: inout ImagePlan) throws(RequestError) {
        let isPlain = segments.first == "plain" && segments.count > 1
        if segments.first == "enc" && segments.count > 1 { throw .badSource("Encrypted sources cannot be read.") }
        let hasFilename = !isPlain && segments.count > 1 && settings.base64IncludesFilename
        let segments = hasFilename ? segments.dropLast() : segments
        let pieces =
            isPlain
            ? parts(of: segments.dropFirst().joined(separator: "/"), by: "@")
            : parts(of: segments.joined(), by: ".")
        guard !pieces[0].isEmpty else { throw .badSource("There is no source.") }
        guard pieces.count <= 2 else { throw .badSource("The source has more than one extension.") }

        guard var source = isPlain ? percentDecoded(pieces[0]) : decodedBase64URL(pieces[0]),
            !hasControlCharacters(source)
        else {
            throw .badSource(
                "The source \(quoted(pieces[0])) is not \(isPlain ? "percent-encoded" : "in base64 for URLs")."
            )
        }
        for replacement in settings.replacements { source = replacement.applied(to: source) }
        let base = Array(settings.baseURL.utf8)
        plan.sourceBytes = source.starts(with: base) ? source : base + source
        guard settings.allows(source: plan.sourceBytes) else {
            throw .badSource("The source \(quoted(plan.source)) is not among those that are allowed.")
        }
        if pieces.count == 2 { try read(extension: pieces[1], into: &plan) }
        try checkFormat(of: plan.output)
    }

    private func read(extension name: String, into plan: inout ImagePlan) throws(RequestError) {
        guard !name.isEmpty, !plan.output.isRaw else { return }
        guard let format = FileFormat(name: name) else { throw .unknownFormat(name: name) }
        plan.output.format = format
    }

    /// A source that is sent as it is may have any format, as drawings are.
    private func checkFormat(of output: ImagePlan.Output) throws(RequestError) {
        guard !output.isRaw, output.format != .svg, let format = output.format, !output.keptFormats.contains(format)
        else { return }
        guard settings.writableFormats.contains(format) else { throw .formatNotWritable(format) }
    }
}
