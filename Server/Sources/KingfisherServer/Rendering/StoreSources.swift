// Sources in stores that speak the protocol of S3: `s3://bucket/key` and `gs://bucket/key`. For the renderer.

import Foundation
import FoundationNetworking
package import KFImageURLs
@_spi(Server) import Kingfisher
@_spi(Server) import KingfisherTiers

/// The sources of one scheme.
struct StoreSources: ConditionalImageLoading {
    /// The field in which a response that the store has refused hands its reason on.
    fileprivate static let reasonField = "kf-reason"

    let scheme: String
    private let settings: StoreSettings
    /// Nil where keys have no versions behind them.
    private let querySeparator: String?
    private let reader: S3Reader

    /// Those that a configuration allows.
    ///
    /// - Throws: ``InvalidConfiguration`` if there can be no such endpoint or region.
    static func all(_ configuration: ServerConfiguration) throws(InvalidConfiguration) -> [StoreSources] {
        var stores: [StoreSources] = []
        let (s3, cloud) = (configuration.sources.s3, configuration.sources.googleCloud)
        if s3.isUsed { stores.append(try StoreSources("s3", s3, configuration, "KF_S3_ENDPOINT, KF_S3_REGION")) }
        if cloud.isUsed { stores.append(try StoreSources("gs", cloud, configuration, "KF_GCS_ENDPOINT")) }
        return stores
    }

    private init(
        _ scheme: String,
        _ settings: StoreSettings,
        _ configuration: ServerConfiguration,
        _ names: String
    ) throws(InvalidConfiguration) {
        let environment = ProcessInfo.processInfo.environment
        let region = [settings.region, environment["AWS_REGION"], environment["AWS_DEFAULT_REGION"]]
            .compactMap(\.self).first { !$0.isEmpty }
        let endpoint = settings.endpoint.flatMap { lenientURL($0.utf8) }
        guard settings.endpoint == nil || endpoint?.host != nil else {
            throw InvalidConfiguration(complaints: ["\(names): The endpoint is no URL such as https://s3.example.com."])
        }
        var place = S3Reader.Configuration(region: region ?? "us-east-1", endpoint: endpoint)
        if endpoint != nil { place.addressing = settings.usesPathStyle ? .path : .virtualHost }
        let sources = configuration.sources
        if sources.maxBytes > 0 { place.mostBytes = sources.maxBytes }
        place.connectTimeout = Double(sources.connectTimeout)
        place.answerTimeout = configuration.secondsForSource
        place.connections = sources.maxConnections
        var credentials = S3CredentialSource.automatic
        if let id = settings.accessKeyID, let secret = settings.secretAccessKey {
            credentials = .fixed(S3Credentials(accessKeyID: id, secretAccessKey: secret))
        }
        do { reader = try S3Reader(place, credentials: credentials) } catch {
            throw InvalidConfiguration(complaints: ["\(names): \(error)"])
        }
        (self.scheme, self.settings) = (scheme, settings)
        querySeparator = sources.querySeparator.isEmpty ? nil : sources.querySeparator
    }

    /// The URL of a source, which its cache keys are made of.
    ///
    /// What follows the bucket is the key, as it is, up to a question mark or what `KF_SOURCE_URL_QUERY_SEPARATOR`
    /// says; behind that is the version.
    func url(of source: [UInt8]) throws(RenderingError) -> URL {
        guard let object = StoredObject(source, querySeparator: querySeparator) else {
            throw refused("The source is not \(scheme)://bucket/key, with a key without the parts . and ..")
        }
        let isAllowed = settings.allowedBuckets.isEmpty || settings.allowedBuckets.contains(object.bucket)
        guard isAllowed, !settings.denies(object.bucket) else {
            throw refused("Sources may not be in this bucket, see KF_S3_ALLOWED_BUCKETS and its kin.")
        }
        guard let url = object.url(scheme) else { throw refused("The source is no URL.") }
        return url
    }

    private func refused(_ reason: String) -> RenderingError {
        RenderingError(status: 404, kind: "source_refused", reason: reason)
    }

    func canLoad(_ url: URL, options: KingfisherParsedOptionsInfo) -> Bool { url.scheme == scheme }

