// Servers that cut, delay, damage or invent answers. For RESPReader, RedisSession and RedisConnection.

import Foundation
import KFSupport
import KingfisherTiers
import Testing

/// Bytes that are no answer to `GET`.
private struct Damage: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let bytes: String

    init(_ description: String, _ bytes: String) { (testDescription, self.bytes) = (description, bytes) }

    static let all = [
        Self("no protocol", "HTTP/1.1 400 Bad Request\r\n\r\n"),
        Self("an empty line", "\r\n"),
        Self("a line without carriage return", "+OK\n"),
        Self("a line without end", "+" + String(repeating: "a", count: 100_000)),
        Self("a length that is no number", "$five\r\nabcde\r\n"),
        Self("no length", "$\r\n"),
        Self("a length below zero", "$-2\r\n"),
        Self("a length above all numbers", "$99999999999999999999\r\n"),
        Self("the largest length", "$9223372036854775807\r\n"),
        Self("a length that is too large", "$2000000\r\n" + String(repeating: "a", count: 100_000)),
        Self("a value that is longer than it says", "$3\r\nabcd\r\n"),
        Self("a value that is shorter than it says", "$5\r\nabc\r\n$-1\r\n"),
        Self("an array that is too large", "*1000000000\r\n"),
        Self("an array of a length below zero", "*-7\r\n"),
        Self("arrays in arrays", String(repeating: "*1\r\n", count: 10_000)),
        Self("too many elements", "*1000000\r\n" + String(repeating: ":1\r\n", count: 100_000)),
        Self("large elements", "*4\r\n" + String(repeating: "$900000\r\n\(largeValue)\r\n", count: 4)),
        Self("a number that is none", ":1x\r\n"),
        Self("an answer of version 3", "%1\r\n+a\r\n+b\r\n"),
        Self("two answers to one command", "$1\r\na\r\n$1\r\nb\r\n$1\r\nc\r\n"),
        Self("the end", ""),
        Self("the end in a value", "$1000\r\nabc"),
    ]
    private static let largeValue = String(repeating: "a", count: 900_000)
}

