// How the decoders of this process are locked, in a line. For `/health` and `kf-server check`.

package import Kingfisher

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
