// To which network addresses a transfer may connect. Judges numeric addresses only; looks up no names.

import Foundation

/// To which network addresses a transfer may connect.
///
/// A server that loads images from URLs its users name can be made to send requests for them: to itself, to machines
/// behind its firewall, to the metadata service of its cloud (server-side request forgery). Looking at the URL does not
/// help: any name may stand for any address, and redirects lead elsewhere. A policy judges the address itself, of each
/// connection that is made, after the name has been looked up.
///
/// ``everything`` is the default, as in Kingfisher, which is made for apps. A server uses ``publicOnly``, or a policy
/// of its own.
///
/// Behind a proxy the policy would see the proxy's address and never that of the target: transfers of a policy that
/// refuses something fail where there is one, unless ``allowsProxies`` is set; then the proxy decides.
public struct AddressPolicy: Hashable, Sendable {
    /// Kinds of addresses.
    ///
    /// An IPv6 address that stands for an IPv4 address is of the kinds of that address too.
    public struct AddressClass: OptionSet, Hashable, Sendable {
        /// The bits.
        public let rawValue: Int
        /// Kinds by their bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// This machine: 127.0.0.0/8, ::1.
        public static let loopback = AddressClass(rawValue: 1 << 0)
        /// The same network cable, and the metadata services of clouds: 169.254.0.0/16, fe80::/10.
        public static let linkLocal = AddressClass(rawValue: 1 << 1)
        /// Private networks: 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16; what a local translator leads to
        /// (64:ff9b:1::/48); the older site-local addresses (fec0::/10).
        public static let `private` = AddressClass(rawValue: 1 << 2)
        /// The network between a provider and its customers: 100.64.0.0/10.
        public static let carrierGradeNAT = AddressClass(rawValue: 1 << 3)
        /// No address, which Linux takes for this machine: 0.0.0.0/8, ::.
        public static let unspecified = AddressClass(rawValue: 1 << 4)
        /// Groups of machines: 224.0.0.0/4, ff00::/8.
        public static let multicast = AddressClass(rawValue: 1 << 5)
        /// All machines of a network (255.255.255.255), and what is in no use: 240.0.0.0/4, 192.88.99.0/24, and all of
        /// IPv6 that neither belongs to 2000::/3 nor is named here.
        public static let reserved = AddressClass(rawValue: 1 << 6)
        /// Examples, benchmarks and protocols: 192.0.0.0/24, 192.0.2.0/24, 198.18.0.0/15, 198.51.100.0/24,
        /// 203.0.113.0/24, 2001:2::/48, 2001:db8::/32, 3fff::/20.
        public static let documentation = AddressClass(rawValue: 1 << 7)
        /// Private networks of IPv6: fc00::/7.
        public static let uniqueLocal = AddressClass(rawValue: 1 << 8)

        /// Text or bytes that are no address at all; refused by every policy that refuses something.
        static let unrecognized = AddressClass(rawValue: 1 << 9)
    }

    /// The kinds of addresses that are refused.
    public var refused: AddressClass
    /// Whether a transfer may go through a proxy, which hides the address from this policy.
    public var allowsProxies: Bool

    /// A policy that refuses kinds of addresses, and proxies unless `allowsProxies` is true.
    public init(refusing refused: AddressClass, allowsProxies: Bool = false) {
        self.refused = refused
        self.allowsProxies = allowsProxies
    }

    /// Refuses nothing.
    public static let everything = AddressPolicy(refusing: [], allowsProxies: true)
    /// Refuses all addresses but those of the public internet, and proxies.
    public static let publicOnly = AddressPolicy(refusing: [
        .loopback, .linkLocal, .private, .carrierGradeNAT, .unspecified, .multicast, .reserved, .documentation,
        .uniqueLocal,
    ])

    /// The refused kinds an address belongs to; nil when it is allowed.
    ///
    /// The address is in network order: 4 bytes of IPv4 or 16 of IPv6. Anything else is refused, unless nothing is.
    func refusal(of address: [UInt8]) -> AddressClass? { refusal(of: Address(bytes: address)) }

    /// The refused kinds an address belongs to; nil when it is allowed.
    ///
    /// The address is in numbers, with or without an IPv6 zone. Anything else is refused, unless nothing is.
    func refusal(ofNumericHost text: String) -> AddressClass? { refusal(of: Address(text)) }

    private func refusal(of address: @autoclosure () -> Address?) -> AddressClass? {
        guard !refused.isEmpty else { return nil }
        let reasons = (address()?.kinds ?? .unrecognized).intersection(refused.union(.unrecognized))
        return reasons.isEmpty ? nil : reasons
    }
}

