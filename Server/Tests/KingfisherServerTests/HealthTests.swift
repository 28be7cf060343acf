// `kf-server health`: whom it asks, what it takes for healthy, and how long it waits.

import Foundation
import KingfisherTestSupport
import NIOCore
import NIOPosix
import Testing

extension ProgramTests {
    @Test("health asks the server of the same environment") func health() async throws {
        let (process, connection) = try await serving(["KF_BIND": "127.0.0.1:0"])
        let settings = ["IMGPROXY_BIND": "127.0.0.1:\(connection.port)"]
        var healthy = try run(["health"], settings)
        // It gives the server five seconds, which can be too few on a busy machine.
        while healthy.errors.contains("-1001"), !Task.isCancelled { healthy = try run(["health"], settings) }
        #expect(healthy.status == 0 && healthy.output.hasPrefix("imgproxy is running"), "\(healthy.errors)")
        connection.leave()
        process.terminate()
        let port = try RefusingPort()
        let (status, _, errors) = try run(["health"], ["IMGPROXY_BIND": "127.0.0.1:\(port.number)"])
        #expect(status == 1 && errors.contains("127.0.0.1:\(port.number)"))
        withExtendedLifetime(port) {}
    }

    @Test("health gives a server that says nothing five seconds") func silence() async throws {
        let silent = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .bind(host: "127.0.0.1", port: 0).get()
        let address = "127.0.0.1:\(try #require(silent.localAddress?.port))"
        let (status, _, errors) = try run(["health"], ["KF_BIND": address])
        #expect(status == 1 && errors.contains(address) && errors.contains("5 seconds"), "\(errors)")
        try await silent.close()
    }

    @Test("health takes 200 of the server itself: no other status, no redirect, no proxy's response, no slow drip")
    func otherResponses() async throws {
        let server = try await TestServer.start()
        let address = "127.0.0.1:\(try #require(server.url("/").port))"
        server.route("/a", .status(200))
        let drip = TestResponse(body: Data("health".utf8)).with { ($0.pieceSize, $0.pause) = (1, .seconds(2)) }
        for response in [.status(203), TestResponse(status: 204), .redirect(to: "/a"), drip] {
            server.route("/health", response)
            let (status, output, errors) = try run(["health"], ["KF_BIND": address])
            #expect(status == 1 && output.isEmpty && errors.contains(address), "\(errors)")
        }
        #expect(server.count("/a") == 0)
        server.route("/health", .status(200))
        let port = try RefusingPort()
        let settings = ["KF_BIND": address, "http_proxy": "http://127.0.0.1:\(port.number)", "no_proxy": ""]
        var healthy = try run(["health"], settings)
        // It gives the server five seconds, which can be too few on a busy machine.
        while healthy.errors.contains("-1001"), !Task.isCancelled { healthy = try run(["health"], settings) }
        #expect(healthy.status == 0 && healthy.output == "status 200", "\(healthy.errors)")
        withExtendedLifetime(port) {}
        await server.stop()
    }
}
