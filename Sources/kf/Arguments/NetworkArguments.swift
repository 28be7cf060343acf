// The options of downloads, and the downloader made from them.

import ArgumentParser
import Foundation
import KFSupport
import Kingfisher

/// The options of downloads: time limits, proxy, certificates and header fields.
struct NetworkArguments: ParsableArguments {
    /// The sentence of commands that mostly read files, whose help leaves these options out.
    static let mention =
        "For URLs there are --timeout, --retry, --proxy, --header and others: --help-hidden lists them."

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Give up on a download that stands still this long.", valueName: "seconds")
    )
    var timeout: Double = 15

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Give up on a connection that takes longer: name look-up, TCP and TLS. (default: that of --timeout)",
            valueName: "seconds"
        )
    )
    var connectTimeout: Double?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Give up on a download that takes longer in all, redirects included. (default: no limit)",
            valueName: "seconds"
        )
    )
    var maxTime: Double?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            """
            Repeat a download this many times if it failed for a reason that may pass: the status 408, 425, 429 or 5xx, \
            or a broken connection. Waits of 1, 2, 4 and up to 30 seconds come before, or what the server asks for.
            """,
            valueName: "n"
        )
    )
    var retry = 0

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Download through this proxy; '' is none. (default: what http_proxy, https_proxy, all_proxy and no_proxy "
                + "say)",
            valueName: "url"
        )
    )
    var proxy: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Trust the certificates in this PEM file. (default: those of SSL_CERT_FILE, SSL_CERT_DIR or the system)",
            valueName: "file"
        ),
        completion: .file()
    )
    var cacert: String?

    @Option(
        name: .customLong("header"),
        parsing: .singleValue,
        help: ArgumentHelp("Send this header field with every request; may be repeated.", valueName: "'Name: value'")
    )
    var headers: [HeaderField] = []

    func validate() throws {
        for (name, value) in [("--timeout", timeout), ("--connect-timeout", connectTimeout), ("--max-time", maxTime)] {
            guard let value else { continue }
            guard value > 0, value.isFinite else { throw ValidationError("\(name) must be more than 0 seconds") }
        }
        guard (0...1000).contains(retry) else { throw ValidationError("--retry must be from 0 to 1000") }
        if let proxy, let problem = NetworkSettings.problem(ofProxy: proxy) {
            throw ValidationError("--proxy: \(problem)")
        }
        if let cacert, let problem = NetworkSettings.problem(ofCertificates: cacert) {
            throw ValidationError("--cacert: \(problem)")
        }
    }

    /// A downloader with these options.
    ///
    /// - Parameter connections: The most connections to one host at once; nil is the library's own limit.
    /// - Returns: The downloader.
    func downloader(connections: Int? = nil) -> ImageDownloader {
        var configuration = CurlTransport.Configuration()
        if let connections {
            configuration.connectionsPerHost = connections
            configuration.maxConcurrentTransfers = max(configuration.maxConcurrentTransfers, connections)
        }
        configuration.proxy = proxy
        configuration.certificateFile = cacert
        let downloader = ImageDownloader(name: "kf", transport: CurlTransport(configuration: configuration))
        downloader.downloadTimeout = timeout
        downloader.connectTimeout = connectTimeout
        downloader.totalTimeout = maxTime
        // What --max-bytes may have set.
        downloader.maxResponseBytes = ImageDownloader.default.maxResponseBytes
        downloader.delegate = ImageStatus.rule
        return downloader
    }

    /// When a download is repeated; nil for never.
    var retryStrategy: DelayRetryStrategy? {
        guard retry > 0 else { return nil }
        return DelayRetryStrategy(maxRetryCount: retry, retryInterval: .exponential()) { $0.isTransient }
    }

    /// The options of loads: the header fields of requests, and when they are repeated.
    var options: KingfisherOptionsInfo {
        let modifier = AnyModifier { [headers] request in
            var request = request
            for field in headers { request.addValue(field.value, forHTTPHeaderField: field.name) }
            return request
        }
        return (headers.isEmpty ? [] : [.requestModifier(modifier)])
            + (retryStrategy.map { [.retryStrategy($0)] } ?? [])
    }
}

/// Decides which status codes can come with an image.
///
/// The library also accepts redirects without a target and "no content".
final class ImageStatus: ImageDownloaderDelegate, Sendable {
    static let rule = ImageStatus()

    func isValidStatusCode(_ code: Int, for downloader: ImageDownloader) -> Bool {
        (200..<300).contains(code) && code != 204 && code != 205
    }
}

/// `Name: value`.
struct HeaderField: Equatable, Sendable, ExpressibleByArgument {
    let name: String
    let value: String

    /// Nil unless the name is valid and neither part can start another line.
    init?(argument: String) {
        guard let colon = argument.firstIndex(of: ":") else { return nil }
        let name = argument[..<colon]
        let value = argument[argument.index(after: colon)...].trimmingCharacters(in: .whitespaces)
        let marks = "!#$%&'*+-.^_`|~"
        guard !name.isEmpty, name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || marks.contains($0)) }),
            value.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F })
        else { return nil }
        self.name = String(name)
        self.value = value
    }
}
