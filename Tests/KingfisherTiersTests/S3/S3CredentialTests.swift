// Where credentials of S3 come from, and that nothing shows them.

import Foundation
import KFSupport
import KingfisherTestSupport
import KingfisherTiers
import Testing

@Suite struct S3CredentialTests {
    /// The name of the key and the token that a tier sends, from a request of it.
    private func signer(_ source: S3CredentialSource) async throws -> [String?] {
        let transport = FakeTransport { $0.play(.status(204)) }
        let place = S3Tier.Configuration(bucket: "images", region: "us-east-1")
        let tier = try S3Tier(place, credentials: source, transport: transport)
        try await tier.remove("kf1-a")
        let request = transport.transfers.first?.originalRequest
        let id = request?.value(forHTTPHeaderField: "Authorization")?.split(separator: "Credential=").last
        return [id.map { String($0.prefix { $0 != "/" }) }, request?.value(forHTTPHeaderField: "X-Amz-Security-Token")]
    }

    /// The same from one of the services, which have no more than a second to connect and five to answer: on a busy
    /// machine they are asked again.
    private func role(_ variables: [String: String]) async throws -> [String?] {
        try await eventually("Credentials of a role come") { try await signer(.automatic(variables)) }
    }

    private static let file = """
        # keys
        [default]
        aws_access_key_id = DEFAULT
        aws_secret_access_key=one=with=signs
        [ other ]
        ; temporary
        AWS_ACCESS_KEY_ID =  OTHER
        aws_secret_access_key = two
        aws_session_token = token
        region = eu-central-1
        [half]
        aws_access_key_id = HALF
        aws_secret_access_key =
        """

    @Test("Of the environment: key, secret and token; an empty token is none") func environment() async throws {
        var variables = ["AWS_ACCESS_KEY_ID": "ENV", "AWS_SECRET_ACCESS_KEY": "s", "AWS_SESSION_TOKEN": "token\n"]
        #expect(try await signer(.automatic(variables)) == ["ENV", "token"])
        variables["AWS_SESSION_TOKEN"] = ""
        #expect(try await signer(.automatic(variables)) == ["ENV", nil])
        variables["AWS_SECRET_ACCESS_KEY"] = nil
        await #expect(throws: S3Error.self) { try await signer(.automatic(variables)) }
    }

