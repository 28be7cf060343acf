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

        /// What is no address at all; refused by every policy that refuses something.
        static let unrecognized = AddressClass(rawValue: 1 << 9)
    }

    /// The kinds of addresses that are refused.
    public var refused: AddressClass
    /// Whether a transfer may go through a proxy, which hides the address from this policy.
    public var allowsProxies: Bool

    /// A policy.
    ///
    /// - Parameters:
    ///   - refused: The kinds of addresses that are refused.
    ///   - allowsProxies: Whether a transfer may go through a proxy, which hides the address from this policy.
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

    /// Why an address is refused.
    ///
    /// - Parameter address: The address in network order: 4 bytes of IPv4 or 16 of IPv6. Anything else is refused,
    ///   unless nothing is.
    /// - Returns: The refused kinds it belongs to; nil when it is allowed.
    package func refusal(of address: [UInt8]) -> AddressClass? {
        guard !refused.isEmpty else { return nil }
        let reasons = AddressBlock.classes(of: address).intersection(refused.union(.unrecognized))
        return reasons.isEmpty ? nil : reasons
    }

    /// Why an address is refused.
    ///
    /// - Parameter text: The address in numbers, with or without an IPv6 zone. Anything else is refused, unless nothing
    ///   is.
    /// - Returns: The refused kinds it belongs to; nil when it is allowed.
    package func refusal(ofNumericHost text: String) -> AddressClass? {
        let parts = text.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
        let isIPv6 = parts[0].contains(":")
        let host = isIPv6 ? String(parts[0]) : text
        var address = [UInt8](repeating: 0, count: isIPv6 ? 16 : 4)
        let isAddress = !host.utf8.contains(0) && inet_pton(isIPv6 ? AF_INET6 : AF_INET, host, &address) == 1
        return refusal(of: isAddress ? address : [])
    }
}

extension AddressPolicy.AddressClass: CustomStringConvertible {
    /// The kinds in words, such as "a private address".
    public var description: String {
        let words: [(Self, String)] = [
            (.loopback, "a loopback address"), (.linkLocal, "a link-local address"), (.private, "a private address"),
            (.carrierGradeNAT, "a carrier-grade NAT address"), (.unspecified, "the unspecified address"),
            (.multicast, "a multicast address"), (.reserved, "a reserved address"),
            (.documentation, "an address for documentation or tests"), (.uniqueLocal, "a unique local address"),
            (.unrecognized, "no address that can be read"),
        ]
        let own = words.filter { contains($0.0) }.map(\.1)
        return own.isEmpty ? "a public address" : own.joined(separator: " and ")
    }
}

/// All addresses that begin with some bits.
private struct AddressBlock {
    let prefix: [UInt8]
    let length: Int
    let classes: AddressPolicy.AddressClass

    /// The addresses that begin like a prefix, of which bytes at the end may be left out.
    init(_ prefix: [UInt8], _ length: Int, _ classes: AddressPolicy.AddressClass = []) {
        (self.prefix, self.length, self.classes) = (prefix, length, classes)
    }

    func contains(_ address: [UInt8]) -> Bool {
        address.indices.prefix((length + 7) / 8).allSatisfy { index in
            let mask = UInt8(truncatingIfNeeded: 0xFF00 >> min(8, length - 8 * index))
            return (address[index] ^ (index < prefix.count ? prefix[index] : 0)) & mask == 0
        }
    }

    private static let ipv4 = [
        AddressBlock([0], 8, .unspecified), AddressBlock([10], 8, .private),
        AddressBlock([100, 64], 10, .carrierGradeNAT),
        AddressBlock([127], 8, .loopback), AddressBlock([169, 254], 16, .linkLocal),
        AddressBlock([172, 16], 12, .private), AddressBlock([192, 0, 0], 24, .documentation),
        AddressBlock([192, 0, 2], 24, .documentation), AddressBlock([192, 88, 99], 24, .reserved),
        AddressBlock([192, 168], 16, .private), AddressBlock([198, 18], 15, .documentation),
        AddressBlock([198, 51, 100], 24, .documentation), AddressBlock([203, 0, 113], 24, .documentation),
        AddressBlock([224], 4, .multicast), AddressBlock([240], 4, .reserved),
    ]

    private static let ipv6 = [
        AddressBlock([], 128, .unspecified), AddressBlock([UInt8](repeating: 0, count: 15) + [1], 128, .loopback),
        AddressBlock([0x00, 0x64, 0xFF, 0x9B, 0, 1], 48, .private),
        AddressBlock([0x20, 0x01, 0, 2], 48, .documentation),
        AddressBlock([0x20, 0x01, 0x0D, 0xB8], 32, .documentation), AddressBlock([0x3F, 0xFF], 20, .documentation),
        AddressBlock([0xFC], 7, .uniqueLocal), AddressBlock([0xFE, 0x80], 10, .linkLocal),
        AddressBlock([0xFE, 0xC0], 10, .private), AddressBlock([0xFF], 8, .multicast),
    ]

    /// IPv6 that stands for IPv4: which addresses, where in them the IPv4 address begins, and whether its bits are
    /// inverted.
    private static let embeddings: [(block: AddressBlock, offset: Int, isInverted: Bool)] = [
        (AddressBlock([], 96), 12, false),  // compatible
        (AddressBlock([UInt8](repeating: 0, count: 10) + [0xFF, 0xFF], 96), 12, false),  // mapped
        (AddressBlock([UInt8](repeating: 0, count: 8) + [0xFF, 0xFF], 96), 12, false),  // translated (SIIT)
        (AddressBlock([0x00, 0x64, 0xFF, 0x9B], 96), 12, false),  // NAT64
        (AddressBlock([0x00, 0x64, 0xFF, 0x9B, 0, 1], 48), 12, false),  // NAT64 of a local network
        (AddressBlock([0x20, 0x02], 16), 2, false),  // 6to4
        (AddressBlock([0x20, 0x01, 0, 0], 32), 4, false),  // Teredo: the server
        (AddressBlock([0x20, 0x01, 0, 0], 32), 12, true),  // Teredo: the client
    ]

    /// All kinds an address belongs to.
    static func classes(of address: [UInt8]) -> AddressPolicy.AddressClass {
        guard address.count == 16 else {
            return address.count == 4 ? classes(of: address, in: ipv4) : .unrecognized
        }
        let own = classes(of: address, in: ipv6)
        // 0.0.0.0 and 0.0.0.1 do not stand in :: and ::1, which are addresses of their own.
        guard own.isDisjoint(with: [.unspecified, .loopback]) else { return own }
        var embedded = embeddings.filter { $0.block.contains(address) }.map {
            (offset: $0.offset, isInverted: $0.isInverted)
        }
        let isGlobal = address[0] & 0xE0 == 0x20
        let result = own.isEmpty && embedded.isEmpty && !isGlobal ? .reserved : own
        // ISATAP: an interface identifier, whatever the network; two of its bits vary.
        if address[8] & 0xFC == 0, address[9...11] == [0, 0x5E, 0xFE] { embedded.append((12, false)) }
        return embedded.reduce(result) { result, place in
            let bytes = address[place.offset..<place.offset + 4].map { place.isInverted ? ~$0 : $0 }
            return result.union(classes(of: bytes, in: ipv4))
        }
    }

    private static func classes(of address: [UInt8], in blocks: [AddressBlock]) -> AddressPolicy.AddressClass {
        blocks.reduce(into: []) { if $1.contains(address) { $0.formUnion($1.classes) } }
    }
}
