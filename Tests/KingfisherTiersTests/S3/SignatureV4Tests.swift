// Signatures of requests to S3: those that AWS has published, and those that botocore makes.

import Foundation
@_spi(Server) import KingfisherTiers
import Testing

@Suite struct SignatureV4Tests {
    private static let credentials = S3Credentials(
        accessKeyID: "AKIAIOSFODNN7EXAMPLE",
        secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
    )
    private static let date = Date(timeIntervalSince1970: 1_369_353_600)  // 2013-05-24, midnight
    private static let host = (name: "host", value: "examplebucket.s3.amazonaws.com")

    /// A request with its signature, which has the fields of the request and those that are signed with it.
    private func signed(
        _ request: S3Request,
        by credentials: S3Credentials = credentials,
        with signature: SignatureV4 = SignatureV4(region: "us-east-1")
    ) -> [String: String] {
        var request = request
        request.fields.append(Self.host)
        let hash = SHA256.hexadecimal(SHA256.hash(request.body ?? Data()))
        signature.sign(&request, bodyHash: hash, at: Self.date, by: credentials)
        return Dictionary(uniqueKeysWithValues: request.fields.map { ($0.name, $0.value) })
    }

    /// The end of the field `Authorization`.
    private func signature(of fields: [String: String]) -> Substring? {
        fields["authorization"]?.split(separator: "Signature=").last
    }

    // From the page "Signature Calculations for the Authorization Header" of the reference of S3.
    @Test(
        "The requests that AWS has published have the signatures that AWS has published",
        arguments: [
            (
                S3Request(method: "GET", path: "/test.txt", fields: [("range", "bytes=0-9")]),
                "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
            ),
            (
                S3Request(
                    method: "PUT",
                    path: "/" + S3Request.escaped("test$file.text"),
                    fields: [
                        ("date", "Fri, 24 May 2013 00:00:00 GMT"), ("x-amz-storage-class", "REDUCED_REDUNDANCY"),
                    ],
                    body: Data("Welcome to Amazon S3.".utf8)
                ),
                "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"
            ),
            (
                S3Request(method: "GET", path: "/", query: [("lifecycle", "")]),
                "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"
            ),
            (
                S3Request(method: "GET", path: "/", query: [("prefix", "J"), ("max-keys", "2")]),
                "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"
            ),
        ]
    ) func published(request: S3Request, expected: String) {
        #expect(signature(of: signed(request)) == expected[...])
    }

    @Test("Every byte of a path but letters, digits, -._~ and slashes is escaped once; slashes in queries are, too")
    func escaping() {
        #expect(S3Request.escaped("a (b)/c$d+e~f*'!", keepsSlashes: true) == "a%20%28b%29/c%24d%2Be~f%2A%27%21")
        #expect(S3Request.escaped("ü/日%20") == "%C3%BC%2F%E6%97%A5%2520")
        let request = S3Request(method: "GET", path: "/", query: [("b", ""), ("a", "z/"), ("B", "1"), ("a", "A=")])
        #expect(request.canonicalQuery == "B=1&a=A%3D&a=z%2F&b=")
    }

    @Test("What is sent is what was signed: path, query, all fields but the host, and the body")
    func sentAsSigned() throws {
        var request = S3Request(
            method: "PUT",
            path: "/images/" + S3Request.escaped("é (1)$.jpg"),
            query: [("x", ""), ("a b", "/&")],
            fields: [("host", "s3.example.com:9000")],
            body: Data([1, 2, 3])
        )
        SignatureV4(region: "auto").sign(&request, bodyHash: "hash", at: Self.date, by: Self.credentials)
        let sent = try #require(request.urlRequest(at: "https://s3.example.com:9000"))
        let url = "https://s3.example.com:9000/images/%C3%A9%20%281%29%24.jpg?a%20b=%2F%26&x="
        #expect(sent.url?.absoluteString == url && sent.httpMethod == "PUT" && sent.httpBody == Data([1, 2, 3]))
        #expect(sent.value(forHTTPHeaderField: "X-Amz-Date") == "20130524T000000Z")
        #expect(sent.value(forHTTPHeaderField: "Authorization")?.hasPrefix("AWS4-HMAC-SHA256 ") == true)
        #expect(sent.allHTTPHeaderFields?.count == 3)
    }

