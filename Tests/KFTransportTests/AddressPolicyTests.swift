// The addresses that a policy refuses: the edges of every range, and IPv4 addresses in all their spellings.

import Foundation
import Testing

@testable import KFTransport

private typealias AddressClass = AddressPolicy.AddressClass

@Suite struct AddressPolicyTests {
    /// One range: the address just below it, its first and last address, the one just above, and its kind.
    struct Range: CustomTestStringConvertible, Sendable {
        let below: String?
        let first: String
        let last: String
        let above: String?
        let kind: AddressPolicy.AddressClass

        init(
            _ first: String,
            _ last: String,
            _ kind: AddressPolicy.AddressClass,
            below: String? = nil,
            above: String? = nil
        ) {
            (self.first, self.last, self.kind, self.below, self.above) = (first, last, kind, below, above)
        }

        var testDescription: String { "\(first)–\(last)" }
    }

    private static let ipv4: [Range] = [
        Range("0.0.0.0", "0.255.255.255", .unspecified, above: "1.0.0.0"),
        Range("10.0.0.0", "10.255.255.255", .private, below: "9.255.255.255", above: "11.0.0.0"),
        Range("100.64.0.0", "100.127.255.255", .carrierGradeNAT, below: "100.63.255.255", above: "100.128.0.0"),
        Range("127.0.0.0", "127.255.255.255", .loopback, below: "126.255.255.255", above: "128.0.0.0"),
        Range("169.254.0.0", "169.254.255.255", .linkLocal, below: "169.253.255.255", above: "169.255.0.0"),
        Range("172.16.0.0", "172.31.255.255", .private, below: "172.15.255.255", above: "172.32.0.0"),
        Range("192.0.0.0", "192.0.0.255", .documentation, below: "191.255.255.255", above: "192.0.1.0"),
        Range("192.0.2.0", "192.0.2.255", .documentation, below: "192.0.1.255", above: "192.0.3.0"),
        Range("192.88.99.0", "192.88.99.255", .reserved, below: "192.88.98.255", above: "192.88.100.0"),
        Range("192.168.0.0", "192.168.255.255", .private, below: "192.167.255.255", above: "192.169.0.0"),
        Range("198.18.0.0", "198.19.255.255", .documentation, below: "198.17.255.255", above: "198.20.0.0"),
        Range("198.51.100.0", "198.51.100.255", .documentation, below: "198.51.99.255", above: "198.51.101.0"),
        Range("203.0.113.0", "203.0.113.255", .documentation, below: "203.0.112.255", above: "203.0.114.0"),
        Range("224.0.0.0", "239.255.255.255", .multicast, below: "223.255.255.255"),
        Range("240.0.0.0", "255.255.255.255", .reserved),
    ]

