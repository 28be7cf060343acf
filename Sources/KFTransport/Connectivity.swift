// Whether the machine has a network, as the kernel sees it at this moment. For `ConnectivityWatcher`.

internal import CKFLinux
internal import Foundation
internal import KFSupport

/// Reads whether the machine is connected: whether an interface that is no loopback is up, has a carrier, and is the
/// one of a default route.
///
/// It asks the kernel of this machine and sends nothing, so it does not know whether a server can be reached.
enum Connectivity {
    /// Whether the machine is connected; nil if it is not known.
    ///
    /// Takes less than a millisecond on machines with a usual number of routes.
    static func current() -> Bool? { fromNetlink() ?? fromFiles() }

    /// A descriptor that becomes readable when an interface, an address or a route changes; nil where that is denied.
    static func changes() -> OwnedDescriptor? {
        let socket = kf_netlink_subscribe()
        return socket < 0 ? nil : OwnedDescriptor(socket)
    }

    /// Discards what has made a descriptor of changes readable; false if it will report no more.
    static func discardChanges(on descriptor: OwnedDescriptor) -> Bool { kf_netlink_drain(descriptor.number) }

    // MARK: Netlink

    /// The state as netlink says; nil where it is denied.
    static func fromNetlink() -> Bool? {
        var state = NetlinkState()
        guard list(routes: false, { state.add($0) }, until: { false }) else { return nil }
        guard state.hasInterface else { return false }
        // A router has very many routes; the default ones come early.
        guard list(routes: true, { state.add($0) }, until: { state.isConnected }) else { return nil }
        return state.isConnected
    }

    /// Reads one of the kernel's lists to its end or until it says enough; false if there is no whole list.
    private static func list(
        routes: Bool,
        _ add: (NetlinkMessage) -> Void,
        until isEnough: () -> Bool
    ) -> Bool {
        let descriptor = kf_netlink_open()
        guard descriptor >= 0 else { return false }
        let socket = OwnedDescriptor(descriptor)
        guard kf_netlink_request(socket.number, routes) == 0 else { return false }
        while true {
            let bytes = [UInt8](unsafeUninitializedCapacity: 64 << 10) { buffer, count in
                count = max(0, kf_netlink_read(socket.number, buffer.baseAddress, buffer.count))
            }
            guard !bytes.isEmpty else { return false }
            for message in NetlinkMessage.messages(in: bytes) {
                if message == .failed { return false }
                add(message)
                if message == .done || isEnough() { return true }
            }
        }
    }

    // MARK: The kernel's files

    /// The state as the files in `/proc/net` say; nil if they cannot be read.
    ///
    /// - Parameters:
    ///   - root: Where the kernel's file systems begin; a test has its own.
    ///   - isRunning: Whether an interface is up and has a carrier; nil if it is not known, which counts as yes.
    /// - Returns: Whether there is a default route through an interface that is running.
    static func fromFiles(root: String = "", isRunning: (String) -> Bool? = isRunning) -> Bool? {
        let texts = ["route", "ipv6_route"].map { name in
            try? String(contentsOfFile: "\(root)/proc/net/\(name)", encoding: .utf8)
        }
        guard texts.contains(where: { $0 != nil }) else { return nil }
        let interfaces = defaultInterfaces(ipv4: texts[0] ?? "") + defaultInterfaces(ipv6: texts[1] ?? "")
        return interfaces.contains { isRunning($0) ?? true }
    }

    private static func isRunning(_ interface: String) -> Bool? {
        let answer = kf_interface_is_running(interface)
        return answer < 0 ? nil : answer == 1
    }

    /// The interfaces of the default routes in the text of `/proc/net/route`.
    private static func defaultInterfaces(ipv4 text: String) -> [String] {
        text.split(separator: "\n").dropFirst().compactMap { line in
            // Interface, destination, gateway, flags, three numbers, mask.
            let fields = line.split(whereSeparator: \.isWhitespace)
            guard fields.count > 7, isZero(fields[1]), isZero(fields[7]) else { return nil }
            return usable(fields[0], flags: fields[3])
        }
    }

    /// The interfaces of the default routes in the text of `/proc/net/ipv6_route`.
    private static func defaultInterfaces(ipv6 text: String) -> [String] {
        text.split(separator: "\n").compactMap { line in
            // Destination and its length, source and its length, gateway, three numbers, flags, interface.
            let fields = line.split(whereSeparator: \.isWhitespace)
            guard fields.count > 9, isZero(fields[0]), isZero(fields[1]) else { return nil }
            return usable(fields[9], flags: fields[8])
        }
    }

    private static func isZero(_ digits: Substring) -> Bool { digits.allSatisfy { $0 == "0" } }

    /// The interface, if its route is up, forwards packets, and leads out of the machine.
    private static func usable(_ interface: Substring, flags: Substring) -> String? {
        let (up, reject): (UInt32, UInt32) = (0x1, 0x200)  // RTF_UP, RTF_REJECT
        guard interface != "lo", let flags = UInt32(flags, radix: 16), flags & (up | reject) == up else { return nil }
        return String(interface)
    }
}
