// How the files of an upload come into a directory and onto a page.

import Foundation
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite struct UploadFilesTests {
    private func upload(_ name: String = "w") async throws -> Upload {
        var options = UploadOptions()
        options.limits.isolation = .inProcess
        let formats = [ImageEncoding(.webp), ImageEncoding(.jpeg)]
        let variants = [20, 40].map { UploadVariant("\(name)\($0)", width: $0, encodings: formats) }
        return try await Upload.processing(SampleImage.png(60, 30), into: variants, options: options)
    }

    private func names(in directory: URL) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []).sorted()
    }

    @Test("All files are written under the names of the template, into a directory that is made")
    func writing() async throws {
        try await withTemporaryDirectory { directory in
            let upload = try await upload()
            let place = directory.appending(path: "a/b")
            let files = try await upload.write(to: place)
            #expect(names(in: place) == ["w20-20.jpg", "w20-20.webp", "w40-40.jpg", "w40-40.webp"])
            for (file, written) in zip(upload.files, files) {
                #expect(try Data(contentsOf: written) == file.image.data)
            }
            try await upload.write(to: place, template: "{height}_{hash}.{ext}")
            #expect(names(in: place).count == 8 && names(in: place).contains { $0.hasPrefix("10_") })
        }
    }

    @Test("Where one file cannot be written, none is there")
    func nothing() async throws {
        try await withTemporaryDirectory { directory in
            let upload = try await upload()
            let last = directory.appending(path: upload.files[3].fileName)
            try Data("mine".utf8).write(to: last)
            let error = await #expect(throws: UploadError.self) { try await upload.write(to: directory) }
            guard case .notWritten(let path, _)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(path == last.path && names(in: directory) == [last.lastPathComponent])
            #expect(try Data(contentsOf: last) == Data("mine".utf8))
            for template in ["{ext}", "../{name}.{ext}", "", ".."] {
                await #expect(throws: UploadError.self) { try await upload.write(to: directory, template: template) }
            }
            let climbing = try await self.upload("../../x")
            await #expect(throws: UploadError.self) { try await climbing.write(to: directory) }
            #expect(names(in: directory) == [last.lastPathComponent])
        }
    }

    @Test("The markup names each format and width, and every text is escaped")
    func markup() async throws {
        let upload = try await upload()
        let text = upload.pictureMarkup(alt: "\"<A> & B\"", sizes: "(min-width: 600px) 50vw, 100vw") { file in
            "/p/\(file.fileName)?a=1&b=2, 3"
        }
        let lines = text.split(separator: "\n").map(String.init)
        #expect(lines.count == 4 && lines[0] == "<picture>" && lines[3] == "</picture>")
        let webp = "/p/w20-20.webp?a=1&amp;b=2%2C%203 20w, /p/w40-40.webp?a=1&amp;b=2%2C%203 40w"
        #expect(lines[1].contains("type=\"image/webp\" srcset=\"\(webp)\" sizes=\"(min-width: 600px) 50vw, 100vw\""))
        #expect(lines[2].contains("src=\"/p/w40-40.jpg?a=1&amp;b=2, 3\""))
        #expect(lines[2].contains("width=\"40\" height=\"20\""))
        #expect(lines[2].contains("alt=\"&quot;&lt;A&gt; &amp; B&quot;\"") && lines[2].contains("background-color: #"))
        #expect(lines[2].contains("data-thumbhash=\"\(try #require(upload.facts.thumbHash).base64EncodedString())\""))
        var options = UploadOptions()
        options.limits.isolation = .inProcess
        let wide = [100, 20, 200].map { UploadVariant("v\($0)", width: $0) }
        let small = try await Upload.processing(SampleImage.png(60, 30), into: wide, options: options)
        #expect(small.pictureMarkup(alt: "") { $0.fileName }.contains("srcset=\"v20-20.png 20w, v100-60.png 60w\""))
        let none = try await Upload.processing(SampleImage.png(), into: [], options: options)
        #expect(none.pictureMarkup(alt: "") { $0.fileName }.isEmpty)
    }
}
