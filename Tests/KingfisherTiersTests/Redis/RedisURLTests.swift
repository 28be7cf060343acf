// What URLs of Redis mean, and which ones are refused. For RedisSettings.

import Foundation
import Testing

@testable import KingfisherTiers

@Suite struct RedisURLTests {
    @Test(
        "A tier is named by scheme, host and port of its first URL",
        arguments: [
            ("redis://127.0.0.1", "redis://127.0.0.1:6379"),
            (
                "rediss://me:secret@cache.invalid:7000/2?cacert=/a.pem&cert=/b.pem&key=/c.pem",
                "rediss://cache.invalid:7000"
            ),
            ("valkey://:secret@[::1]:7000/", "valkey://[::1]:7000"),
            ("VALKEYS://127.0.0.1", "valkeys://127.0.0.1:6379"),
            ("redis://127.0.0.1:7000, redis://127.0.0.1:7001 redis://127.0.0.1:7002", "redis://127.0.0.1:7000"),
        ]
    )
    func names(url: String, name: String) throws {
        #expect(try RedisTier(url).name == name)
        #expect(try RedisTier(url).leases != nil)
    }

    @Test("Escapes of names and passwords are read beside characters that have none") func escapes() throws {
        let settings = try RedisURL("redis://a%40b:p%40ä@host").settings
        #expect(settings.user == "a@b" && settings.password == "p@ä")
    }

    @Test(
        "A URL that cannot be used is refused with a reason and without its secrets",
        arguments: [
            "", ",", "secret", "http://secret@host", "redis:", "redis://", "redis://:secret@",
            "redis://user:secret@host:0",
            "redis://user:secret@host:99999", "redis://user:secret@host:port", "redis://secret@host",
            "redis://user:secret@host/name", "redis://user:secret@host/-1", "redis://user:secret@host/1/2",
            "redis://user:secret@host?cacert=/a", "rediss://user:secret@host?cacert", "rediss://user:secret@host?ca=/a",
            "redis://user:secret@host,rediss://user:secret@host", "redis://user:secret@host redis://host",
            "redis://user:sec ret@host",
        ]
    )
    func refused(_ url: String) {
        let error = #expect(throws: RedisError.self) { try RedisTier(url) }
        #expect(error?.cause == .badURL)
        #expect(error.map { "\($0) \($0.localizedDescription)" }?.contains("secret") == false)
    }
}