    @Test("Of a file: the profile of the environment, the one given, or the default; without one, what to do")
    func sharedFile() async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
        try Data(Self.file.utf8).write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        var variables = ["AWS_SHARED_CREDENTIALS_FILE": path]
        #expect(try await signer(.automatic(variables)) == ["DEFAULT", nil])
        variables["AWS_PROFILE"] = "other"
        #expect(try await signer(.automatic(variables)) == ["OTHER", "token"])
        #expect(try await signer(.sharedFile(path, profile: "default")) == ["DEFAULT", nil])
        for profile in ["half", "absent"] {
            let error = await #expect(throws: S3Error.self) {
                try await signer(.sharedFile(path, profile: profile))
            }
            #expect(error?.description.contains("[\(profile)]") == true, "\(String(describing: error))")
            #expect(error?.description.contains("HALF") == false)
        }
        let missing = await #expect(throws: S3Error.self) {
            try await signer(.automatic(["HOME": "/nowhere", "AWS_EC2_METADATA_DISABLED": "true"]))
        }
        #expect(missing?.description.contains("/nowhere/.aws/credentials cannot be read") == true)
    }

    @Test("Of roles: of a token, of the container, of the machine; in that order, behind a file") func roles()
        async throws
    {
        let server = try await TestServer.start()
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data("the token\n".utf8).write(to: folder.appending(path: "token"))
        func json(_ id: String) -> TestResponse {
            .data(Data(#"{"AccessKeyId":"\#(id)","SecretAccessKey":"s","Token":"t","Expiration":"2030"}"#.utf8))
        }
        let xml = "<R><C><AccessKeyId>ROLE</AccessKeyId><SecretAccessKey>s</SecretAccessKey>"
        server.route("/sts", .data(Data("\(xml)<SessionToken>a/b=</SessionToken></C></R>".utf8)))
        server.route("/container", json("CONTAINER"))
        server.route("/latest/api/token", .data(Data("login".utf8)))
        let credentials = "/latest/meta-data/iam/security-credentials/"
        server.route(credentials, .data(Data("web-server\n".utf8)))
        server.route(credentials + "web-server", json("MACHINE"))
        var variables = [
            "HOME": folder.path, "AWS_EC2_METADATA_SERVICE_ENDPOINT": server.url("").absoluteString,
            "AWS_ENDPOINT_URL_STS": server.url("/sts").absoluteString,
        ]
        #expect(try await role(variables) == ["MACHINE", "t"])
        #expect(server.lastRequest("/latest/api/token")?.method == "PUT")
        #expect(server.lastRequest(credentials)?.header("X-aws-ec2-metadata-token") == "login")
        variables["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = server.url("/container").absoluteString
        variables["AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"] = folder.appending(path: "token").path
        #expect(try await role(variables) == ["CONTAINER", "t"])
        #expect(server.lastRequest("/container")?.header("Authorization") == "the token")
        variables["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = "http://example.com/"
        await #expect(throws: S3Error.self) { try await signer(.automatic(variables)) }
        variables["AWS_WEB_IDENTITY_TOKEN_FILE"] = folder.appending(path: "token").path
        variables["AWS_ROLE_ARN"] = "arn:aws:iam::1:role/a"
        #expect(try await role(variables) == ["ROLE", "a/b="])
        let asked = server.lastRequest("/sts").map { String(decoding: $0.body, as: UTF8.self) }
        #expect(asked?.contains("WebIdentityToken=the%20token") == true)
        #expect(asked?.contains("RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fa") == true)
        server.route("/sts", .status(403))
        let refused = await #expect(throws: S3Error.self) { try await signer(.automatic(variables)) }
        #expect(refused?.description.contains("arn:aws:iam::1:role/a, it says 403") == true)
        await server.stop()
    }

    @Test("A source is asked once by many requests at once; one that is cancelled ends, and the others go on")
    func askedOnce() async throws {
        let calls = Locked(0)
        let (gate, asked) = (Gate(), Gate())
        let source = S3CredentialSource {
            calls.withLock { $0 += 1 }
            asked.open()
            await gate.wait()
            return S3Credentials(accessKeyID: "ID", secretAccessKey: "secret")
        }
        let transport = FakeTransport { $0.play(.status(204)) }
        let place = S3Tier.Configuration(bucket: "images", region: "us-east-1")
        let tier = try S3Tier(place, credentials: source, transport: transport)
        let tasks = (0..<5).map { number in Task { try await tier.remove("kf1-\(number)") } }
        await asked.wait()
        tasks[0].cancel()
        await #expect(throws: CancellationError.self) { try await tasks[0].value }
        gate.open()
        for task in tasks.dropFirst() { try await task.value }
        #expect(calls.withLock { $0 } == 1)
        #expect(transport.startCount == 4)
    }

    @Test("A source that fails is asked again by the next request") func askedAgain() async throws {
        struct Refused: Error {}
        let calls = Locked(0)
        let source = S3CredentialSource {
            let isFirst = calls.withLock { calls in
                calls += 1
                return calls == 1
            }
            if isFirst { throw Refused() }
            return S3Credentials(accessKeyID: "ID", secretAccessKey: "secret")
        }
        let transport = FakeTransport { $0.play(.status(204)) }
        let place = S3Tier.Configuration(bucket: "images", region: "us-east-1")
        let tier = try S3Tier(place, credentials: source, transport: transport)
        await #expect(throws: Refused.self) { try await tier.remove("kf1-a") }
        try await tier.remove("kf1-a")
        #expect(calls.withLock { $0 } == 2)
    }

    @Test("Neither descriptions nor dumps of credentials, tiers and errors show a key, a secret or a token")
    func nothingShown() async throws {
        let secrets = ["AKIDSHOWN", "secretshown", "tokenshown"]
        let credentials = S3Credentials(accessKeyID: secrets[0], secretAccessKey: secrets[1], sessionToken: secrets[2])
        let transport = FakeTransport { transfer in
            let body = "<Error><Code>SignatureDoesNotMatch</Code><AWSAccessKeyId>AKIDSHOWN</AWSAccessKeyId></Error>"
            transfer.play(TestResponse(status: 403, body: Data(body.utf8)))
        }
        let place = S3Tier.Configuration(bucket: "images", region: "us-east-1")
        let tier = try S3Tier(place, credentials: .fixed(credentials), transport: transport)
        let error = await #expect(throws: S3Error.self) { try await tier.get("kf1-a") }
        #expect(error?.code == "SignatureDoesNotMatch")
        var text = "\(credentials) \(String(reflecting: credentials)) \(tier.name) "
        dump(credentials, to: &text)
        dump(tier, to: &text)
        dump(error, to: &text)
        for secret in secrets { #expect(!text.contains(secret), "\(text)") }
    }
}