    @Test("A session token is one of the signed fields") func sessionToken() {
        let temporary = S3Credentials(
            accessKeyID: Self.credentials.accessKeyID,
            secretAccessKey: Self.credentials.secretAccessKey,
            sessionToken: "token"
        )
        let request = S3Request(method: "GET", path: "/test.txt")
        let fields = signed(request, by: temporary)
        #expect(fields["x-amz-security-token"] == "token")
        #expect(fields["authorization"]?.contains(";x-amz-security-token,") == true)
        #expect(signature(of: fields) != signature(of: signed(request)))
    }

    @Test("One signer signs alike, whatever it signed before: for other secrets and other days") func cachedKey() {
        let (signer, request) = (SignatureV4(region: "us-east-1"), S3Request(method: "GET", path: "/test.txt"))
        let other = S3Credentials(accessKeyID: Self.credentials.accessKeyID, secretAccessKey: "other")
        let first = signed(request, with: signer)
        #expect(signed(request, by: other, with: signer) != first)
        #expect(signed(request, with: signer) == first)
        var (tomorrow, fresh) = (request, request)
        signer.sign(&tomorrow, bodyHash: "", at: Self.date + 86_400, by: Self.credentials)
        SignatureV4(region: "us-east-1").sign(&fresh, bodyHash: "", at: Self.date + 86_400, by: Self.credentials)
        #expect(tomorrow.fields.last?.value == fresh.fields.last?.value)
        #expect(signed(request, with: signer) == first)
    }

    @Test(
        "botocore signs the same requests alike: unusual paths, queries, fields and tokens",
        .enabled(if: MotoServer.isInstalled, "moto is not installed")
    ) func sameAsBotocore() throws {
        let keys = ["plain", "a (b)", "$&+,;=@:'!*", "日本/ü", "%41", "~-._", "a//b", "tab\tnew"]
        let queries: [[String: String]] = [
            [:], ["lifecycle": ""], ["prefix": "a/b c", "list-type": "2"], ["Z": "1", "a": "ü", "a-b": "("],
        ]
        var expected: [[String: String]] = []
        for key in keys {
            for query in queries {
                for token in ["", "a/token+="] {
                    expected.append(
                        ["key": key, "token": token].merging(query.map { ("?" + $0.key, $0.value) }) { $1 }
                    )
                }
            }
        }
        let program = """
            import json, sys, urllib.parse
            from botocore.auth import S3SigV4Auth
            from botocore.awsrequest import AWSRequest
            from botocore.credentials import Credentials
            for case in json.load(sys.stdin):
                path = urllib.parse.quote(case["key"], safe="/~")
                query = {name[1:]: value for name, value in case.items() if name[0] == "?"}
                request = AWSRequest("GET", "https://\(Self.host.value)/" + path, params=query)
                request.headers["X-Amz-Date"] = request.context["timestamp"] = "20130524T000000Z"
                request.headers["X-Amz-Content-SHA256"] = \"\(SHA256.hexadecimal(SHA256.hash(Data())))\"
                if case["token"]: request.headers["X-Amz-Security-Token"] = case["token"]
                auth = S3SigV4Auth(Credentials("\(Self.credentials.accessKeyID)",
                    "\(Self.credentials.secretAccessKey)", case["token"] or None), "s3", "us-east-1")
                text = auth.string_to_sign(request, auth.canonical_request(request))
                print(auth.signature(text, request))
            """
        let input = try JSONEncoder().encode(expected)
        let output = String(decoding: try Python.output(of: program, input: input), as: UTF8.self)
        let signatures = output.split(separator: "\n")
        try #require(signatures.count == expected.count)
        for (example, theirs) in zip(expected, signatures) {
            let query = example.filter { $0.key.first == "?" }.map { (String($0.key.dropFirst()), $0.value) }
            let path = "/" + S3Request.escaped(example["key"] ?? "", keepsSlashes: true)
            let credentials = S3Credentials(
                accessKeyID: Self.credentials.accessKeyID,
                secretAccessKey: Self.credentials.secretAccessKey,
                sessionToken: example["token"]
            )
            let ours = signed(S3Request(method: "GET", path: path, query: query), by: credentials)
            #expect(signature(of: ours) == theirs, "\(example)")
        }
    }
}
