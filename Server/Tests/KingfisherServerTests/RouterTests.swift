// The routes in an application that has others.

import Foundation
import Hummingbird
import KFImageURLs
import Kingfisher
import KingfisherServer
import Logging
import ServiceLifecycle
import Testing

@Suite(.timeLimit(.minutes(10))) struct RouterTests {
    @Test("Routes of an application come before those of images, which get the path as it was sent")
    func ownRoutes() async throws {
        let renderer = MadeUpRenderer(image: try await madeUpImage())
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let images = ImageServer(configuration: .init(), renderer: renderer, logger: logger)
        let router = Router(context: ImageRequestContext.self)
        router.get("hello") { _, _ in "hello" }
        images.addRoutes(to: router)
        try await RunningServer.serving(router.buildResponder(), images.http) { port, _ in
            let connection = try await RawConnection(port: port)
            let health = "imgproxy is running\nDecoders: in this process\n"
            for (path, expected) in [("/hello", "hello"), ("/health", health)] {
                try await connection.send(path)
                #expect(try await connection.answer().text == expected)
            }
            try await connection.send("/_/w:1/plain/https://example.com//a%2Fb@png")
            #expect(try await connection.answer().fields["content-type"] == "image/png")
            #expect(renderer.plans.map(\.source) == ["https://example.com//a/b"])
            connection.leave()
        }
    }

    @Test("Settings that are wrong are named, without their values if these are secret")
    func configuration() throws {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let error = try #require(throws: InvalidConfiguration.self) {
            _ = try ImageServer(environment: ["KF_QUALITY": "0", "KF_KEY": "hunter2", "PATH": "x"], logger: logger)
        }
        #expect(error.complaints.count == 2)
        let unsigned = try #require(throws: InvalidConfiguration.self) {
            _ = try ImageServer(environment: ["KF_KEY": ""], logger: logger)
        }
        #expect(unsigned.complaints.count == 1 && unsigned.description.hasPrefix("KF_KEY"))
        #expect(error.description.contains("KF_QUALITY: ") && !error.description.contains("hunter2"))
    }
}
