// Clusters: real ones of three nodes, and nodes that redirect as a test wants it. For RedisRouter and RedisSlots.

import Foundation
import KFSupport
import KingfisherTiers
import Testing

@Suite(.tags(.engines), .timeLimit(.minutes(5)), .enabled(if: RedisServer.isInstalled, "redis-server is not installed"))
struct RedisClusterTests {
    /// Three primaries that share all slots.
    private static func run(_ body: ([RedisServer], RedisTier) async throws -> Void) async throws {
        // A node of a busy machine is not given up by the others, nor does it give up itself.
        let arguments = [
            "--cluster-enabled", "yes", "--cluster-node-timeout", "15000", "--cluster-require-full-coverage", "no",
        ]
        try await RedisServer.run(count: 3, arguments) { servers in
            let places = servers.map { "127.0.0.1:\($0.port)" }
            let text = try await output(of: "redis-cli", ["--cluster", "create"] + places + ["--cluster-yes"])
            try #require(text.contains("All 16384 slots covered"), "\(text)")
            for server in servers {
                _ = try await eventually("The cluster is ready") {
                    try await server.cli("CLUSTER", "INFO").contains("cluster_state:ok") ? true : nil
                }
            }
            try await body(servers, try RedisTier.patient("redis://\(places[0])"))
        }
    }

    @Test("The slot of a key is the one that Redis computes, with and without braces") func slots() async throws {
        try await RedisServer.run("--cluster-enabled", "yes") { server in
            let keys = [
                "", "a", "kf:kf1-0123456789abcdef", "{user}.a", "a{user}b", "a{}b", "a{b", "{}", "{{b}}", "é{ü}",
            ]
            for key in keys {
                let slot = try await server.cli("CLUSTER", "KEYSLOT", key)
                #expect(slot == "\(RedisSlots.slot(of: key))", "\(key)")
            }
        }
    }

