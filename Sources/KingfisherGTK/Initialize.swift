// Initializes GTK, and connects the library to the desktop.

#if canImport(CKFGTK4)
import CKFGTK
import CKFGTK4
import Foundation
import Kingfisher

/// Why GTK cannot be used.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum GTKError: Error, CustomStringConvertible {
    /// There is no display to show anything on.
    case noDisplay

    /// The problem, and the way to solve it.
    public var description: String {
        """
        There is no display: GTK can reach neither a Wayland compositor nor an X server. Start the program from a \
        desktop session, or set WAYLAND_DISPLAY or DISPLAY; without a screen, `xvfb-run program` gives it a display \
        that exists in memory only.
        """
    }
}

/// GTK's own functions in Swift: how it begins, signals, casts, names for screen readers.
public enum KFGTK {
    /// Gets GTK ready, and the library ready for a desktop.
    ///
    /// To be called once, before any widget is made, on the process's first thread; more calls do nothing. It connects
    /// the main actor to GLib's main loop (see ``KFMainLoop``), and the desktop's memory warnings and metered network
    /// to the caches and the default downloader.
    ///
    /// What the program has not chosen itself before, it chooses for a program with windows: the default cache keeps at
    /// most 96 MB of images in memory, or an eighth of the memory if that is less, and screen readers are given the
    /// name of the executable (`g_set_prgname`). From now on the process returns blocks of memory beyond 64 KB
    /// to the system when they are freed, as the pixels of images are (`mallopt`, `M_MMAP_THRESHOLD`).
    ///
    /// - Throws: ``GTKError`` when there is no display.
    @MainActor
    public static func initialize() throws(GTKError) {
        if g_get_prgname() == nil { g_set_prgname(ProcessInfo.processInfo.processName) }
        guard gtk_init_check() != 0 else { throw .noDisplay }
        KFMainLoop.attach()
        limitMemory()
        SystemMonitors.connect()
    }
}

/// Has a program with windows keep less in memory than one that is alone on a server.
@MainActor
private func limitMemory() {
    kf_return_large_blocks()
    let (usual, storage) = (ImageCache.usualMemoryLimit, ImageCache.default.memoryStorage)
    // A quarter of the memory; another limit is the program's.
    if storage.config.totalCostLimit == usual { storage.config.totalCostLimit = min(96_000_000, usual / 2) }
}

/// The desktop's reports about memory and network.
@MainActor
private enum SystemMonitors {
    private static var isConnected = false

    static func connect() {
        guard !isConnected else { return }
        isConnected = true
        connectMemory()
        connectNetwork()
    }

    /// Memory is given back when the desktop runs short of it.
    private static func connectMemory() {
        // Never released: it is needed until the end.
        guard let monitor = g_memory_monitor_dup_default() else { return }
        KFGTK.connect("low-memory-warning", of: UnsafeMutableRawPointer(monitor)) { level in
            let isCritical = Int32(truncatingIfNeeded: level) >= G_MEMORY_MONITOR_WARNING_LEVEL_CRITICAL.rawValue
            ImageCache.handleMemoryPressureInAllCaches(isCritical ? .critical : .warning)
        }
    }

    /// On a metered network, sources for low data mode are loaded instead.
    private static func connectNetwork() {
        guard let monitor = g_network_monitor_get_default() else { return }
        KFGTK.connect("notify::network-metered", of: UnsafeMutableRawPointer(monitor)) { _ in adoptNetwork() }
        adoptNetwork()
    }

    private static func adoptNetwork() {
        let isMetered = g_network_monitor_get_network_metered(g_network_monitor_get_default()) != 0
        ImageDownloader.default.isConstrained = isMetered
    }
}
#endif
