// Which node of a Redis cluster has which keys, and how its nodes say so. For RedisRouter.

internal import Foundation

/// The slots of a cluster: each key has one, each slot a node.
package enum RedisSlots {
    static let count = 16_384

    /// The slot of a key: of the part of it that stands in the first braces, if there is one.
    package static func slot(of key: String) -> Int {
        let bytes = Array(key.utf8)
        guard let open = bytes.firstIndex(of: UInt8(ascii: "{")) else { return checksum(bytes[...]) % count }
        let tag = bytes[(open + 1)...].prefix { $0 != UInt8(ascii: "}") }
        return checksum(tag.isEmpty || tag.endIndex == bytes.endIndex ? bytes[...] : tag) % count
    }

    /// CRC-16 with the polynomial 0x1021, from 0 on.
    private static func checksum(_ bytes: ArraySlice<UInt8>) -> Int {
        bytes.reduce(0) { (table[($0 >> 8 ^ Int($1)) & 255] ^ $0 << 8) & 0xFFFF }
    }

    private static let table = (0..<256).map { byte in
        (0..<8).reduce(byte << 8) { value, _ in (value & 0x8000 == 0 ? value << 1 : value << 1 ^ 0x1021) & 0xFFFF }
    }

    /// The primary of each slot from the answer to `CLUSTER SLOTS`; nil if it is not such an answer.
    ///
    /// The node that was asked may leave out its own host.
    static func owners(_ answer: RESPValue, from asked: RedisEndpoint) -> [RedisEndpoint?]? {
        guard case .array(let ranges) = answer, !ranges.isEmpty else { return nil }
        var owners = [RedisEndpoint?](repeating: nil, count: count)
        for range in ranges {
            guard case .array(let parts) = range, parts.count >= 3, case .integer(let first) = parts[0],
                case .integer(let last) = parts[1], 0 <= first, first <= last, last < count,
                case .array(let node) = parts[2], node.count >= 2, case .integer(let port) = node[1]
            else { return nil }
            let endpoint =
                switch node[0] {
                case .bytes(let host): RedisEndpoint(String(decoding: host, as: UTF8.self), port: port, from: asked)
                case .null: RedisEndpoint(host: asked.host, port: port)
                default: RedisEndpoint?.none
                }
            for slot in first...last { owners[slot] = endpoint }
        }
        return owners
    }
}

/// The answer of a node that does not have the key.
enum RedisRedirect: Equatable {
    /// Another node has it from now on.
    case moved(slot: Int, to: RedisEndpoint)
    /// Another node may have got it already.
    case ask(RedisEndpoint)

    /// Nil for any other answer.
    init?(_ answer: RESPValue, from asked: RedisEndpoint) {
        guard case .error(let text) = answer else { return nil }
        let words = text.split(separator: " ")
        guard words.count == 3, let slot = Int(words[1]), (0..<RedisSlots.count).contains(slot),
            let colon = words[2].lastIndex(of: ":"), let port = Int(words[2][colon...].dropFirst()),
            let endpoint = RedisEndpoint(String(words[2][..<colon]), port: port, from: asked)
        else { return nil }
        switch words[0] {
        case "MOVED": self = .moved(slot: slot, to: endpoint)
        case "ASK": self = .ask(endpoint)
        default: return nil
        }
    }
}

extension RedisEndpoint {
    /// A node as another one names it: without a host, it is the other one's.
    fileprivate init?(_ host: String, port: Int, from asked: RedisEndpoint) {
        self.init(host: host.isEmpty || host == "?" ? asked.host : host, port: port)
    }
}
