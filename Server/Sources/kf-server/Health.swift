// `kf-server health`: whether a server of the same environment works. For containers, which ask again and again.

import ArgumentParser
import Foundation
import KFImageURLs
import Kingfisher

struct Health: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Asks the server that runs with this environment for /health; exits with 1 unless the status is 200."
    )

    func run() async throws {
        let configuration = ServerConfiguration.read(ProcessInfo.processInfo.environment).configuration
        guard let url = URL(string: "http://\(configuration.address.reachable)/health") else { throw ExitCode(1) }
        let downloader = Self.downloader
        do {
            print(String(decoding: try await downloader.downloadData(with: url).data, as: UTF8.self), terminator: "")
        } catch {
            complain(["error: \(url.absoluteString): \(error.localizedDescription)"])
            throw ExitCode(1)
        }
    }

    /// Takes 200 of the server itself within five seconds, and nothing else: no proxy's response, no redirect.
    private static var downloader: ImageDownloader {
        var settings = CurlTransport.Configuration()
        settings.proxy = ""
        let downloader = ImageDownloader(name: "health", transport: CurlTransport(configuration: settings))
        (downloader.downloadTimeout, downloader.totalTimeout) = (5, 5)
        (downloader.acceptableStatusCodes, downloader.maxRedirectCount) = ([200], 0)
        return downloader
    }
}

extension ServerConfiguration.Address {
    /// The address with a host to connect to, as URLs write it: this machine where the server listens on all addresses.
    fileprivate var reachable: String {
        switch host {
        case "", "0.0.0.0": "127.0.0.1:\(port)"
        case "::": "[::1]:\(port)"
        case let host where host.contains(":"): "[\(host)]:\(port)"
        case let host: "\(host):\(port)"
        }
    }
}
