// What bounds the work of a server: slots, times, and clients that leave.

import KFImageURLs
import Kingfisher
import KingfisherServer
import Testing

private func path(_ number: Int) -> String { "/_/w:\(number)/plain/https://example.com/a" }

@Suite(.timeLimit(.minutes(10))) struct GuardTests {
    @Test("Requests without a slot get 429 at once; those for a result that is made or kept need none")
    func slots() async throws {
        try await RunningServer.with(["KF_REQUESTS_QUEUE_SIZE": "1"]) { server in
            server.renderer.closeGate()
            server.renderer.keep(server.renderer.image, for: "https://example.com/kept")
            let count = 1000
            try await withThrowingTaskGroup(of: Int.self) { tasks in
                for number in 0..<count {
                    let path = number.isMultiple(of: 2) ? path(1) : "/_/w:1/fn:\(number)/plain/https://example.com/a"
                    tasks.addTask { try await server.get(path).status }
                }
                await server.renderer.calls(count)
                #expect(server.images.routes.slots.counts == (1, count))
                let refused = try await server.get(path(2))
                #expect(refused.status == 429 && refused.fields["retry-after"] == "1")
                // Another version of the source is another download.
                #expect(try await server.get("/_/w:1/cb:2/plain/https://example.com/a").status == 429)
                #expect(try await server.get("/_/plain/https://example.com/kept").status == 200)
                #expect(try await server.get("/health").status == 200)
                server.renderer.openGate()
                for try await status in tasks { #expect(status == 200) }
            }
            #expect(server.renderer.plans.count == count)
            await until { server.images.routes.slots.counts == (0, 0) }
            #expect(try await server.get(path(2)).status == 200)
        }
    }

    @Test("While sources take all the memory they may, there is no place for further results") func memory()
        async throws
    {
        try await RunningServer.with { server in
            server.renderer.closeGate()
            server.renderer.keep(server.renderer.image, for: "https://example.com/kept")
            async let first = server.get(path(1)).status
            await server.renderer.calls(1)
            server.renderer.isMemoryFull = true
            let refused = try await server.get(path(2))
            #expect(refused.status == 429 && refused.fields["retry-after"] == "1")
            #expect(try await server.get("/_/plain/https://example.com/kept").status == 200)
            async let joined = server.get(path(1)).status
            await server.renderer.calls(2)
            server.renderer.openGate()
            #expect(try await [first, joined] == [200, 200])
            server.renderer.isMemoryFull = false
            #expect(try await server.get(path(2)).status == 200)
        }
    }

    @Test("A stale result is sent at once, and renewed in a place of the queue if one is free") func renewing()
        async throws
    {
        try await RunningServer.with(["KF_REQUESTS_QUEUE_SIZE": "1"]) { server in
            server.renderer.closeGate()
            var stale = server.renderer.image
            stale.isStale = true
            let sources = ["https://example.com/1", "https://example.com/2"]
            for source in sources { server.renderer.keep(stale, for: source) }
            let routes = server.images.routes
            for source in [sources[0], sources[0], sources[1]] {
                let answer = try await server.get("/_/plain/\(source)")
                #expect(answer.status == 200)
                await until { routes.slots.counts == (1, 1) && server.renderer.renewed == [sources[0]] }
            }
            #expect(try await server.get(path(1)).status == 429)
            server.renderer.openGate()
            await until { routes.slots.counts == (0, 0) }
            #expect(server.renderer.renewed == [sources[0]])
            #expect(try await server.get("/_/plain/\(sources[1])").status == 200)
            await until { routes.slots.counts == (0, 0) && server.renderer.renewed == sources }
        }
    }

    @Test("A client that reads no more is closed in the end, and takes nothing from others meanwhile")
    func stalled() async throws {
        // So long that on a busy machine no other client is taken for one that reads no more.
        let settings = ["KF_WRITE_RESPONSE_TIMEOUT": "12", "KF_REQUESTS_QUEUE_SIZE": "1"]
        // More than the system keeps for a connection.
        try await RunningServer.with(settings, image: try await madeUpImage(.png, side: 1600)) { server in
            let size = server.renderer.image.image.data.count
            #expect(size > 8_000_000)
            let connection = try await RawConnection(port: server.port, reads: false)
            try await connection.send(path(1))
            await server.renderer.calls(1)
            let routes = server.images.routes
            await until { routes.slots.counts == (0, 0) }
            #expect(try await server.get(path(2)).body.count == size)
            await until { routes.metrics.text(gauges: []).contains("kf_errors_total{kind=\"client_stalled\"} 1\n") }
            #expect(try await connection.rest() < size)
            #expect(try await server.get(path(3)).body.count == size)
        }
    }

    @Test("A result that takes too long is 503, and its making is cancelled; its slot is kept until that has ended")
    func timeout() async throws {
        try await RunningServer.with(["KF_TIMEOUT": "5"]) { server in
            server.renderer.closeGate()
            let answer = try await server.get(path(1))
            #expect(answer.status == 503 && answer.fields["retry-after"] == nil)
            await until { server.renderer.cancelled == 1 && server.images.routes.slots.counts == (0, 0) }
        }
    }

    @Test("Clients that leave while their results are made leave nothing behind", arguments: [true, false])
    func leaving(wholly: Bool) async throws {
        try await RunningServer.with { server in
            server.renderer.closeGate()
            let count = 64
            var connections: [RawConnection] = []
            for number in 1...count {
                let connection = try await RawConnection(port: server.port)
                try await connection.send(path(number))
                connections.append(connection)
            }
            await server.renderer.calls(count)
            #expect(server.images.routes.slots.counts == (count, count))
            for connection in connections {
                if wholly { connection.leave() } else { connection.finishSending() }
            }
            let routes = server.images.routes
            await until { server.renderer.running == 0 && routes.slots.counts == (0, 0) }
            #expect(server.renderer.cancelled == count)
            await until { routes.clients.connectionCount == 0 }
            let metrics = try await server.get("/metrics").text
            #expect(metrics.contains("kf_errors_total{kind=\"client_left\"} \(count)\n"))
            #expect(metrics.contains("kf_requests_total{status=\"499\"} \(count)\n"))
        }
    }

    @Test("Clients that leave in the middle of an answer leave nothing behind")
    func leavingWhileReading() async throws {
        try await RunningServer.with(image: try await madeUpImage(.png, side: 800)) { server in
            #expect(server.renderer.image.image.data.count > 1_000_000)
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                for number in 1...64 {
                    tasks.addTask {
                        let connection = try await RawConnection(port: server.port)
                        try await connection.send(path(number))
                        #expect(try await connection.statusLine() == "HTTP/1.1 200 OK")
                        connection.leave()
                    }
                }
                try await tasks.waitForAll()
            }
            let routes = server.images.routes
            await until { routes.clients.connectionCount == 0 && routes.slots.counts == (0, 0) }
            #expect(try await server.get(path(1)).body.count == server.renderer.image.image.data.count)
        }
    }

    @Test("A client that leaves takes nothing from another that waits for the same result")
    func leavingOthers() async throws {
        try await RunningServer.with { server in
            server.renderer.closeGate()
            let (leaver, stayer) = (
                try await RawConnection(port: server.port), try await RawConnection(port: server.port)
            )
            try await leaver.send(path(1))
            try await stayer.send(path(1))
            await server.renderer.calls(2)
            leaver.leave()
            await until { server.renderer.running == 1 }
            #expect(server.images.routes.slots.counts == (1, 1))
            server.renderer.openGate()
            #expect(try await stayer.answer().status == 200)
            stayer.leave()
        }
    }

    @Test("Five requests on one connection are answered, and so are four that come at once, in their order")
    func keepAlive() async throws {
        try await RunningServer.with { server in
            let connection = try await RawConnection(port: server.port)
            for number in 1...5 {
                try await connection.send(path(number), ["X-Request-ID": "one-\(number)"])
                let answer = try await connection.answer()
                #expect(answer.status == 200 && answer.fields["x-request-id"] == "one-\(number)")
            }
            server.renderer.closeGate()
            for number in 1...4 { try await connection.send(path(number), ["X-Request-ID": "all-\(number)"]) }
            await server.renderer.calls(6)
            server.renderer.openGate()
            for number in 1...4 {
                let answer = try await connection.answer()
                #expect(answer.status == 200 && answer.fields["x-request-id"] == "all-\(number)")
            }
            connection.leave()
            await until { server.images.routes.clients.connectionCount == 0 }
            #expect(server.renderer.cancelled == 0)
        }
    }

    @Test("A server that is told to end answers what is in flight, and closes connections that wait for nothing")
    func ending() async throws {
        try await RunningServer.with { server in
            let (busy, idle) = (try await RawConnection(port: server.port), try await RawConnection(port: server.port))
            try await idle.send("/health")
            #expect(try await idle.answer().status == 200)
            server.renderer.closeGate()
            try await busy.send(path(1))
            await server.renderer.calls(1)
            await server.end()
            #expect(await idle.isAtEnd())
            server.renderer.openGate()
            let answer = try await busy.answer()
            #expect(answer.status == 200 && answer.fields["connection"] == "close")
            #expect(await busy.isAtEnd())
        }
    }

    @Test("A client that reads slowly has all of its answer before a server ends that is told to") func endingWhole()
        async throws
    {
        try await RunningServer.with(image: try await madeUpImage(.png, side: 1600)) { server in
            let size = server.renderer.image.image.data.count
            let connection = try await RawConnection(port: server.port, reads: false)
            try await connection.send(path(1))
            await server.renderer.calls(1)
            await until { server.images.routes.slots.counts == (0, 0) }
            await server.end()
            #expect(try await connection.rest() > size)
        }
    }

    @Test("A request whose body does not end closes its connection in the end, however it drips") func drippingBody()
        async throws
    {
        // So long that the answer comes before, on a busy machine too.
        let settings = ["KF_READ_REQUEST_TIMEOUT": "12", "KF_KEEP_ALIVE_TIMEOUT": "86400"]
        try await RunningServer.with(settings) { server in
            let connection = try await RawConnection(port: server.port)
            try await connection.send(path(1), ["Content-Length": "1000000"])
            #expect(try await connection.answer().status == 200)
            #expect(await connection.isAtEnd())
            #expect(server.images.routes.metrics.text(gauges: []).contains("kind=\"request_stalled\"} 1\n"))
        }
    }

    @Test(
        "A client that wants its connection closed has it closed, in whatever letters and of whatever version",
        arguments: [("1.1", "Close"), ("1.1", "foo, close"), ("1.0", "x"), ("1.0", "")]
    )
    func closing(version: String, field: String) async throws {
        try await RunningServer.with(["KF_KEEP_ALIVE_TIMEOUT": "86400"]) { server in
            let connection = try await RawConnection(port: server.port)
            try await connection.send(path(1), field.isEmpty ? [:] : ["Connection": field], version: version)
            #expect(try await connection.answer().status == 200)
            #expect(await connection.isAtEnd())
        }
    }
}
