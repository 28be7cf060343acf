// What requests for sources have that their URL does not say: cookies, and trust in certificates. For the renderer.

import Foundation
import FoundationNetworking
package import HTTPTypes
package import KFImageURLs
@_spi(Server) import Kingfisher
@_spi(Server) import KingfisherTiers

extension SourceSettings {
    /// The cookies of a request that are sent to the server of a source; nil for none.
    ///
    /// They are taken for cookies that say neither their host nor their path: those of the page `cookieBase`, or else
    /// of all that is on the host that the request was sent to.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - source: The source.
    /// - Returns: The value of the field.
    package func cookies(of request: HTTPRequest, for source: [UInt8]) -> String? {
        guard handsCookiesOn, let url = lenientURL(source), ["http", "https"].contains(url.scheme?.lowercased() ?? "")
        else { return nil }
        let cookies = request.headerFields[values: .cookie].joined(separator: "; ")
        guard !cookies.isEmpty else { return nil }
        if handsCookiesToAll { return cookies }
        let page = cookieBase.flatMap { lenientURL($0.utf8) }
        let home = page?.host ?? Self.host(of: request)
        guard home.lowercased() == url.host?.lowercased(), page.map({ url.isBelowFolder(of: $0) }) ?? true else {
            return nil
        }
        return cookies
    }

    /// The host that a client sent a request to, without the port; before proxies changed it, if they say so.
    private static func host(of request: HTTPRequest) -> String {
        let forwarded = HTTPField.Name("X-Forwarded-Host").flatMap { request.headerFields[$0] }
        return lenientURL("http://\(forwarded ?? request.authority ?? "")".utf8)?.host ?? ""
    }
}

extension URL {
    /// Whether the path is that of another URL's folder, or leads further from there.
    fileprivate func isBelowFolder(of page: URL) -> Bool {
        let other = page.path(percentEncoded: true)
        let folder = other[..<(other.lastIndex(of: "/") ?? other.startIndex)]
        let own = path(percentEncoded: true)
        // Servers take `..` out of paths, escaped too, which might lead out of the folder.
        guard let decoded = percentDecoded(own),
            !decoded.split(separator: UInt8(ascii: "/")).contains(where: { $0.elementsEqual("..".utf8) })
        else { return false }
        return own == folder || own.hasPrefix("\(folder)/")
    }
}

/// Sends a client's cookies to the server of a source, and to no other one that it redirects to; loads with the same
/// ones share their work.
struct CookieModifier: ImageDownloadRequestModifier, Hashable {
    let cookies: String

    func modified(for request: URLRequest) -> URLRequest? {
        var request = request
        request.setValue(cookies, forHTTPHeaderField: "Cookie")
        return request
    }

    /// The options of a load with cookies: nothing that others were sent is used, and nothing is kept for others.
    static func options(_ cookies: String) -> KingfisherOptionsInfo {
        [.requestModifier(CookieModifier(cookies: cookies))] + KingfisherOptionsInfo.keptNowhere
    }
}

extension KingfisherOptionsInfo {
    /// The options of a load that uses nothing from the caches, and leaves nothing there.
    static var keptNowhere: KingfisherOptionsInfo {
        [.forceRefresh, .memoryCacheExpiration(.expired), .diskCacheExpiration(.expired)]
    }
}

/// Accepts every certificate.
final class Trust: AuthenticationChallengeResponsible, Sendable {
    static let everybody = Trust()

    func downloader(
        _ downloader: ImageDownloader,
        didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) { (.useCredential, nil) }
}

extension DeliverySettings.Fallback {
    /// The server's own image; nil if there is none, or its file cannot be read.
    var image: RawImageDataProvider? {
        guard isOwn else { return nil }
        let bytes = data.isEmpty ? path.flatMap { try? Data(contentsOf: URL(filePath: $0)) } : Data(data)
        return bytes.map { RawImageDataProvider(data: $0, cacheKey: "fallback:\(checksum(of: $0))") }
    }
}

/// A text that differs for different bytes.
private func checksum(of data: Data) -> String {
    SHA256.hash(Array(data)).map { String($0, radix: 16) }.joined(separator: ".")
}
