// `data:` URLs: the bytes they carry, their keys, and how resources become providers.

import Foundation
import KFSupport
import Testing

@testable import Kingfisher

@Suite struct DataURLTests {
    @Test(
        "A data URL carries its bytes percent-encoded or in Base64",
        arguments: [
            ("data:text/plain,a%20b%2c", "a b,"), ("data:,", ""), ("DATA:,a,b", "a,b"),
            ("data:;base64,aGVsbG8=", "hello"), ("data:image/png;BASE64,aGVsbG8", "hello"),
            ("data:;base64,aGVs%0AbG8%3D", "hello"), ("data:;base64,aGVs bG8", "hello"), ("data:;base64,fn5-", "~~~"),
        ]
    )
    func carriedBytes(text: String, bytes: String) async throws {
        #expect(try await DataURLImageDataProvider(text: text).data() == Data(bytes.utf8))
    }

    @Test(
        "A data URL is read as browsers read it",
        arguments: [
            // The kinds of cases of the standard's own tests (web-platform-tests, fetch/data-urls).
            ("data:image/png; base64,WA", "X"), ("data:;  base64,WA", "X"), ("data:;base64   ,WA", "X"),
            ("data:  ;charset=x   ;  base64,WA", "X"), ("data:;BASe64            ,WA", "X"),
            ("data:;%20base64%20,WA", "X"), ("data:;base64;base64,WA", "X"), ("data:x;charset=x;base64,WA", "X"),
            ("data:;base64;,WA", "WA"), ("data:x;base64;charset=x,WA", "WA"), ("data:x;base64x,WA", "WA"),
            ("data:x;base64=x,WA", "WA"), ("data:;base 64,WA", "WA"), ("data:;%62ase64,WA", "WA"),
            ("data:%3Bbase64,WA", "WA"), ("data:base64,WA", "WA"), ("data:text/plain;a=\",\",X", "\",X"),
            ("data:;base64,W%20A", "X"), ("data:;base64,W%0CA", "X"), ("data:;base64,W A = =", "X"),
            ("data:;base64,W\n\tA\r", "X"), ("data:;base64,YR", "a"), ("data:;base64,YWI=", "ab"),
            ("  data:;base64,WA  ", "X"), ("DaTa:,X", "X"), ("data:,X#X", "X"), ("data:,X X", "X X"),
            ("data:,%4", "%4"), ("data:,%zz%", "%zz%"), ("data:,width='100%'%20", "width='100%' "),
            ("data:text/plain,á💩", "á💩"), ("data:†,X", "X"), ("data:;charset=x   ,  X", "  X"),
        ]
    )
    func standard(text: String, bytes: String) async throws {
        #expect(try await DataURLImageDataProvider(text: text).data() == Data(bytes.utf8))
    }

    @Test("A URL made of text with a blank before the word is in Base64, too") func blankInURL() async throws {
        let url = try #require(URL(string: "data:image/png; base64,aGVsbG8="))
        #expect(try await DataURLImageDataProvider(url: url).data() == Data("hello".utf8))
    }

    @Test(
        "A text that carries no bytes is an error that says why",
        arguments: [
            ("http://example.com/,", DataURLImageDataProvider.DataURLError.otherScheme), ("", .otherScheme),
            // A colon but for the bit that tells small letters from capitals.
            ("data\u{1A},a", .otherScheme),
            ("data:image/png", .noComma), ("data:text/html    ;charset=x   ", .noComma), ("data:#,", .noComma),
            ("data:;base64,a", .malformedBase64), ("data:;base64,a*bc", .malformedBase64),
            ("data:;base64,ab=", .malformedBase64), ("data:;base64,a=bc", .malformedBase64),
            ("data:;base64,=", .malformedBase64), ("data:;base64,====", .malformedBase64),
            ("data:;base64,YQ===", .malformedBase64), ("data:;base64,%ff", .malformedBase64),
        ]
    )
    func malformedText(text: String, reason: DataURLImageDataProvider.DataURLError) async {
        await #expect(throws: reason) { try await DataURLImageDataProvider(text: text).data() }
    }

    @Test("The key is short, and differs where the bytes do") func shortKey() throws {
        let text = "data:;base64," + String(repeating: "A", count: 1 << 16)
        let provider = DataURLImageDataProvider(text: text)
        #expect(provider.cacheKey.utf8.count < 100)
        #expect(provider.cacheKey == DataURLImageDataProvider(text: text).cacheKey)
        #expect(provider.cacheKey != DataURLImageDataProvider(text: text + "B").cacheKey)
        let url = try #require(URL(string: text))
        #expect(url.cacheKey == provider.cacheKey)
        #expect(DataURLImageDataProvider(url: url).cacheKey == provider.cacheKey)
        #expect(DataURLImageDataProvider(text: text, cacheKey: "mine").cacheKey == "mine")
    }

    @Test("A resource with a data URL becomes a provider and keeps its key", arguments: ["data:,x", "DATA:,x"])
    func resources(text: String) async throws {
        let url = try #require(URL(string: text))
        for (source, key) in [
            (url.convertToSource(), url.cacheKey),
            (KF.ImageResource(downloadURL: url, cacheKey: "mine").convertToSource(), "mine"),
            (url.convertToSource(overrideCacheKey: "other"), "other"),
        ] {
            guard case .provider(let provider) = source else {
                Issue.record("\(text) is downloaded")
                continue
            }
            #expect(source.cacheKey == key)
            #expect(try await provider.data() == Data("x".utf8))
        }
    }

    @Test("A manager loads a data URL, keeps its image, and names the error of a broken one")
    func loading() async throws {
        try await Rig.run { rig in
            let base64 = try SampleImage.png(8, 6).base64EncodedString()
            let url = try #require(URL(string: "data:image/png;base64,\(base64)"))
            rig.manager.allowsFileURLs = false
            let first = try await rig.manager.retrieveImage(with: url, options: [.waitForCache])
            #expect(first.cacheType == .none && first.image.pixelWidth == 8)
            #expect(try await rig.manager.retrieveImage(with: url).cacheType == .memory)
            #expect(rig.cache.diskStorage.isCached(forKey: url.cacheKey))

            let broken = try #require(URL(string: "data:image/png;base64,a"))
            let error = await failure { try await rig.manager.retrieveImage(with: broken) }
            #expect(error?.errorCode == 5003)
            #expect(error?.errorDescription?.contains("Base64 is malformed") == true)
        }
    }

    @Test("A view shows the image of a data URL") @MainActor func view() async throws {
        try await Rig.run { rig in
            let base64 = try SampleImage.png(8, 6).base64EncodedString()
            let url = try #require(URL(string: "data:image/png;base64,\(base64)"))
            let (view, done) = (KFCrossPlatformImageView(), Promise<Int>())
            view.kf.setImage(with: url, options: rig.viewOptions) { done.fulfil($0.code) }
            #expect(await done.value == 0 && view.image?.pixelWidth == 8)
        }
    }
}
