// The decoders of this process, as the settings say, and how they are locked. For servers, `/health` and `kf-server
// check`.

package import KFImageURLs
package import Kingfisher

extension KFImageURLs.ServerConfiguration {
    /// Has the images of this process decoded where the settings say, within their limits; to be called before the
    /// first.
    ///
    /// - Throws: ``InvalidConfiguration`` if they have to be decoded in locked processes, and there can be none.
    package func isolateDecoders() throws(InvalidConfiguration) {
        var limits = ImageDecodingLimits.default
        limits.isolation =
            switch isolation {
            case .required: .required
            case .sandboxed: .sandboxed
            case .none: .inProcess
            }
        // Longer, and nobody waits for the image any more.
        limits.maxDecodingDuration = Double(timeout)
        // A decoder gets the memory that the largest source may take; URLs may raise the limit where that is allowed.
        let mostPixels = Int(sources.maxMegapixels * 1e6)
        limits.maxPixelCount = urls.allowsSecurityOptions ? max(limits.maxPixelCount, mostPixels) : mostPixels
        ImageDecodingLimits.default = limits
        guard isolation == .required, let obstacle = DecodingIsolation.status.obstacle else { return }
        let advice = "KF_ISOLATION=sandboxed decodes in the process of the server where it must; see docs/security.md."
        throw InvalidConfiguration(
            complaints: ["KF_ISOLATION: Sources cannot be decoded in locked processes: \(obstacle). \(advice)"]
        )
    }
}

extension DecodingIsolation {
    /// Where images are decoded, and what a decoder is locked by; the first call starts one, and waits for it.
    package static func summary(of isolation: DecodingIsolation) -> String {
        if isolation == .inProcess { return "in this process" }
        let status = DecodingIsolation.status
        if let obstacle = status.obstacle {
            return (isolation == .required ? "none, since " : "in this process, since ") + obstacle
        }
        let locks = [
            status.landlock > 0 ? "Landlock \(status.landlock)" : nil, status.seccomp ? "seccomp" : nil,
            status.limits ? "limits" : nil,
        ]
        return "processes locked by " + locks.compactMap(\.self).joined(separator: ", ")
    }
}
