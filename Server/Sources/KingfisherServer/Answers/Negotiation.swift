// From the client's `Accept` to the formats that it gets. For the routes.

package import KFImageURLs

/// The request for a plan's result, in a format that the client accepts where the configuration says so.
///
/// One that is enforced replaces the one that the URL names. Whether it is an animation is not known yet: where the URL names
/// a format for these, or none, an enforced format that is not for animations gives way.
package func negotiated(
    _ plan: ImagePlan,
    accept: String?,
    _ configuration: ServerConfiguration
) -> RenderingRequest {
    guard configuration.output.negotiates, !plan.output.isRaw else { return RenderingRequest(plan: plan) }
    let acceptance = Acceptance(accept ?? "")
    let accepted = configuration.output.negotiable
        .filter { configuration.urls.writableFormats.contains($0.format) && acceptance.names($0.format) }
        .sorted { acceptance.quality(of: $0.format) > acceptance.quality(of: $1.format) }
    let enforced = accepted.filter { $0.mode == .enforced }.map(\.format)
    guard let named = plan.output.format else {
        return RenderingRequest(
            plan: plan,
            preferredFormats: enforced + accepted.map(\.format).filter { !enforced.contains($0) }
        )
    }
    if named == .svg { return RenderingRequest(plan: plan) }
    if FileFormat.animated.contains(named) { return RenderingRequest(plan: plan, preferredFormats: enforced) }
    var plan = plan
    plan.output.format = enforced.first ?? named
    return RenderingRequest(plan: plan)
}

extension OutputSettings {
    /// Whether any answer depends on what clients accept.
    var negotiates: Bool { negotiable.contains { $0.mode != .off } }

    /// The formats that clients may get because they accept them, the smallest first.
    fileprivate var negotiable: [(format: FileFormat, mode: Negotiation)] {
        [(.avif, avif), (.webp, webP)].filter { $0.mode != .off }
    }
}

/// What a client accepts.
private struct Acceptance {
    /// Weights from 0 to 1 by range of media types.
    private var weights: [Substring: Double] = [:]

    init(_ field: String) {
        for item in field.split(separator: ",") {
            let parts = item.split(separator: ";").map { $0.trimmed() }
            guard let range = parts.first else { continue }
            let weight = parts.dropFirst().first { $0.hasPrefix("q=") || $0.hasPrefix("Q=") }
            weights[Substring(range.lowercased())] = weight.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
        }
    }

    /// Whether the client names the format, and likes it no less than JPEG.
    ///
    /// `*/*` names none: programs that send it may know no new formats.
    func names(_ format: FileFormat) -> Bool {
        guard let weight = weights["image/\(format.rawValue)"], weight > 0 else { return false }
        return weight >= quality(of: .jpeg)
    }

    func quality(of format: FileFormat) -> Double {
        weights["image/\(format.rawValue)"] ?? weights["image/*"] ?? weights["*/*"] ?? 0
    }
}

extension StringProtocol {
    /// Without spaces and tabs at its ends.
    func trimmed() -> SubSequence {
        let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        let tail = drop(while: isBlank)
        guard let last = tail.lastIndex(where: { !isBlank($0) }) else { return tail }
        return tail[...last]
    }
}
