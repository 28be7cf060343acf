// The downloader of sources, within the limits that a server sets. For the renderer.

import Foundation
import KFImageURLs
@_spi(Server) import Kingfisher

extension ImageDownloader {
    /// A downloader for the sources of a server.
    convenience init(name: String, for configuration: ServerConfiguration) {
        self.init(name: name)
        let sources = configuration.sources
        let session = URLSessionConfiguration.ephemeral
        session.httpCookieAcceptPolicy = .never
        if let agent = sources.userAgent {
            let agent = agent.replacing("%current_version", with: versionOfLibrary())
            session.httpAdditionalHeaders = ["User-Agent": agent]
        }
        if sources.trustsEverybody { authenticationChallengeResponder = Trust.everybody }
        sessionConfiguration = session
        var refused = AddressPolicy.publicOnly.refused
        if sources.allowsLoopbackAddresses { refused.remove(.loopback) }
        if sources.allowsLinkLocalAddresses { refused.remove(.linkLocal) }
        if sources.allowsPrivateAddresses { refused.subtract([.private, .uniqueLocal, .carrierGradeNAT]) }
        addressPolicy = AddressPolicy(refusing: refused)
        maxRedirectCount = sources.maxRedirects
        maxResponseBytes = sources.maxBytes > 0 ? sources.maxBytes : .max
        if configuration.maxSourceBytesInQueue > 0 { maxBytesInFlight = configuration.maxSourceBytesInQueue }
        connectTimeout = Double(sources.connectTimeout)
        maxConnectionsPerHost = sources.maxConnections
        let seconds = configuration.secondsForSource
        (totalTimeout, downloadTimeout) = (seconds, seconds)
    }
}
