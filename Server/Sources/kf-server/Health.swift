// `kf-server health`: whether a server of the same environment works. For containers, which ask again and again.

import ArgumentParser
import Foundation
import FoundationNetworking
import KFImageURLs

struct Health: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Asks the server that runs with this environment for /health; exits with 1 unless the status is 200."
    )

    func run() async throws {
        let configuration = ServerConfiguration.read(ProcessInfo.processInfo.environment).configuration
        guard let url = URL(string: "http://\(configuration.address.reachable)/health") else { throw ExitCode(1) }
        let session = URLSession(configuration: .ephemeral)
        do {
            let (data, response) = try await session.data(for: URLRequest(url: url, timeoutInterval: 5))
            let status = (response as? HTTPURLResponse)?.statusCode ?? 0
            print(String(decoding: data, as: UTF8.self), terminator: "")
            if status != 200 { throw ExitCode(1) }
        } catch let error as URLError {
            complain([
                "error: \(url.absoluteString) does not answer (URLError \(error.code.rawValue)); does the server run?"
            ])
            throw ExitCode(1)
        }
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
