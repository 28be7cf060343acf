// From the client's `Accept` to the formats that it gets. For the routes.

package import KFImageURLs
import Kingfisher

/// The request for a plan's result, in a format that the client accepts where the configuration says so.
///
/// One that is enforced replaces the one that the URL names. Whether it is an animation is not known yet: where the URL
/// names a format for these, or none, an enforced format that is not for animations gives way.
package func negotiated(
    _ plan: ImagePlan,
    accept: String?,
    _ configuration: ServerConfiguration
) -> RenderingRequest {
    guard configuration.output.negotiates, !plan.output.isRaw else { return RenderingRequest(plan: plan) }
    let offered = configuration.output.negotiable.filter { configuration.urls.writableFormats.contains($0.format) }
    let preferred = AcceptedFormats(accept).preferred(of: offered.map(\.format.contentType))
    let accepted = preferred.compactMap { type in offered.first { $0.format.contentType == type } }
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
