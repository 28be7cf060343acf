// A store that checks signatures and permissions: `moto` of PyPI, which Scripts/tier-engines fetches. For tests.

import Foundation
import KFSupport
import KingfisherTiers
import Testing

/// A running server of moto, with a bucket `images`, a user and a role that may use all buckets.
final class MotoServer: Sendable {
    /// What its program prints once it is ready.
    private struct Ready: Decodable {
        let port: Int
        /// Name and secret of the user's key.
        let user: [String]
        /// Name, secret and token of somebody in the role.
        let role: [String]
    }

    /// Whether a server checks signatures and permissions.
    ///
    /// It decodes addresses before it checks, and so refuses every signature of an address with escaped bytes: those of
    /// botocore, too.
    enum Checking: String { case nothing = "inf", signatures = "7" }

    /// Prepares with seven requests, and prints what tests need to know.
    private static let program = """
        import json, os, sys
        os.environ.update(AWS_ACCESS_KEY_ID="setup", AWS_SECRET_ACCESS_KEY="setup", INITIAL_NO_AUTH_ACTION_COUNT=sys.argv[1])
        import boto3
        from moto.server import ThreadedMotoServer

        server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        server.start()
        port = server.get_host_and_port()[1]
        s3, iam, sts = (boto3.client(n, endpoint_url=f"http://127.0.0.1:{port}", region_name="us-east-1")
            for n in ("s3", "iam", "sts"))
        def policy(**statement): return json.dumps({"Version": "2012-10-17", "Statement": [dict(Effect="Allow", **statement)]})
        everything = policy(Resource="*", Action=["s3:GetObject", "s3:PutObject", "s3:DeleteObject", "s3:ListBucket"])
        s3.create_bucket(Bucket="images")
        iam.create_user(UserName="kf")
        iam.put_user_policy(UserName="kf", PolicyName="images", PolicyDocument=everything)
        user = iam.create_access_key(UserName="kf")["AccessKey"]
        trust = policy(Principal={"AWS": "*"}, Action="sts:AssumeRole")
        arn = iam.create_role(RoleName="kf", AssumeRolePolicyDocument=trust)["Role"]["Arn"]
        iam.put_role_policy(RoleName="kf", PolicyName="images", PolicyDocument=everything)
        role = sts.assume_role(RoleArn=arn, RoleSessionName="test")["Credentials"]
        print(json.dumps({"port": port, "user": [user["AccessKeyId"], user["SecretAccessKey"]],
            "role": [role["AccessKeyId"], role["SecretAccessKey"], role["SessionToken"]]}), flush=True)
        # When the test ends, however it ends, so does its end of this pipe.
        sys.stdin.read()
        os._exit(0)
        """

    /// Whether moto is installed, or in `PYTHONPATH`.
    static let isInstalled = (try? Python.output(of: "import boto3, moto.server")) != nil

    /// The server of the suite that has the trait `.moto(checking:)`.
    @TaskLocal static var current: MotoServer?

    let endpoint: URL
    let user: S3Credentials
    let role: S3Credentials
    private let process: Process
    private let input: Pipe

    /// Starts a server, and waits until it is ready.
    static func start(_ checking: Checking = .signatures) async throws -> MotoServer {
        try await WorkExecutor.io.run { try MotoServer(checking) }
    }

    private init(_ checking: Checking) throws {
        let output = Pipe()
        (process, input) = (Python.process(running: Self.program, checking.rawValue), Pipe())
        (process.standardInput, process.standardOutput) = (input, output)
        process.standardError = FileHandle.nullDevice
        try process.run()
        var line = Data()
        while line.last != UInt8(ascii: "\n"), let more = try output.fileHandleForReading.read(upToCount: 1) {
            guard !more.isEmpty else { break }
            line += more
        }
        let ready = try JSONDecoder().decode(Ready.self, from: line)
        endpoint = try #require(URL(string: "http://127.0.0.1:\(ready.port)"))
        user = S3Credentials(accessKeyID: ready.user[0], secretAccessKey: ready.user[1])
        role = S3Credentials(accessKeyID: ready.role[0], secretAccessKey: ready.role[1], sessionToken: ready.role[2])
    }

    deinit { send(SIGKILL) }

    /// Sends its process a signal.
    func send(_ signal: CInt) {
        if process.isRunning { kill(process.processIdentifier, signal) }
    }

    /// A bucket of the server; no call is given up since the machine is busy.
    func place(bucket: String = "images", prefix: String = "kingfisher") -> S3Tier.Configuration {
        var place = S3Tier.Configuration(bucket: bucket, region: "us-east-1", endpoint: endpoint, prefix: prefix)
        (place.answerTimeout, place.minimumRate) = (.seconds(100), 1)
        return place
    }

    /// A tier on the server, with the user's key unless it is given another one.
    func tier(
        bucket: String = "images",
        prefix: String = "kingfisher",
        _ credentials: S3CredentialSource? = nil
    ) throws -> S3Tier {
        try S3Tier(place(bucket: bucket, prefix: prefix), credentials: credentials ?? .fixed(user))
    }
}

/// Runs a suite with a server of moto, which takes seconds to start.
struct MotoTrait: SuiteTrait, TestScoping {
    let checking: MotoServer.Checking

    func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        let server = try await MotoServer.start(checking)
        defer { server.send(SIGKILL) }
        try await MotoServer.$current.withValue(server) { try await function() }
    }
}

extension Trait where Self == MotoTrait {
    static func moto(checking: MotoServer.Checking) -> Self { MotoTrait(checking: checking) }
}

/// Programs in Python.
enum Python {
    /// What a program prints, once it has ended.
    static func output(of program: String, input: Data = Data()) throws -> Data {
        struct Failed: Error {}
        let process = process(running: program)
        let (source, output) = (Pipe(), Pipe())
        (process.standardInput, process.standardOutput) = (source, output)
        process.standardError = FileHandle.nullDevice
        try process.run()
        try source.fileHandleForWriting.write(contentsOf: input)
        try source.fileHandleForWriting.close()
        let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failed() }
        return bytes
    }

    static func process(running program: String, _ arguments: String...) -> Process {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", "-c", program] + arguments
        return process
    }
}
