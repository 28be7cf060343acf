// The page to try options.

import Foundation
import KFImageURLs
import Kingfisher
import KingfisherServer
import Testing

@Suite(.timeLimit(.minutes(10))) struct FormPageTests {
    @Test("The page has every option of the table, and no character of theirs is markup")
    func options() async throws {
        try await RunningServer.with(["KF_ALLOW_SECURITY_OPTIONS": "1"], isDeveloped: true) { server in
            let answer = try await server.get("/")
            #expect(answer.status == 200 && answer.fields["content-type"] == "text/html; charset=utf-8")
            for option in OptionTable.all {
                let name = option.names[option.names.count > 1 ? 1 : 0]
                #expect(answer.text.contains("<input data-option=\"\(name)\""), "\(name)")
            }
            #expect(
                answer.text.components(separatedBy: "<label").count
                    == answer.text.components(separatedBy: "</label>").count
            )
        }
        try await RunningServer.with(["KF_PATH_PREFIX": "a\"<b>"], isDeveloped: true) { server in
            let answer = try await server.get("/")
            #expect(answer.text.contains("data-prefix=\"/a&quot;&lt;b&gt;\""))
        }
    }

    @Test("A file can be sent where uploads are allowed", arguments: [true, false])
    func files(takesUploads: Bool) async throws {
        try await RunningServer.with(["KF_UPLOADS": "\(takesUploads)"], isDeveloped: true) { server async throws in
            #expect(try await server.get("/").text.contains("type=\"file\"") == takesUploads)
        }
    }

    @Test("There is no such page unless the server is developed")
    func absence() async throws {
        try await RunningServer.with { server in
            let answer = try await server.get("/")
            #expect(answer.status == 200 && !answer.text.contains("<form"))
        }
    }
}