@Suite(.timeLimit(.minutes(5))) struct RedisProtocolTests {
    @Test("Answers are understood in single bytes, and many in one piece", arguments: [true, false])
    func cuts(isCut: Bool) async throws {
        let count = 50
        let fake = try FakeRedis { client in
            var answers = ""
            var waiting = 0
            while let words = client.commandAfterPing() {
                answers += Self.answer(to: words[1])
                waiting += 1
                guard waiting == count else { continue }
                if isCut { for byte in answers.utf8 { client.send([byte]) } } else { client.send(answers) }
                (answers, waiting) = ("", 0)
            }
        }
        let tier = try RedisTier.patient(fake.url)
        try await withThrowingTaskGroup { group in
            for key in 0..<count {
                group.addTask {
                    let value = try await tier.get("\(key)")
                    #expect(value == (key % 5 == 0 ? nil : Data(Self.text("kf:\(key)").utf8)))
                }
            }
            try await group.waitForAll()
        }
    }

    /// A value that looks like answers.
    private static func text(_ key: String) -> String { "\r\n$5\r\(key)\n\r\n" }

    private static func answer(to key: String) -> String {
        key.last == "0" || key.last == "5" ? "$-1\r\n" : "$\(text(key).utf8.count)\r\n\(text(key))\r\n"
    }

    @Test(
        "What is no answer ends the connection, never the process; the next connection is used",
        arguments: Damage.all
    )
    private func damage(_ damage: Damage) async throws {
        let fake = try FakeRedis { client in
            while client.commandAfterPing() != nil {
                client.send(client.number == 1 ? damage.bytes : "$1\r\nv\r\n")
                if client.number == 1, ["", "$1000\r\nabc"].contains(damage.bytes) { return }
            }
        }
        // The test would end by its time limit if the tier waited for what is announced.
        let tier = try RedisTier.patient(fake.url)
        // With one answer too many, the first one may arrive alone.
        _ = await tier.failureOfGet()
        let error = await tier.failureOfGet()
        #expect([.connectionLost, .notConnected, nil].contains(error?.cause))
        let value = try await eventually("It is connected again") {
            fake.connectionCount > 1 ? try await tier.get("a") : nil
        }
        #expect(value == Data("v".utf8))
        #expect(fake.connectionCount == 2)
    }

    @Test("All calls in flight fail with a connection, with one error that names the server") func inFlight()
        async throws
    {
        let fake = try FakeRedis { client in
            for _ in 0..<10 { if client.commandAfterPing() == nil { return } }
            client.send("$1\r\na\r\n$1\r\nb\r\ngarbage\r\n")
            client.waitForEnd()
        }
        let tier = try RedisTier.patient(fake.url)
        let results = await withTaskGroup { group in
            for _ in 0..<10 { group.addTask { await tier.failureOfGet() } }
            return await group.reduce(into: [RedisError?]()) { $0.append($1) }
        }
        #expect(results.count { $0 == nil } == 2)
        let errors = Set(results.compactMap(\.self))
        #expect(errors.count == 1)
        #expect(errors.first?.cause == .connectionLost)
        #expect(errors.first?.message.contains("127.0.0.1:\(fake.port)") == true)
    }

    @Test("A server that loads its data is not connected; it is used as soon as it is ready") func loading()
        async throws
    {
        let fake = try FakeRedis { client in
            while let words = client.command() {
                if client.number < 3 {
                    client.send("-LOADING Redis is loading the dataset in memory\r\n")
                } else {
                    client.send(words == ["PING"] ? "+PONG\r\n" : "$1\r\nv\r\n")
                }
            }
        }
        let tier = try RedisTier.patient(fake.url)
        let error = await tier.failureOfGet()
        #expect(error?.cause == .notConnected)
        #expect(error?.message.contains("LOADING") == true)
        #expect(try await eventually("It is ready") { try await tier.get("a") } == Data("v".utf8))
        #expect(fake.connectionCount == 3)
    }

    @Test("A server that accepts and says nothing is given up after the time for connecting; then calls fail at once")
    func silent() async throws {
        let fake = try FakeRedis { $0.waitForEnd() }
        let tier = try RedisTier(fake.url, connectTimeout: .milliseconds(50))
        #expect(await tier.failureOfGet()?.cause == .notConnected)
        // Each of these waits for no connection, or the test would end by its time limit.
        for _ in 0..<1_000 { #expect(await tier.failureOfGet()?.cause == .notConnected) }
    }

    @Test("A server that repeats what it was sent has no password in its errors") func echo() async throws {
        let fake = try FakeRedis { client in
            while let words = client.command() {
                let rest = words.dropFirst().map { "'\($0)'" }.joined(separator: " ")
                client.send("-ERR unknown command '\(words[0])', with args beginning with: \(rest)\r\n")
            }
        }
        let tier = try RedisTier.patient("redis://me:secret@127.0.0.1:\(fake.port)")
        let error = try #require(await tier.failureOfGet())
        #expect(error.cause == .notConnected)
        #expect(!error.message.contains("secret"))
    }

    @Test("Errors of a server are printed as one line of plain characters") func readableErrors() async throws {
        let fake = try FakeRedis { client in
            while client.commandAfterPing() != nil {
                client.send("-ERR \u{1B}[31mred\r and\u{0} 'kf:secret-key' \(String(repeating: "x", count: 5_000))\r\n")
            }
        }
        let error = try #require(try await RedisTier.patient(fake.url).failureOfGet())
        #expect(error.cause == .refused)
        #expect(error.message.hasSuffix("answers: ERR ?[31mred? and?"))
    }

    @Test("A server that has become a replica is connected to anew: its name may lead to another one")
    func replica() async throws {
        let fake = try FakeRedis { client in
            while client.commandAfterPing() != nil {
                client.send(
                    client.number == 1 ? "-READONLY You can't write against a read only replica.\r\n" : "+OK\r\n"
                )
            }
        }
        let tier = try RedisTier.patient(fake.url)
        #expect(await tier.failure { try await $0.put(Data(), forKey: "a", expiry: nil) }?.cause == .refused)
        try await eventually("It is connected again") { try await tier.put(Data(), forKey: "a", expiry: nil) }
        #expect(fake.connectionCount == 2)
    }

    @Test("More calls than a connection keeps fail at once, and those that it keeps go on") func overload() async throws
    {
        let isOver = Promise<Void>()
        let fake = try FakeRedis { client in
            guard client.commandAfterPing() != nil else { return }
            let semaphore = DispatchSemaphore(value: 0)
            Task {
                await isOver.value
                semaphore.signal()
            }
            semaphore.wait()
            // Calls that begin once others have their answers are kept, too.
            repeat { client.send("$1\r\nv\r\n") } while client.command() != nil
        }
        let tier = try RedisTier.patient(fake.url)
        let causes = await withTaskGroup { group in
            for _ in 0..<10_100 {
                group.addTask {
                    let cause = await tier.failureOfGet()?.cause
                    if cause == .overloaded { isOver.fulfil(()) }
                    return cause
                }
            }
            return await group.reduce(into: [RedisError.Cause?: Int]()) { $0[$1, default: 0] += 1 }
        }
        #expect((causes[nil] ?? 0) >= 10_000)
        #expect((causes[.overloaded] ?? 0) >= 1)
        #expect(causes.count == 2)
    }
}
