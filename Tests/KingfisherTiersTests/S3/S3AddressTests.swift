// Where the objects of a tier are, and the documents that S3 sends.

import Foundation
import KingfisherTiers
import Testing

@Suite struct S3AddressTests {
    private func configuration(
        _ bucket: String = "images",
        at endpoint: String? = nil,
        region: String = "eu-central-1",
        prefix: String = "kingfisher"
    ) -> S3Tier.Configuration {
        S3Tier.Configuration(
            bucket: bucket,
            region: region,
            endpoint: endpoint.flatMap { URL(string: $0) },
            prefix: prefix
        )
    }

    @Test("AWS has the bucket in the host, other stores and names with dots in the path; and as configured")
    func addresses() throws {
        func url(_ configuration: S3Tier.Configuration) throws -> String {
            let address = try configuration.address
            return address.origin + address.path(ofKey: "kf1-a")
        }
        let amazon = configuration()
        #expect(try url(amazon) == "https://images.s3.eu-central-1.amazonaws.com/kingfisher/kf1-a")
        let dotted = configuration("img.example.com", prefix: "")
        #expect(try url(dotted) == "https://s3.eu-central-1.amazonaws.com/img.example.com/kf1-a")
        let other = configuration(at: "http://MinIO.internal:9000/", prefix: "a (b)/ü$")
        #expect(try url(other) == "http://minio.internal:9000/images/a%20%28b%29/%C3%BC%24/kf1-a")
        #expect(
            try url(configuration(at: "https://x.example:443/storage/v1/s3/")).hasPrefix(
                "https://x.example/storage/v1/s3/images/"
            )
        )
        #expect(try url(configuration(at: "http://[::1]:9000")) == "http://[::1]:9000/images/kingfisher/kf1-a")
        var hosted = configuration(at: "https://s3.example.com:8443")
        hosted.addressing = .virtualHost
        #expect(try url(hosted) == "https://images.s3.example.com:8443/kingfisher/kf1-a")
    }

    @Test(
        "A bucket, region, prefix or endpoint that there cannot be is an error that says which",
        arguments: [
            ("", nil, "us-east-1", "a", "bucket"), ("a/b", nil, "us-east-1", "a", "bucket"),
            ("..", nil, "us-east-1", "a", "bucket"), ("a@b", nil, "us-east-1", "a", "bucket"),
            ("images", nil, "", "a", "region"), ("images", nil, "eu/../x", "a", "region"),
            ("images", nil, "us-east-1", "../a", "prefix"), ("images", nil, "us-east-1", "/a", "prefix"),
            ("images", "ftp://example.com", "us-east-1", "a", "endpoint"),
            ("images", "https://key:secret@example.com", "us-east-1", "a", "endpoint"),
            ("images", "https://example.com?x=secret", "us-east-1", "a", "endpoint"),
            ("images", "example.com", "us-east-1", "a", "endpoint"),
        ] as [(String, String?, String, String, String)]
    ) func impossible(bucket: String, endpoint: String?, region: String, prefix: String, part: String) {
        let configuration = configuration(bucket, at: endpoint, region: region, prefix: prefix)
        let error = #expect(throws: S3Error.self) { try configuration.address }
        #expect(error?.description.contains(part) == true && error?.description.contains("secret") == false)
    }

    @Test("Texts of elements are found by name, with entities decoded; damage and foreign documents have none")
    func documents() {
        func texts(_ document: String, _ name: String = "Key") -> [String] {
            S3Document(Data(document.utf8)).texts(of: name)
        }
        #expect(
            texts("<L><Key>a&amp;b</Key><Keys>x</Keys><Key></Key><C><Key>&lt;ü&#38;&#x1F426;&quot;</Key></C></L>")
                == ["a&b", "", "<ü&🐦\""]
        )
        #expect(texts("<Key>&nope; & &#xD800; &#99999999; &amp</Key>") == ["&nope; & &#xD800; &#99999999; &amp"])
        #expect(texts("<Key><Key>inner</Key></Key>") == ["inner"])
        for damaged in ["", "<Key>", "<Key>a", "<Key>a</Ke", "<Key", "Key>a</Key>", "<key>a</key>", "{\"Key\": 1}"] {
            #expect(texts(damaged).isEmpty, "\(damaged)")
        }
        #expect(S3Document(Data([0xFF, 0x3C, 0x00]) + Data("<Key>\u{0}a</Key>".utf8)).texts(of: "Key") == ["\u{0}a"])
    }
}
