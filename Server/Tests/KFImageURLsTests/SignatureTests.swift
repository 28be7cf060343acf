// Signatures of paths, and the repairs before them.

import Foundation
import KFImageURLs
import Testing

@Suite struct SignatureTests {
    private static let path =
        "/rs:fill:300:400:0/g:sm/aHR0cDovL2V4YW1w/bGUuY29tL2ltYWdl/cy9jdXJpb3NpdHku/anBn.png"
    private static let published = "oKfUtW34Dvo2BGQehJFR4Nr0_rIjOtdtzJ3QFsUcXH8"

    private func signing(
        _ pairs: [(key: String, salt: String)] = [("secret", "hello")],
        change: (inout SignatureRules) -> Void = { _ in }
    ) -> URLSettings {
        settings {
            $0.signatures.keys = pairs.map { Array($0.key.utf8) }
            $0.signatures.salts = pairs.map { Array($0.salt.utf8) }
            change(&$0.signatures)
        }
    }

    /// The path with the signature of the first pair.
    private func signed(_ path: String, _ settings: URLSettings) throws -> String {
        "/" + settings.signatures.signature(of: path, with: try #require(settings.signatures.pairs.first)) + path
    }

    @Test("The published example is signed and read")
    func publishedExample() throws {
        let settings = signing()
        #expect(try signed(Self.path, settings) == "/" + Self.published + Self.path)
        let plan = try parsed("/" + Self.published + Self.path, settings: settings).plan
        #expect(plan.source == "http://example.com/images/curiosity.jpg")
        #expect(plan.output.format == .png)
    }

    @Test("Every changed bit of the signature or of the path is refused")
    func changedBits() throws {
        let settings = signing()
        let good = Array(("/" + Self.published + Self.path).utf8)
        for index in 1..<good.count {
            for bit in 0..<7 {
                var bad = good
                bad[index] ^= 1 << bit
                let error = error(of: String(decoding: bad, as: UTF8.self), settings: settings)
                // The end of the path, or of an empty signature, may have moved; then there is nothing to check.
                let isMoved = bad[index] == UInt8(ascii: "?") || bad[index] == UInt8(ascii: "/") && index == 1
                #expect(
                    error?.status == 403 || isMoved && error?.status == 404,
                    "\(String(decoding: bad, as: UTF8.self))"
                )
            }
        }
    }

    @Test("Of an upload the signature is that of its options, and no other path's") func uploads() throws {
        let settings = signing()
        let parser = PathParser(settings: settings)
        for path in ["/w:1/h:2", "/info", "/"] {
            _ = try parser.parseUpload(try signed(path, settings))
            let other = try signed("/w:3", settings).replacing("/w:3", with: path)
            let error = #expect(throws: RequestError.self) { try parser.parseUpload(other) }
            #expect(error == .wrongSignature)
        }
    }

    @Test("What follows the question mark is not signed")
    func query() throws {
        _ = try parsed("/" + Self.published + Self.path + "?a/b", settings: signing())
    }

    @Test("Any of the pairs may have signed, but no key with another's salt")
    func severalPairs() throws {
        let both = signing([("one", "red"), ("two", "blue")])
        for pair in both.signatures.pairs {
            let signature = both.signatures.signature(of: Self.path, with: pair)
            _ = try parsed("/\(signature)\(Self.path)", settings: both)
        }
        let mixed = signing([("one", "blue")])
        #expect(error(of: try signed(Self.path, mixed), settings: both) == .wrongSignature)
    }

    @Test("Signatures are cut to their size, and longer or shorter ones are refused")
    func truncation() throws {
        let short = signing { $0.byteCount = 8 }
        let path = try signed(Self.path, short)
        #expect(path.hasPrefix("/oKfUtW34Dvo/"))
        _ = try parsed(path, settings: short)
        #expect(error(of: "/\(Self.published)\(Self.path)", settings: short) == .wrongSignature)
        #expect(error(of: path, settings: signing()) == .wrongSignature)
    }

    @Test("Trusted signatures are compared as they are written")
    func trusted() throws {
        let settings = signing { $0.trusted = ["let-me-in"] }
        _ = try parsed("/let-me-in\(Self.path)", settings: settings)
        #expect(error(of: "/let-me-i\(Self.path)", settings: settings) == .wrongSignature)
        #expect(error(of: "/let-me-in=\(Self.path)", settings: settings) == .wrongSignature)
    }

    @Test("Without a key every signature counts, but not one that looks like an option")
    func unsigned() throws {
        for signature in ["_", "unsafe", "insecure", "AfrOrF3gWeDA6VOlDG4TzxMv39O7MXnF4CXpKUwGqRM"] {
            _ = try parsed("/\(signature)/w:10/\(someSource)")
        }
        let error = error(of: "/w:10/\(someSource)")
        #expect(error == .missingSignature(found: "w:10"))
        #expect(error?.status == 403)
    }

    @Test("A key without its salt signs nothing; the configuration refuses it")
    func keyWithoutSalt() {
        let (_, problems) = ServerConfiguration.read(["KF_KEY": "00ff"])
        #expect(problems.map(\.name) == ["KF_SALT"])
        #expect(problems.allSatisfy { $0.isError })
    }

    static let repairs = [
        ("/_/w%3A10/plain/https://example.com/a.jpg", "/_/w:10/plain/https://example.com/a.jpg"),
        ("/_/w:10/plain/https:/example.com/a.jpg", "/_/w:10/plain/https://example.com/a.jpg"),
        ("/_/w:10/plain/local:/a/b.jpg", "/_/w:10/plain/local:///a/b.jpg"),
        ("/_/w:10/plain/s3:/bucket/a%3Ab.jpg", "/_/w:10/plain/s3://bucket/a%3Ab.jpg"),
        ("/_/w%3A10/aHR0cDovL2EvYg", "/_/w:10/aHR0cDovL2EvYg"),
        ("/_/rs%3afit%3A10/plain/https://example.com/a%3ab", "/_/rs:fit:10/plain/https://example.com/a%3ab"),
    ]

    @Test("Paths that a network has changed are read and checked as they were signed", arguments: repairs)
    func repaired(changed: String, original: String) throws {
        let settings = signing()
        let path = try signed(String(original.dropFirst(2)), settings)
        let signature = String(path.dropFirst().prefix { $0 != "/" })
        let sent = "/" + signature + changed.dropFirst(2)
        #expect(try parsed(sent, settings: settings) == parsed(path, settings: settings))
    }

    @Test("A path with doubled slashes is the one that was signed, whoever doubled them")
    func doubledSlashes() throws {
        let settings = signing()
        let path = try signed("/w:10/\(someSource)", settings)
        let signature = String(path.dropFirst().prefix { $0 != "/" })
        for sent in ["/\(path)", "/\(signature)//w:10/\(someSource)", "//\(signature)///w:10//\(someSource)"] {
            #expect(try parsed(sent, settings: settings) == parsed(path, settings: settings), "\(sent)")
        }
        #expect(error(of: "/\(signature)//w:11/\(someSource)", settings: settings) == .wrongSignature)
        for signedSo in ["//w:10/\(someSource)", "//aHR0cDovL2EvYg"] {
            let sent = try signed(signedSo, settings)
            #expect(error(of: sent, settings: settings) == nil, "\(signedSo)")
        }
    }

    @Test("A source that needs no repair stays as it is")
    func unrepaired() throws {
        for source in ["https://example.com/a:/b", "a/b:/c", "http:", "http:/", ":/a", "local:///a"] {
            #expect(try parsed("/_/plain/\(source)").plan.source == source)
        }
    }
}
