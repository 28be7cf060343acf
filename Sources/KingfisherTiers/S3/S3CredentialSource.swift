// Where credentials of S3 come from. For users of S3Tier, and for S3Account.

import Foundation
import KFSupport

/// Where an ``S3Tier`` has its credentials from.
///
/// It is asked before the first request, and again when the store refuses what it said: a token that has expired, a key
/// that is no longer known. So credentials may change while the program runs.
public struct S3CredentialSource: Sendable {
    let load: @Sendable () async throws -> S3Credentials

    /// What a closure returns, such as those of a role, or of a vault.
    ///
    /// - Parameter load: Returns the credentials that are valid now. Called from any thread, once at a time; requests
    ///   wait for it. What it throws is thrown by the request, and may be logged: its description must not contain a
    ///   secret.
    public init(_ load: @escaping @Sendable () async throws -> S3Credentials) { self.load = load }

    /// Always the same.
    public static func fixed(_ credentials: S3Credentials) -> S3CredentialSource {
        S3CredentialSource { credentials }
    }

    /// The credentials that AWS' own tools would use.
    ///
    /// They are looked for in this order:
    ///
    /// 1. The variables `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`.
    /// 2. The role of a token, as in Kubernetes: `AWS_WEB_IDENTITY_TOKEN_FILE` and `AWS_ROLE_ARN`.
    /// 3. The file that ``sharedFile(_:profile:)`` reads, if there is one.
    /// 4. The role of the container: `AWS_CONTAINER_CREDENTIALS_RELATIVE_URI` or `…_FULL_URI`.
    /// 5. The role of the machine, which is asked at its usual address, unless `AWS_EC2_METADATA_DISABLED` is `true`.
    public static var automatic: S3CredentialSource { automatic(ProcessInfo.processInfo.environment) }

    /// A file as the tools of AWS write it.
    ///
    /// Keys and tokens are read from it, and nothing else: no `credential_process`, no roles.
    /// - Parameters:
    ///   - path: The file; nil is the one in `AWS_SHARED_CREDENTIALS_FILE`, or else `~/.aws/credentials`.
    ///   - profile: The part of the file; nil is the one in `AWS_PROFILE`, or else `default`.
    /// - Returns: A source that reads the file each time it is asked.
    public static func sharedFile(_ path: String? = nil, profile: String? = nil) -> S3CredentialSource {
        sharedFile(path, profile: profile, ProcessInfo.processInfo.environment)
    }
}

extension S3CredentialSource {
    /// ``automatic`` with the variables of an environment.
    package static func automatic(_ environment: [String: String]) -> S3CredentialSource {
        guard let id = environment["AWS_ACCESS_KEY_ID"], !id.isEmpty else {
            let roles = S3Roles(environment)
            return S3CredentialSource {
                if let found = try await roles.webIdentity() { return found }
                do { return try await sharedFile(nil, profile: nil, environment).load() } catch {
                    if let found = try await roles.container() { return found }
                    if let found = try await roles.machine() { return found }
                    throw error
                }
            }
        }
        return S3CredentialSource {
            guard let secret = environment["AWS_SECRET_ACCESS_KEY"], !secret.isEmpty else {
                throw S3Error("AWS_ACCESS_KEY_ID is set and AWS_SECRET_ACCESS_KEY is not. Set both, or none.")
            }
            return S3Credentials(
                accessKeyID: id,
                secretAccessKey: secret,
                sessionToken: environment["AWS_SESSION_TOKEN"]
            )
        }
    }

    /// ``sharedFile(_:profile:)`` with the variables of an environment.
    package static func sharedFile(
        _ path: String?,
        profile: String?,
        _ environment: [String: String]
    ) -> S3CredentialSource {
        func variable(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        let home = variable("HOME") ?? NSHomeDirectory()
        let path = path ?? variable("AWS_SHARED_CREDENTIALS_FILE") ?? home + "/.aws/credentials"
        let profile = profile ?? variable("AWS_PROFILE") ?? "default"
        return S3CredentialSource {
            try await WorkExecutor.io.run { try S3CredentialsFile(path: path).credentials(of: profile) }
        }
    }
}
