// A server in a program of somebody's own: where it decodes, and within which limits.

import Foundation
import Hummingbird
import Kingfisher
import KingfisherServer
import Logging
import Testing

@Suite(.timeLimit(.minutes(10))) struct EmbeddedServerTests {
    @Test(
        "A server decodes in locked processes with the memory that is set, and ends one that takes longer than is set"
    )
    func limits() async {
        await #expect(processExitsWith: .success) {
            let tests = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
            setenv("KF_DECODER", tests.appending(path: "kf-server").path, 1)
            let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            setenv("XDG_CACHE_HOME", folder.appending(path: "caches").path, 1)
            for name in ["a", "b"] { try await madeUpImage().image.data.write(to: folder.appending(path: name)) }
            let settings = [
                "KF_ISOLATION": "required", "KF_TIMEOUT": "3", "KF_MAX_SRC_RESOLUTION": "1",
                "KF_LOCAL_FILESYSTEM_ROOT": folder.path,
            ]
            let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            let images = try ImageServer(environment: settings, allowsUnsigned: true, logger: logger)
            #expect(ImageDecodingLimits.default.maxDecodingDuration == 3)
            let router = Router(context: ImageRequestContext.self)
            images.addRoutes(to: router)
            try await RunningServer.serving(router.buildResponder(), images.http) { port, _ in
                let connection = try await RawConnection(port: port)
                func status(_ path: String) async throws -> Int {
                    try await connection.send(path)
                    return try await connection.answer().status
                }
                // A request of its own must not be what is late.
                while try await status("/_/w:1/plain/local:///a@png") == 503 {}
                let decoders = try children(of: getpid())
                #expect(!decoders.isEmpty)
                let spaces = try decoders.map(addressSpace)
                #expect(spaces.allSatisfy { (1...2).contains($0 >> 30) }, "\(spaces)")
                // To the server a decoder that stands still is one that decodes for too long.
                for decoder in decoders { kill(decoder, SIGSTOP) }
                #expect(try await status("/_/w:1/plain/local:///b@png") == 503)
                await until { (try? Set(decoders).isSubset(of: children(of: getpid()))) == false }
                for decoder in decoders { kill(decoder, SIGCONT) }
                var last = 503
                while last == 503 { last = try await status("/_/w:1/plain/local:///b@png") }
                #expect(last == 200)
                connection.leave()
            }
        }
    }
}
