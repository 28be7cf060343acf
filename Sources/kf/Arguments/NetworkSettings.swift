// Checks of a proxy's URL and of a file of certificates, made before anything is loaded through them.

import Foundation
import KFSupport

/// Finds network settings that cannot work.
enum NetworkSettings {
    private static let proxySchemes = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"]

    /// The problem with the URL of a proxy; nil if the URL is valid or empty.
    ///
    /// Does not repeat the URL, which may hold a password.
    static func problem(ofProxy text: String) -> String? {
        guard !text.isEmpty else { return nil }
        guard let parts = URLComponents(string: text.contains("://") ? text : "http://" + text),
            let scheme = parts.scheme, let host = parts.host, !host.isEmpty
        else { return "that is no URL with a host; write one like http://proxy.example:3128" }
        guard proxySchemes.contains(scheme.lowercased()) else {
            return "\"\(scheme)\" is no kind of proxy; use one of \(proxySchemes.joined(separator: ", "))"
        }
        guard (1...65_535).contains(parts.port ?? 1) else { return "there is no port \(parts.port ?? 0)" }
        return nil
    }

    /// The problem with a file of trusted certificates; nil if the file has at least one.
    static func problem(ofCertificates path: String) -> String? {
        guard !path.isEmpty else { return "that needs the name of a file" }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return "cannot read \(path): \(String(cString: strerror(errno)))" }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            return "cannot read \(path): that is no file"
        }
        guard let bytes = try? file.readToEnd() else { return holdsNone(path) }
        let kinds = ["CERTIFICATE", "TRUSTED CERTIFICATE", "X509 CERTIFICATE"]
        let holdsOne = kinds.contains { bytes.range(of: Data("-----BEGIN \($0)-----".utf8)) != nil }
        return holdsOne ? nil : holdsNone(path)
    }

    private static func holdsNone(_ path: String) -> String {
        "there is no certificate in \(path); name a file of certificates in the PEM format"
    }
}
