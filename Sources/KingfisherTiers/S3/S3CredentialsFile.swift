// The file in which the tools of AWS keep keys. For S3CredentialSource.

import Foundation

/// A file of credentials: profiles in brackets, and below each the names and values of it.
struct S3CredentialsFile {
    /// More bytes than this are no file that someone has written.
    private static let longest = 1 << 20

    private let path: String
    private let text: String

    /// Reads a file; it blocks the thread.
    init(path: String) throws {
        self.path = path
        do {
            let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            defer { try? file.close() }
            text = String(decoding: try file.read(upToCount: Self.longest) ?? Data(), as: UTF8.self)
        } catch {
            throw S3Error(
                "There are no credentials for S3: \(path) cannot be read. "
                    + "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or write that file."
            )
        }
    }

    /// The credentials of a profile.
    func credentials(of profile: String) throws -> S3Credentials {
        let values = values(of: profile)
        guard let id = values["aws_access_key_id"], let secret = values["aws_secret_access_key"] else {
            throw S3Error(
                "\(path) has no aws_access_key_id and aws_secret_access_key in [\(profile)]. "
                    + "Add them there, or name another profile in AWS_PROFILE."
            )
        }
        return S3Credentials(accessKeyID: id, secretAccessKey: secret, sessionToken: values["aws_session_token"])
    }

    private func values(of profile: String) -> [String: String] {
        var (values, isHere) = ([String: String](), false)
        for line in text.split(whereSeparator: \.isNewline) {
            let line = line.trimmingCharacters(in: .whitespaces)
            if line.hasPrefix("#") || line.hasPrefix(";") { continue }
            if line.hasPrefix("["), let end = line.firstIndex(of: "]") {
                isHere = line[..<end].dropFirst().trimmingCharacters(in: .whitespaces) == profile
            } else if isHere, let equals = line.firstIndex(of: "=") {
                let name = line[..<equals].trimmingCharacters(in: .whitespaces).lowercased()
                let value = line[equals...].dropFirst().trimmingCharacters(in: .whitespaces)
                values[name] = value.isEmpty ? nil : value
            }
        }
        return values
    }
}