    @Test("A cluster is recognised from one of its nodes; each key lies on its node") func threeNodes() async throws {
        try await Self.run { servers, tier in
            for key in 0..<300 {
                try await tier.put(RedisTierTests.value(key, size: 500), forKey: "\(key)", expiry: nil)
            }
            for key in 0..<300 { #expect(try await tier.get("\(key)") == RedisTierTests.value(key, size: 500)) }
            for server in servers {
                #expect(try #require(Int(try await server.cli("DBSIZE"))) > 50)
                // Its own keys are asked for, and hardly any others.
                let info = try await server.cli("INFO", "errorstats")
                let redirects = info.firstMatch(of: /errorstat_MOVED:count=(\d+)/).flatMap { Int($0.1) } ?? 0
                #expect(redirects < 50)
            }
            #expect(try await tier.lease("a", owner: "me", duration: .seconds(50)))
            #expect(try await tier.renew("a", owner: "me", duration: .seconds(50)))
            try await tier.release("a", owner: "me")
            try await tier.remove("7")
            #expect(try await tier.get("7") == nil)
        }
    }

    @Test("While slots with their keys move from node to node, every value is found and none is lost")
    func moving() async throws {
        try await Self.run { servers, tier in
            for key in 0..<500 {
                try await tier.put(RedisTierTests.value(key, size: 2_000), forKey: "\(key)", expiry: nil)
            }
            let names = try await Self.names(of: servers)
            let isMoved = Promise<Void>()
            try await withThrowingTaskGroup { group in
                for caller in 0..<8 {
                    group.addTask {
                        var key = caller
                        while isMoved.valueIfFulfilled == nil {
                            key = (key + 8) % 500
                            let value = RedisTierTests.value(key, size: 2_000)
                            #expect(try await tier.get("\(key)") == value)
                            try await tier.put(value, forKey: "\(key)", expiry: nil)
                        }
                    }
                }
                group.addTask {
                    defer { isMoved.fulfil(()) }
                    for (from, to) in [(0, 1), (1, 2), (2, 0)] {
                        let text = try await output(
                            of: "redis-cli",
                            ["--cluster", "reshard", "127.0.0.1:\(servers[0].port)", "--cluster-from", names[from]]
                                + ["--cluster-to", names[to], "--cluster-slots", "400", "--cluster-yes"]
                        )
                        #expect(text.contains("Moving slot"), "\(text)")
                    }
                }
                try await group.waitForAll()
            }
            for key in 0..<500 { #expect(try await tier.get("\(key)") == RedisTierTests.value(key, size: 2_000)) }
        }
    }

    private static func names(of servers: [RedisServer]) async throws -> [String] {
        var names: [String] = []
        for server in servers { names.append(try await server.cli("CLUSTER", "MYID")) }
        return names
    }

    @Test("A node that goes away takes its keys along, and no others; when another has its slots, they are found there")
    func nodeGone() async throws {
        try await Self.run { servers, tier in
            for key in 0..<100 { try await tier.put(Data("\(key)".utf8), forKey: "\(key)", expiry: nil) }
            let names = try await Self.names(of: servers)
            await servers[1].kill()
            var failed: [Int] = []
            for key in 0..<100 {
                if let error = await tier.failureOfGet("\(key)") {
                    #expect(error.message.contains("127.0.0.1:\(servers[1].port)"))
                    failed.append(key)
                } else {
                    #expect(try await tier.get("\(key)") == Data("\(key)".utf8))
                }
            }
            #expect((10...60).contains(failed.count))
            // An operator gives its slots to another one.
            for server in [servers[0], servers[2]] {
                _ = try await eventually("The others notice it") {
                    try await server.cli("CLUSTER", "NODES").contains("\(names[1]) 127.0.0.1:\(servers[1].port)@")
                        ? true : nil
                }
                try await server.cli("CLUSTER", "FORGET", names[1])
            }
            try await servers[2].cli("CLUSTER", "ADDSLOTSRANGE", "5461", "10922")
            try await servers[2].cli("CLUSTER", "BUMPEPOCH")
            for key in failed {
                try await eventually("The new node is found") { try await tier.remove("\(key)") }
                try await tier.put(Data("new".utf8), forKey: "\(key)", expiry: nil)
                #expect(try await tier.get("\(key)") == Data("new".utf8))
            }
        }
    }

    @Test("The nodes of several URLs are asked until one is there") func seeds() async throws {
        try await Self.run { servers, _ in
            await servers[0].kill()
            let urls = servers.map { "redis://127.0.0.1:\($0.port)" }.joined(separator: ", ")
            let tier = try RedisTier.patient(urls)
            // This slot is the third node's.
            let key = try #require((0..<1_000).first { RedisSlots.slot(of: "kf:\($0)") > 12_000 })
            try await eventually("A node is found") {
                try await tier.put(Data("v".utf8), forKey: "\(key)", expiry: nil)
            }
            #expect(try await tier.get("\(key)") == Data("v".utf8))
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct RedisRedirectTests {
    @Test("A node that redirects to itself without end is asked six times at most", arguments: ["MOVED", "ASK"])
    func loop(_ word: String) async throws {
        let count = Locked(0)
        let fake = try FakeRedis { client in
            while let words = client.commandAfterPing() {
                if words[0] == "GET" { count.withLock { $0 += 1 } }
                client.send(words == ["ASKING"] ? "+OK\r\n" : "-\(word) 0 :\(client.port)\r\n")
            }
        }
        let tier = try RedisTier.patient(fake.url)
        #expect(await tier.failureOfGet()?.cause == .refused)
        #expect(count.withLock { $0 } == 6)
    }

    @Test("ASK: this command is sent behind ASKING to the other node, the next one to the first node again")
    func ask() async throws {
        let commands = Locked<[[String]]>([])
        let other = try FakeRedis { client in
            while let words = client.commandAfterPing() {
                commands.withLock { $0.append(words) }
                client.send(words == ["ASKING"] ? "+OK\r\n" : "$5\r\nother\r\n")
            }
        }
        let port = other.port
        let fake = try FakeRedis { client in
            var isAsked = false
            while client.commandAfterPing() != nil {
                client.send(isAsked ? "$5\r\nfirst\r\n" : "-ASK 5 127.0.0.1:\(port)\r\n")
                isAsked = true
            }
        }
        let tier = try RedisTier.patient(fake.url)
        #expect(try await tier.get("a") == Data("other".utf8))
        #expect(try await tier.get("a") == Data("first".utf8))
        #expect(commands.withLock { $0 } == [["ASKING"], ["GET", "kf:a"]])
    }

    @Test(
        "A redirect that leads nowhere is an error of the server",
        arguments: [
            "MOVED", "MOVED 1", "MOVED 1 host", "MOVED x host:1", "MOVED 99999 host:1", "MOVED 1 host:0",
            "MOVED 1 host:99999",
            "MOVED 1 ho/st@x:1", "ASK 1 host:x", "MOVED -1 host:1", "TRYAGAIN no", "CLUSTERDOWN no",
        ]
    )
    func nowhere(_ text: String) async throws {
        let fake = try FakeRedis { client in while client.commandAfterPing() != nil { client.send("-\(text)\r\n") } }
        let error = try await RedisTier.patient(fake.url).failureOfGet()
        #expect(error?.cause == .refused)
        #expect(error?.message.contains(text) == true)
    }

    @Test(
        "What a node says of slots is not believed if it makes no sense; the tier goes on",
        arguments: [
            "*0\r\n", "$-1\r\n", "*1\r\n:1\r\n", "*1\r\n*3\r\n:5\r\n:1\r\n*2\r\n$4\r\nhost\r\n:1\r\n",
            "*1\r\n*3\r\n:0\r\n:16384\r\n*2\r\n$4\r\nhost\r\n:1\r\n",
            "*1\r\n*3\r\n:-1\r\n:5\r\n*2\r\n$4\r\nhost\r\n:1\r\n",
            "*1\r\n*2\r\n:0\r\n:5\r\n", "*1\r\n*3\r\n:0\r\n:16383\r\n*1\r\n$4\r\nhost\r\n", "-ERR no cluster\r\n",
            "*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n:1\r\n:1\r\n",
            "*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n$-1\r\n:99999\r\n",
        ]
    )
    func strangeSlots(_ answer: String) async throws {
        let isTold = Promise<Void>()
        let fake = try FakeRedis { client in
            var isMoved = false
            while let words = client.commandAfterPing() {
                if words[0] == "CLUSTER" {
                    client.send(answer)
                    isTold.fulfil(())
                } else {
                    client.send(
                        isMoved ? "$1\r\nv\r\n" : "-MOVED \(RedisSlots.slot(of: words[1])) 127.0.0.1:\(client.port)\r\n"
                    )
                    isMoved = true
                }
            }
        }
        let tier = try RedisTier.patient(fake.url)
        #expect(try await tier.get("a") == Data("v".utf8))
        await isTold.value
        for key in 0..<50 { #expect(try await tier.get("\(key)") == Data("v".utf8)) }
    }

    @Test("A node that names ever new nodes does not make more connections than a hundred") func manyNodes()
        async throws
    {
        let fake = try FakeRedis { client in
            var port = 20_000
            while client.commandAfterPing() != nil {
                port += 1
                client.send("-MOVED 0 127.1.1.1:\(port)\r\n")
            }
        }
        let tier = try RedisTier.patient(fake.url)
        var messages: [String] = []
        for _ in 0..<150 { messages.append(await tier.failureOfGet()?.message ?? "") }
        #expect(messages.contains { $0.contains("more than 100 nodes") })
        #expect(messages.allSatisfy { !$0.isEmpty })
    }
}