    /// Neighbours that are refused for another reason are left out.
    private static let ipv6: [Range] = [
        Range("::", "::", .unspecified),
        Range("::1", "::1", .loopback),
        Range("64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff", .private),
        Range("2001:2::", "2001:2:0:ffff:ffff:ffff:ffff:ffff", .documentation, below: "2001:1::1", above: "2001:2:1::"),
        Range(
            "2001:db8::",
            "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff",
            .documentation,
            below: "2001:db7:ffff:ffff:ffff:ffff:ffff:ffff",
            above: "2001:db9::"
        ),
        Range(
            "3fff::",
            "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff",
            .documentation,
            below: "3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
            above: "3fff:1000::"
        ),
        Range("4000::", "fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", .reserved, below: "3fff:ffff::"),
        Range("100::", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", .reserved, above: "2000::"),
        Range("fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", .uniqueLocal),
        Range("fe00::", "fe7f:ffff:ffff:ffff:ffff:ffff:ffff:ffff", .reserved),
        Range("fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", .linkLocal),
        Range("fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", .private),
        Range("ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", .multicast),
    ]

    @Test("A range is refused from its first address to its last, and no further", arguments: ipv4 + ipv6)
    func edges(range: Range) {
        for policy in [AddressPolicy.publicOnly, AddressPolicy(refusing: range.kind)] {
            for address in [range.first, range.last] {
                #expect(policy.refusal(ofNumericHost: address)?.isSuperset(of: range.kind) == true, "\(address)")
            }
            for address in [range.below, range.above].compactMap({ $0 }) {
                #expect(policy.refusal(ofNumericHost: address) == nil, "\(address)")
            }
        }
        var others = AddressPolicy.publicOnly
        others.refused.remove(range.kind)
        if range.first != "64:ff9b:1::" { #expect(others.refusal(ofNumericHost: range.first) == nil) }
        #expect(AddressPolicy.everything.refusal(ofNumericHost: range.first) == nil)
    }

    /// Ways to write an IPv4 address, as two groups of IPv6, into an IPv6 address.
    enum Embedding: String, CaseIterable, Sendable {
        case mapped = "::ffff:HIGH:LOW"
        case compatible = "::HIGH:LOW"
        case translated = "::ffff:0:HIGH:LOW"
        case nat64 = "64:ff9b::HIGH:LOW"
        case sixToFour = "2002:HIGH:LOW::1"
        case sixToFourWithHost = "2002:HIGH:LOW:1:2:3:4:5"
        case teredoServer = "2001:0:HIGH:LOW:0:0:f7f7:f7f7"
        case teredoClient = "2001:0:808:808:0:0:~HIGH:~LOW"
        case isatap = "2a00:1:2:3:0:5efe:HIGH:LOW"
        case isatapGlobal = "2a00:1:2:3:200:5efe:HIGH:LOW"

        func address(of ipv4: String) -> String {
            let bytes = ipv4.split(separator: ".").compactMap { UInt16($0) }
            let (high, low) = (bytes[0] << 8 | bytes[1], bytes[2] << 8 | bytes[3])
            func group(_ value: UInt16) -> String { String(value, radix: 16) }
            return rawValue.replacingOccurrences(of: "~HIGH", with: group(~high))
                .replacingOccurrences(of: "~LOW", with: group(~low))
                .replacingOccurrences(of: "HIGH", with: group(high))
                .replacingOccurrences(of: "LOW", with: group(low))
        }
    }

    @Test("An IPv6 address that stands for an IPv4 address is judged by that", arguments: Embedding.allCases, ipv4)
    func embedded(form: Embedding, range: Range) {
        for ipv4 in [range.first, range.last] {
            let address = form.address(of: ipv4)
            #expect(AddressPolicy.publicOnly.refusal(ofNumericHost: address) == range.kind, "\(address)")
            #expect(AddressPolicy(refusing: range.kind).refusal(ofNumericHost: address) == range.kind, "\(address)")
        }
        for ipv4 in [range.below, range.above].compactMap({ $0 }) {
            let address = form.address(of: ipv4)
            #expect(AddressPolicy.publicOnly.refusal(ofNumericHost: address) == nil, "\(address)")
        }
    }

    @Test("The kinds of an address include those of an IPv4 address in it") func union() {
        let translated = AddressPolicy.publicOnly.refusal(ofNumericHost: "64:ff9b:1::7f00:1")
        #expect(translated == [.private, .loopback])
        #expect(AddressPolicy(refusing: .loopback).refusal(ofNumericHost: "64:ff9b:1::7f00:1") == .loopback)
        #expect(AddressPolicy.publicOnly.refusal(ofNumericHost: "fe80::5efe:a00:1") == [.linkLocal, .private])
    }

    @Test(
        "The public internet is allowed",
        arguments: [
            "1.1.1.1", "8.8.8.8", "93.184.215.14", "100.63.0.1", "2606:4700:4700::1111", "2a00:1450:4001:81c::200e",
            "2001:4860:4860::8888", "2002:808:808::1", "64:ff9b::808:808",
        ]
    )
    func publicAddresses(address: String) {
        #expect(AddressPolicy.publicOnly.refusal(ofNumericHost: address) == nil)
    }

    @Test(
        "Text that is not a numeric address is refused by every policy that refuses any address, and by no other",
        arguments: [
            "", "localhost", "127.1", "0x7f000001", "2130706433", "0177.0.0.1", "1.2.3.4.5", "1.2.3.4 ", "[::1]", ":::",
            "1.1.1.1\u{0}", "1.1.1.1%eth0", "%eth0", "::ffff:1.2.3", "/run/socket", "１.1.1.1",
        ]
    )
    func noAddress(text: String) {
        #expect(AddressPolicy(refusing: .multicast).refusal(ofNumericHost: text)?.isEmpty == false)
        #expect(AddressPolicy.everything.refusal(ofNumericHost: text) == nil)
    }

    @Test("An address with a wrong number of bytes is refused", arguments: [0, 1, 3, 5, 8, 15, 17, 128])
    func wrongLength(count: Int) {
        let address = [UInt8](repeating: 8, count: count)
        #expect(AddressPolicy.publicOnly.refusal(of: address) == .unrecognized)
        #expect(AddressPolicy.everything.refusal(of: address) == nil)
    }

    @Test("The zone of an IPv6 address does not matter") func zones() {
        #expect(AddressPolicy.publicOnly.refusal(ofNumericHost: "fe80::1%eth0") == .linkLocal)
        #expect(AddressPolicy.publicOnly.refusal(ofNumericHost: "2606:4700::1%1%2") == nil)
    }

    @Test("The bytes of addresses are in network order") func bytes() {
        #expect(AddressPolicy.publicOnly.refusal(of: [10, 0, 0, 1]) == .private)
        #expect(AddressPolicy.publicOnly.refusal(of: [1, 0, 0, 10]) == nil)
        #expect(AddressPolicy.publicOnly.refusal(of: [UInt8](repeating: 0, count: 15) + [1]) == .loopback)
    }

    @Test("Kinds describe themselves") func descriptions() {
        #expect("\(AddressClass.private)" == "a private address")
        #expect("\(AddressClass([.loopback, .uniqueLocal]))" == "a loopback address and a unique local address")
        #expect("\(AddressClass([]))" == "a public address")
        #expect("\(AddressClass.unrecognized)" == "no address that can be read")
    }

    @Test("By default only a policy that refuses nothing uses proxies") func proxies() {
        #expect(AddressPolicy.everything.allowsProxies)
        #expect(!AddressPolicy.publicOnly.allowsProxies)
        #expect(AddressPolicy(refusing: .private, allowsProxies: true).allowsProxies)
    }
}