    func load(_ url: URL, unless conditions: [String: String]) async throws -> (Data, URLResponse?) {
        guard let object = StoredObject(url: url) else { throw URLError(.badURL) }
        let answer = try await reader.object(
            object.key,
            in: object.bucket,
            version: object.version,
            unless: conditions
        )
        var fields = answer.fields
        fields[Self.reasonField] = answer.reason
        let response = HTTPURLResponse(
            url: url,
            statusCode: answer.status,
            httpVersion: "HTTP/1.1",
            headerFields: fields
        )
        guard let response, 200..<300 ~= answer.status else {
            guard let response else { throw URLError(.badServerResponse) }
            throw KingfisherError.responseError(reason: .invalidHTTPStatusCode(response: response))
        }
        return (answer.data, response)
    }
}

extension HTTPURLResponse {
    /// Why a store has refused a source, and what to do about it; nil for the responses of other servers.
    var reasonOfStore: String? {
        guard let scheme = url?.scheme, ["s3", "gs"].contains(scheme) else { return nil }
        return value(forHTTPHeaderField: StoreSources.reasonField)
    }
}

extension ServerConfiguration {
    /// Throws ``InvalidConfiguration`` if a store of sources has an endpoint or a region that there cannot be.
    package func checkStores() throws(InvalidConfiguration) { _ = try StoreSources.all(self) }
}

/// The object of a store that a source names.
struct StoredObject {
    let bucket: String
    let key: String
    let version: String?

    /// Reads `scheme://bucket/key?version`; nil if the bucket could change the host, or the key the bucket.
    ///
    /// The separator stands between key and version; without one, all is the key.
    init?(_ source: [UInt8], querySeparator: String?) {
        guard let colon = source.firstIndex(of: UInt8(ascii: ":")), source[colon...].starts(with: "://".utf8) else {
            return nil
        }
        let rest = source[(colon + 3)...]
        guard let slash = rest.firstIndex(of: UInt8(ascii: "/")),
            let bucket = String(validating: rest[..<slash], as: UTF8.self), Self.isBucket(bucket)
        else { return nil }
        let query = querySeparator.flatMap { rest[slash...].firstRange(of: Array($0.utf8)) }
        let path = rest[slash..<(query?.lowerBound ?? rest.endIndex)].drop { $0 == UInt8(ascii: "/") }
        guard !path.isEmpty, let key = String(validating: path, as: UTF8.self), !Self.hasDots(key) else { return nil }
        (self.bucket, self.key) = (bucket, key)
        version = query.flatMap { String(validating: rest[$0.upperBound...], as: UTF8.self) }
    }

    /// Reads what ``url(_:)`` made; a fragment is no part of it.
    init?(url: URL) {
        let pieces = url.absoluteString.prefix { $0 != "#" }.split(separator: "?", maxSplits: 1)
        guard let decoded = pieces.first.flatMap({ percentDecoded(String($0)) }),
            var object = StoredObject(decoded, querySeparator: nil)
        else { return nil }
        if pieces.count > 1 { object = object.with(version: pieces[1].removingPercentEncoding) }
        self = object
    }

    private init(bucket: String, key: String, version: String?) {
        (self.bucket, self.key, self.version) = (bucket, key, version)
    }

    private func with(version: String?) -> StoredObject { StoredObject(bucket: bucket, key: key, version: version) }

    /// The same as a URL, in which each object has one name.
    func url(_ scheme: String) -> URL? {
        let query = version.flatMap(Self.escaped).map { "?" + $0 } ?? ""
        return Self.escaped(key).flatMap { lenientURL("\(scheme)://\(bucket)/\($0)\(query)".utf8) }
    }

    /// A text in which all bytes but letters, digits, `-._~` and slashes are escaped.
    static func escaped(_ text: String) -> String? {
        text.addingPercentEncoding(withAllowedCharacters: unescaped)
    }

    private static let unescaped = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/"
    )

    private static func isBucket(_ text: String) -> Bool {
        let isWord = text.utf8.allSatisfy {
            $0 != UInt8(ascii: "/") && ("-_.".utf8.contains($0) || isLetterOrDigit($0))
        }
        return (1...255).contains(text.utf8.count) && text.first != "." && isWord
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        let character = Character(UnicodeScalar(byte))
        return character.isASCII && (character.isLetter || character.isNumber)
    }

    private static func hasDots(_ key: String) -> Bool {
        key.utf8.split(separator: UInt8(ascii: "/")).contains {
            $0.elementsEqual(".".utf8) || $0.elementsEqual("..".utf8)
        }
    }
}
