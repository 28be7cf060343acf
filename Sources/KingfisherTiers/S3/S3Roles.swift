// Credentials of the machine or the container that a program runs in, and of a role that a token stands for. For
// S3CredentialSource.

import Foundation
import FoundationNetworking
import KFSupport
import KFTransport

/// Asks the services of AWS that give credentials for a time, in the order of its own tools.
///
/// They are asked again when the store refuses what they said, so their dates are not looked at.
struct S3Roles: Sendable {
    private let environment: [String: String]
    private static let transport = CurlTransport(configuration: CurlTransport.Configuration())
    /// The addresses that containers and machines have these services at.
    private static let (container, machine) = ("http://169.254.170.2", "http://169.254.169.254")

    init(_ environment: [String: String]) { self.environment = environment.filter { !$0.value.isEmpty } }

    /// The role that a token in a file stands for, as in Kubernetes; nil if none is set.
    func webIdentity() async throws -> S3Credentials? {
        guard let path = environment["AWS_WEB_IDENTITY_TOKEN_FILE"], let role = environment["AWS_ROLE_ARN"] else {
            return nil
        }
        let token = try await Self.text(of: path)
        let region = environment["AWS_REGION"] ?? environment["AWS_DEFAULT_REGION"]
        let usual = region.map { "https://sts.\($0).amazonaws.com" } ?? "https://sts.amazonaws.com"
        let fields = [
            ("Action", "AssumeRoleWithWebIdentity"), ("Version", "2011-06-15"), ("RoleArn", role),
            ("RoleSessionName", environment["AWS_ROLE_SESSION_NAME"] ?? "kingfisher"), ("WebIdentityToken", token),
        ]
        let query = fields.map { "\($0)=\(S3Request.escaped($1))" }.joined(separator: "&")
        var request = try Self.request(environment["AWS_ENDPOINT_URL_STS"] ?? usual)
        (request.httpMethod, request.httpBody) = ("POST", Data(query.utf8))
        request.setValue("application/x-www-form-urlencoded", forHTTPHeaderField: "Content-Type")
        let document = S3Document(try await Self.body(of: request, "the role \(role)"))
        func text(_ name: String) -> String { document.texts(of: name).first ?? "" }
        return try Self.credentials(
            text("AccessKeyId"),
            text("SecretAccessKey"),
            text("SessionToken"),
            "the role \(role)"
        )
    }

    /// The role of the container, as in ECS and EKS; nil if none is set.
    func container() async throws -> S3Credentials? {
        let relative = environment["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"].map { Self.container + $0 }
        guard let address = relative ?? environment["AWS_CONTAINER_CREDENTIALS_FULL_URI"] else { return nil }
        var request = try Self.request(address)
        var token = environment["AWS_CONTAINER_AUTHORIZATION_TOKEN"]
        if let path = environment["AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"] { token = try await Self.text(of: path) }
        if let token {
            // A token must not be read on its way by others than the container's own machine.
            guard Self.isSafe(request.url) else {
                throw S3Error("The credentials of the container: \(address) is neither https nor on this machine.")
            }
            request.setValue(token, forHTTPHeaderField: "Authorization")
        }
        return try Self.credentials(in: await Self.body(of: request, "the container"), "the container")
    }

    /// The role of the machine, as in EC2; nil if the machine has no role, or no metadata service answers.
    func machine() async throws -> S3Credentials? {
        guard environment["AWS_EC2_METADATA_DISABLED"]?.lowercased() != "true" else { return nil }
        let address = (environment["AWS_EC2_METADATA_SERVICE_ENDPOINT"] ?? Self.machine) + "/latest/"
        var login = try Self.request(address + "api/token")
        login.httpMethod = "PUT"
        login.setValue("21600", forHTTPHeaderField: "X-aws-ec2-metadata-token-ttl-seconds")
        guard let token = try? await Self.body(of: login, "this machine") else { return nil }
        func answer(_ path: String) async throws -> Data {
            var request = try Self.request(address + "meta-data/iam/security-credentials/" + path)
            request.setValue(String(decoding: token, as: UTF8.self), forHTTPHeaderField: "X-aws-ec2-metadata-token")
            return try await Self.body(of: request, "this machine")
        }
        guard let names = try? await answer("") else { return nil }
        guard let role = String(decoding: names, as: UTF8.self).split(whereSeparator: \.isNewline).first else {
            return nil
        }
        return try Self.credentials(in: await answer(S3Request.escaped(String(role))), "the role \(role)")
    }

    // MARK: Answers

    private static func request(_ address: String) throws -> URLRequest {
        guard let url = URL(escaping: address.utf8), url.host != nil else { throw S3Error("\(address) is no address.") }
        return URLRequest(url: url)
    }

    private static func isSafe(_ url: URL?) -> Bool {
        let near = [
            "169.254.170.2", "169.254.170.23", "[fd00:ec2::23]", "fd00:ec2::23", "localhost", "127.0.0.1", "::1",
        ]
        return url?.scheme?.lowercased() == "https" || near.contains(url?.host ?? "")
    }

    private static func body(of request: URLRequest, _ owner: String) async throws -> Data {
        let policy = TransportPolicy(connectTimeout: 1, idleTimeout: 5, totalTimeout: 10, maxBodyBytes: 1 << 20)
        let reply = try await S3Exchange.reply(
            to: request,
            over: transport,
            policy: policy,
            pace: S3Pace(answer: .seconds(10))
        )
        guard reply.isSuccess else {
            throw S3Error("There are no credentials for S3: asked for those of \(owner), it says \(reply.status).")
        }
        return reply.body
    }

    private static func text(of path: String) async throws -> String {
        try await WorkExecutor.io.run {
            guard let data = FileManager.default.contents(atPath: path) else {
                throw S3Error("There are no credentials for S3: the token in \(path) cannot be read.")
            }
            return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        }
    }

    private struct Answer: Decodable {
        let AccessKeyId: String
        let SecretAccessKey: String
        let Token: String
    }

    private static func credentials(in data: Data, _ owner: String) throws -> S3Credentials {
        let answer = try? JSONDecoder().decode(Answer.self, from: data)
        return try credentials(answer?.AccessKeyId ?? "", answer?.SecretAccessKey ?? "", answer?.Token ?? "", owner)
    }

    private static func credentials(_ id: String, _ secret: String, _ token: String, _ owner: String) throws
        -> S3Credentials
    {
        guard !id.isEmpty, !secret.isEmpty else {
            throw S3Error("There are no credentials for S3: what is said about those of \(owner) has no key.")
        }
        return S3Credentials(accessKeyID: id, secretAccessKey: secret, sessionToken: token)
    }
}