extension AddressPolicy.AddressClass: CustomStringConvertible {
    /// The kinds in words, such as "a private address".
    public var description: String {
        let words: KeyValuePairs<Self, String> = [
            .loopback: "a loopback address", .linkLocal: "a link-local address", .private: "a private address",
            .carrierGradeNAT: "a carrier-grade NAT address", .unspecified: "the unspecified address",
            .multicast: "a multicast address", .reserved: "a reserved address",
            .documentation: "an address for documentation or tests", .uniqueLocal: "a unique local address",
            .unrecognized: "no address that can be read",
        ]
        let own = words.filter { contains($0.key) }.map(\.value)
        return own.isEmpty ? "a public address" : own.joined(separator: " and ")
    }
}

/// An address of IPv6; one of IPv4 as the one that is mapped to it (::ffff:0:0/96).
private struct Address {
    let bits: UInt128

    init?(bytes: [UInt8]) {
        guard bytes.count == 4 || bytes.count == 16 else { return nil }
        bits = bytes.reduce(bytes.count == 4 ? 0xFFFF : 0) { $0 << 8 | UInt128($1) }
    }

    init?(_ text: String) {
        let isIPv6 = text.contains(":")
        let host = isIPv6 ? String(text.prefix { $0 != "%" }) : text
        var bytes = [UInt8](repeating: 0, count: isIPv6 ? 16 : 4)
        guard !host.utf8.contains(0), inet_pton(isIPv6 ? AF_INET6 : AF_INET, host, &bytes) == 1 else { return nil }
        self.init(bytes: bytes)
    }

    private init(endOf bits: UInt128) { self.bits = 0xFFFF << 32 | bits & 0xFFFF_FFFF }

    private static let blocks: KeyValuePairs<AddressPolicy.AddressClass, [Block]> = [
        .loopback: ["127.0.0.0/8", "::1/128"],
        .linkLocal: ["169.254.0.0/16", "fe80::/10"],
        .private: ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "64:ff9b:1::/48", "fec0::/10"],
        .carrierGradeNAT: ["100.64.0.0/10"],
        .unspecified: ["0.0.0.0/8", "::/128"],
        .multicast: ["224.0.0.0/4", "ff00::/8"],
        .reserved: ["192.88.99.0/24", "240.0.0.0/4"],
        .documentation: [
            "192.0.0.0/24", "192.0.2.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "2001:2::/48",
            "2001:db8::/32", "3fff::/20",
        ],
        .uniqueLocal: ["fc00::/7"],
    ]

    /// IPv6 that stands for IPv4: which addresses, how many bits come behind the IPv4 address, and whether its own are
    /// inverted.
    private static let embeddings: [(block: Block, shift: Int, isInverted: Bool)] = [
        ("::/96", 0, false),  // compatible
        ("::ffff:0:0/96", 0, false),  // mapped
        ("::ffff:0:0:0/96", 0, false),  // translated (SIIT)
        ("64:ff9b::/96", 0, false),  // NAT64
        ("64:ff9b:1::/48", 0, false),  // NAT64 of a local network
        ("2002::/16", 80, false),  // 6to4
        ("2001::/32", 64, false),  // Teredo: the server
        ("2001::/32", 0, true),  // Teredo: the client
    ]

    /// All kinds the address belongs to.
    var kinds: AddressPolicy.AddressClass {
        let own = listedKinds
        // 0.0.0.0 and 0.0.0.1 do not stand in :: and ::1, which are addresses of their own.
        guard own.isDisjoint(with: [.unspecified, .loopback]) else { return own }
        var embedded = Self.embeddings.filter { $0.block.contains(self) }.map {
            Address(endOf: ($0.isInverted ? ~bits : bits) >> $0.shift)
        }
        let isGlobal = bits >> 125 == 1
        let result = own.isEmpty && embedded.isEmpty && !isGlobal ? .reserved : own
        // ISATAP: an interface identifier, whatever the network; two of its bits vary.
        if bits >> 32 & 0xFCFF_FFFF == 0x5EFE { embedded.append(Address(endOf: bits)) }
        return embedded.reduce(result) { $0.union($1.listedKinds) }
    }

    private var listedKinds: AddressPolicy.AddressClass {
        AddressPolicy.AddressClass(Self.blocks.filter { $0.value.contains { $0.contains(self) } }.map(\.key))
    }
}

/// All addresses that begin with some bits, written as "192.168.0.0/16".
private struct Block: ExpressibleByStringLiteral {
    private let first: Address
    private let fixedBits: Int

    init(stringLiteral text: String) {
        let parts = text.split(separator: "/")
        guard parts.count == 2, let first = Address(String(parts[0])), let length = Int(parts[1]) else {
            preconditionFailure("\(text) is no block of addresses")
        }
        self.first = first
        fixedBits = text.contains(":") ? length : length + 96
    }

    func contains(_ address: Address) -> Bool { (address.bits ^ first.bits) >> (128 - fixedBits) == 0 }
}
