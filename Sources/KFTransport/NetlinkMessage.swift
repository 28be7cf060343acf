// The kernel's messages about interfaces and routes, as values. For `Connectivity`.

internal import CKFLinux

/// One of the kernel's messages, as far as it says something of connectivity.
enum NetlinkMessage: Equatable {
    /// An interface, and whether it is up and has a carrier.
    case link(_ interface: Int32, isLoopback: Bool, isRunning: Bool)
    /// A route for all addresses, and the interfaces it leads through; empty when it does not name them.
    case defaultRoute([Int32])
    /// The end of a list.
    case done
    /// The kernel refused the request, or the bytes are no messages.
    case failed
    case other

    /// The messages that the kernel has put into these bytes.
    static func messages(in bytes: [UInt8]) -> [NetlinkMessage] {
        bytes.withUnsafeBytes { bytes in
            var (messages, offset) = ([NetlinkMessage](), 0)
            var message = kf_netlink_message()
            while offset < bytes.count, let base = bytes.baseAddress {
                let size = kf_netlink_parse(base + offset, bytes.count - offset, &message)
                guard size > 0 else { return messages + [.failed] }
                messages.append(NetlinkMessage(message))
                offset += size
            }
            return messages
        }
    }

    private init(_ message: kf_netlink_message) {
        self =
            switch message.kind {
            case KF_NETLINK_LINK:
                .link(message.interface, isLoopback: message.is_loopback, isRunning: message.is_running)
            case KF_NETLINK_ROUTE where message.is_default:
                .defaultRoute(
                    withUnsafeBytes(of: message.hops) {
                        Array($0.bindMemory(to: Int32.self).prefix(Int(message.hop_count)))
                    }
                )
            case KF_NETLINK_DONE: .done
            case KF_NETLINK_ERROR: .failed
            default: .other
            }
    }
}

/// The interfaces and default routes of the machine, collected from the list of interfaces and then that of routes.
struct NetlinkState {
    private var running: Set<Int32> = []
    /// Whether an interface that is no loopback is running.
    var hasInterface: Bool { !running.isEmpty }
    /// Whether there is a default route through such an interface.
    private(set) var isConnected = false

    mutating func add(_ message: NetlinkMessage) {
        switch message {
        case .link(let interface, isLoopback: false, isRunning: true): running.insert(interface)
        case .defaultRoute(let interfaces) where hasInterface:
            if interfaces.isEmpty || !running.isDisjoint(with: interfaces) { isConnected = true }
        default: break
        }
    }
}
