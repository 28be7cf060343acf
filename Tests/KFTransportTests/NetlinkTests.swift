// What the kernel's messages and files about interfaces and routes mean.

import Foundation
import Testing

@testable import KFTransport

/// Bytes as the kernel sends them, on a machine of this byte order.
private enum Netlink {
    static let (newLink, newRoute, newAddress): (UInt16, UInt16, UInt16) = (16, 24, 20)
    static let (error, done): (UInt16, UInt16) = (2, 3)
    static let (outInterface, multipath, gateway): (UInt16, UInt16, UInt16) = (4, 9, 5)
    static let (up, loopback, running): (UInt32, UInt32, UInt32) = (0x1, 0x8, 0x40)
    static let (v4, v6, multicast): (UInt8, UInt8, UInt8) = (2, 10, 128)
    static let (unicast, unreachable): (UInt8, UInt8) = (1, 7)

    static func bytes(_ value: some FixedWidthInteger) -> [UInt8] { withUnsafeBytes(of: value) { Array($0) } }

    private static func padded(_ bytes: [UInt8]) -> [UInt8] {
        bytes + [UInt8](repeating: 0, count: (4 - bytes.count % 4) % 4)
    }

    static func message(_ type: UInt16, _ payload: [UInt8]) -> [UInt8] {
        // Length, type, flags, sequence number, sender.
        let head = bytes(UInt32(16 + payload.count)) + bytes(type) + bytes(UInt16(2)) + bytes(UInt64(0))
        return padded(head + payload)
    }

    static func link(_ interface: Int32, _ flags: UInt32) -> [UInt8] {
        let name = attribute(3, Array("e0\0".utf8))
        return message(newLink, [0, 0, 1, 0] + bytes(interface) + bytes(flags) + bytes(UInt32(0)) + name)
    }

    static func attribute(_ type: UInt16, _ payload: [UInt8]) -> [UInt8] {
        padded(bytes(UInt16(4 + payload.count)) + bytes(type) + payload)
    }

    static func hop(_ interface: Int32, _ attributes: [UInt8] = []) -> [UInt8] {
        bytes(UInt16(8 + attributes.count)) + [0, 0] + bytes(interface) + attributes
    }

    static func route(
        family: UInt8 = v4,
        length: UInt8 = 0,
        kind: UInt8 = unicast,
        _ attributes: [UInt8]
    ) -> [UInt8] {
        message(newRoute, [family, length, 0, 0, 254, 3, 0, kind] + bytes(UInt32(0)) + attributes)
    }

    static func through(_ interface: Int32) -> [UInt8] { attribute(outInterface, bytes(interface)) }
}

@Suite struct NetlinkTests {
    @Test("Interfaces and default routes are recognised, other messages and routes are passed over")
    func messages() {
        let bytes = [
            Netlink.link(1, Netlink.up | Netlink.loopback | Netlink.running),
            Netlink.link(2, Netlink.up | Netlink.running), Netlink.link(3, Netlink.up),
            Netlink.message(Netlink.newAddress, [2, 24, 0, 0, 0, 0, 0, 0]),
            Netlink.route(Netlink.attribute(Netlink.gateway, [10, 0, 0, 1]) + Netlink.through(2)),
            Netlink.route(length: 24, Netlink.through(2)), Netlink.route(family: Netlink.v6, Netlink.through(3)),
            Netlink.route(kind: Netlink.unreachable, Netlink.through(1)),
            Netlink.route(family: Netlink.multicast, Netlink.through(2)), Netlink.route([]),
            Netlink.message(Netlink.done, Netlink.bytes(Int32(0))),
        ]
        #expect(
            NetlinkMessage.messages(in: Array(bytes.joined())) == [
                .link(1, isLoopback: true, isRunning: true), .link(2, isLoopback: false, isRunning: true),
                .link(3, isLoopback: false, isRunning: false), .other, .defaultRoute([2]), .other, .defaultRoute([3]),
                .other, .other, .defaultRoute([]), .done,
            ]
        )
    }

    @Test("A route of several ways names the interface of each, as many as there is room for")
    func severalHops() {
        func route(_ hops: [UInt8]) -> [NetlinkMessage] {
            NetlinkMessage.messages(in: Netlink.route(Netlink.attribute(Netlink.multipath, hops)))
        }
        let gateway = Netlink.attribute(Netlink.gateway, [10, 0, 0, 1])
        #expect(route(Netlink.hop(4, gateway) + Netlink.hop(5)) == [.defaultRoute([4, 5])])
        #expect(route((1...20).flatMap { Netlink.hop($0) }) == [.defaultRoute(Array(1...16))])
        // The second way claims to be longer than the attribute is.
        #expect(route(Netlink.hop(4) + [200, 0, 0, 0, 5, 0, 0, 0]) == [.defaultRoute([4])])
    }

    @Test("A refusal and a list that ends with an error are failures")
    func refusals() {
        let refused = Netlink.message(Netlink.error, Netlink.bytes(Int32(-1)) + Netlink.bytes(UInt64(0)))
        #expect(NetlinkMessage.messages(in: refused) == [.failed])
        let interrupted = Netlink.message(Netlink.done, Netlink.bytes(Int32(-4)))
        #expect(NetlinkMessage.messages(in: interrupted) == [.failed])
    }

    @Test("Bytes that are cut off or damaged are read no further than they reach")
    func damage() {
        let hops = Netlink.attribute(Netlink.multipath, Netlink.hop(4) + Netlink.hop(5))
        let whole = Netlink.link(2, Netlink.up) + Netlink.route(hops + Netlink.through(2))
        for length in 1..<whole.count {
            let messages = NetlinkMessage.messages(in: Array(whole.prefix(length)))
            #expect(messages.count <= 2 && (messages.last == .failed || length == Netlink.link(2, 0).count))
        }
        for index in whole.indices {
            for value in [UInt8(0), 1, 0x7F, 0xFF] {
                var damaged = whole
                damaged[index] = value
                #expect(NetlinkMessage.messages(in: damaged).count <= 3)
            }
        }
    }

    @Test("Connected means a default route through a running interface that is no loopback")
    func states() {
        func isConnected(_ messages: [NetlinkMessage]) -> Bool {
            var state = NetlinkState()
            for message in messages { state.add(message) }
            return state.isConnected
        }
        let loopback = NetlinkMessage.link(1, isLoopback: true, isRunning: true)
        let running = NetlinkMessage.link(2, isLoopback: false, isRunning: true)
        let unplugged = NetlinkMessage.link(3, isLoopback: false, isRunning: false)
        #expect(!isConnected([loopback]))
        #expect(!isConnected([loopback, .defaultRoute([1])]))
        #expect(!isConnected([loopback, running, unplugged]))
        #expect(!isConnected([running, unplugged, .defaultRoute([3])]), "the cable of its interface is unplugged")
        #expect(isConnected([loopback, running, .defaultRoute([2])]))
        #expect(isConnected([running, unplugged, .defaultRoute([3, 2])]))
        #expect(isConnected([running, .defaultRoute([])]), "the route does not name its interface")
        #expect(!isConnected([unplugged, .defaultRoute([])]))
    }

    private static let head = "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n"
    private static func ipv4(_ interface: String, to: String, _ flags: String, mask: String) -> String {
        "\(interface)\t\(to)\t010200C0\t\(flags)\t0\t0\t0\t\(mask)\t0\t0\t0\n"
    }
    private static func ipv6(_ interface: String, length: String, _ flags: String) -> String {
        let zero = String(repeating: "0", count: 32)
        let gateway = "fe80\(zero.dropFirst(4))"
        return "\(zero) \(length) \(zero) 00 \(gateway) 00000400 00000002 00000000 \(flags) \(interface)\n"
    }

    @Test(
        "The kernel's files say the same",
        arguments: [
            (ipv4("eth0", to: "00000000", "0003", mask: "00000000"), "", true),
            (ipv4("eth0", to: "000200C0", "0001", mask: "00FFFFFF"), "", false),
            // Half of all addresses.
            (ipv4("eth0", to: "00000000", "0003", mask: "00000080"), "", false),
            (ipv4("eth0", to: "00000000", "0002", mask: "00000000"), "", false),
            (ipv4("eth0", to: "00000000", "0201", mask: "00000000"), "", false),
            (ipv4("down0", to: "00000000", "0003", mask: "00000000"), "", false),
            (ipv4("unknown0", to: "00000000", "0003", mask: "00000000"), "", true),
            (ipv4("lo", to: "00000000", "0001", mask: "00000000"), "", false),
            ("", ipv6("eth0", length: "00", "00000003"), true), ("", ipv6("eth0", length: "40", "00000001"), false),
            ("", ipv6("lo", length: "00", "00200200"), false), ("damaged\n", "also damaged\n", false),
        ]
    )
    func files(ipv4: String, ipv6: String, expected: Bool) throws {
        let root = FileManager.default.temporaryDirectory.appendingPathComponent("kf-net-\(UUID().uuidString)")
        let folder = root.appendingPathComponent("proc/net")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: root) }
        func isRunning(_ interface: String) -> Bool? { interface == "unknown0" ? nil : interface != "down0" }
        #expect(Connectivity.fromFiles(root: root.path, isRunning: isRunning) == nil, "there are no files")
        try Data((Self.head + ipv4).utf8).write(to: folder.appendingPathComponent("route"))
        try Data(ipv6.utf8).write(to: folder.appendingPathComponent("ipv6_route"))
        #expect(Connectivity.fromFiles(root: root.path, isRunning: isRunning) == expected)
    }

    @Test("Netlink and the kernel's files agree about this machine")
    func thisMachine() {
        // Either may be denied in a container.
        if let netlink = Connectivity.fromNetlink(), let files = Connectivity.fromFiles() { #expect(netlink == files) }
        #expect(Connectivity.current() == (Connectivity.fromNetlink() ?? Connectivity.fromFiles()))
    }
}
