// The environment of a check: a window, its frames, the pixels of widgets, a server and a cache.

#if canImport(CKFGTK4)
import CKFGTK
import CKFGTK4
import Foundation
import KFImaging
import Kingfisher
import KingfisherGTK
import KingfisherTestSupport

/// The window, the server and the cache that a check uses, and the failures it records.
@MainActor
final class Stage {
    var failures: [String] = []
    private var windows: [KFWindow] = []
    private var server: TestServer?
    private var directory: URL?

    /// Records a failure unless the condition holds.
    func expect(_ condition: Bool, _ text: @autoclosure () -> String, line: Int = #line) {
        if !condition { failures.append("line \(line): \(text())") }
    }

    /// Shows a view in a window of its own, and waits until it has been drawn.
    func show(_ view: KFCrossPlatformView, size: CGSize = CGSize(width: 200, height: 100)) async {
        let window = KFWindow(title: "check", content: view, size: size)
        window.onClose = {}  // the next check opens another
        windows.append(window)
        window.present()
        await frames(of: view, until: { view.isOnScreen && view.bounds.width > 0 })
    }

    /// Waits for some frames of the window.
    func frames(_ count: Int = 2, of view: KFCrossPlatformView) async {
        var left = count
        await frames(of: view) {
            left -= 1
            return left < 0
        }
    }

    /// Waits, frame by frame, until a condition holds; at most 2,000 frames.
    func frames(of view: KFCrossPlatformView, until condition: @MainActor () -> Bool) async {
        for _ in 0..<2_000 where !condition() {
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                let box = Unmanaged.passRetained(Waiter(continuation))
                gtk_widget_add_tick_callback(
                    view.rawWidget.assumingMemoryBound(to: GtkWidget.self),
                    { _, _, box in
                        guard let box else { return 0 }
                        Unmanaged<Waiter>.fromOpaque(box).takeRetainedValue().continuation.resume()
                        return 0
                    },
                    box.toOpaque(),
                    nil
                )
                gtk_widget_queue_draw(view.rawWidget.assumingMemoryBound(to: GtkWidget.self))
            }
        }
    }

    /// The colour of a widget's pixel, as 0xRRGGBB, given in parts of its width and height.
    func color(_ view: KFCrossPlatformView, _ x: Double = 0.5, _ y: Double = 0.5) -> UInt32? {
        guard let texture = kf_render(view.rawWidget.assumingMemoryBound(to: GtkWidget.self)) else { return nil }
        defer { g_object_unref(UnsafeMutableRawPointer(texture)) }
        let (width, height) = (Int(gdk_texture_get_width(texture)), Int(gdk_texture_get_height(texture)))
        var bytes = [UInt8](repeating: 0, count: width * height * 4)
        gdk_texture_download(texture, &bytes, gsize(width * 4))
        let (column, row) = (min(width - 1, Int(x * Double(width))), min(height - 1, Int(y * Double(height))))
        let offset = (row * width + column) * 4
        return UInt32(bytes[offset + 2]) << 16 | UInt32(bytes[offset + 1]) << 8 | UInt32(bytes[offset])
    }

    /// Checks the colour of a widget's pixel, once it has been drawn; each component may be off by two.
    func expect(
        _ view: KFCrossPlatformView,
        _ x: Double = 0.5,
        _ y: Double = 0.5,
        is expected: UInt32,
        line: Int = #line
    ) async {
        await frames(of: view)
        let found = color(view, x, y) ?? 0xFFFF_FFFF
        let isClose = [0, 8, 16].allSatisfy { abs(Int(found >> $0 & 255) - Int(expected >> $0 & 255)) <= 2 }
        let text = "\(String(found, radix: 16)) is not \(String(expected, radix: 16))"
        expect(found <= 0xFFFFFF && isClose, text, line: line)
    }

    /// Checks that a widget's pixel has another colour, once it has been drawn.
    func expect(
        _ view: KFCrossPlatformView,
        _ x: Double,
        isNot other: UInt32,
        _ text: String,
        line: Int = #line
    ) async {
        await frames(of: view)
        expect(color(view, x) != other, text, line: line)
    }

    /// The pixels of a widget as it looks; nil when it is not on a screen.
    func pixels(_ view: KFCrossPlatformView) -> Bitmap? {
        guard let texture = kf_render(view.rawWidget.assumingMemoryBound(to: GtkWidget.self)) else { return nil }
        defer { g_object_unref(UnsafeMutableRawPointer(texture)) }
        return Image(texture: texture)?.cgImage
    }

    /// A server on loopback, and options that load through a cache of the check's own.
    func network() async throws -> (TestServer, KingfisherOptionsInfo, ImageCache) {
        let server = try await TestServer.start()
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("kf-\(UUID().uuidString)")
        let cache = try ImageCache(name: "check", cacheDirectoryURL: directory)
        (self.server, self.directory) = (server, directory)
        return (server, [.targetCache(cache), .downloader(ImageDownloader(name: "check"))], cache)
    }

    /// Closes the windows.
    func closeWindows() {
        for window in windows { window.close() }
        windows = []
    }

    /// Closes the windows and the server.
    func close() {
        closeWindows()
        if let directory { try? FileManager.default.removeItem(at: directory) }
        guard let server else { return }
        Task { await server.stop() }
    }
}

extension TestServer {
    /// Answers a path with data, once a gate is open.
    func route(_ path: String, _ data: Data, behind gate: Gate) {
        route(path) { _ in
            await gate.wait()
            return .data(data)
        }
    }
}

/// The settings of the desktop's user.
@MainActor
enum Desktop {
    /// Whether the user wants motion.
    static var wantsMotion = true {
        didSet {
            guard let settings = gtk_settings_get_default() else { return }
            var value = GValue()
            g_value_init(&value, GType(5 << 2))  // a boolean
            g_value_set_boolean(&value, wantsMotion ? 1 : 0)
            let object = UnsafeMutableRawPointer(settings).assumingMemoryBound(to: GObject.self)
            g_object_set_property(object, "gtk-enable-animations", &value)
        }
    }
}

/// A continuation that C code keeps.
final class Waiter {
    let continuation: CheckedContinuation<Void, Never>

    init(_ continuation: CheckedContinuation<Void, Never>) { self.continuation = continuation }
}

/// Images of one colour, or of two.
enum Paint {
    static let (red, green, blue): (UInt32, UInt32, UInt32) = (0xFF0000, 0x00FF00, 0x0000FF)

    /// The left part in one colour, the right part in another.
    static func halves(_ left: UInt32, _ right: UInt32, width: Int = 40, height: Int = 20) -> Image {
        let bitmap = Bitmap(width: width, height: height, hasAlpha: false) { buffer, bytesPerRow in
            for y in 0..<height {
                for x in 0..<width {
                    let color = x < width / 2 ? left : right
                    buffer.storeBytes(of: 0xFF00_0000 | color, toByteOffset: y * bytesPerRow + x * 4, as: UInt32.self)
                }
            }
        }
        return Image(cgImage: bitmap)
    }

    /// Columns of one pixel in the given colours, which repeat.
    static func stripes(_ colors: [UInt32], width: Int, height: Int) -> Image {
        let bitmap = Bitmap(width: width, height: height, hasAlpha: false) { buffer, bytesPerRow in
            for y in 0..<height {
                for x in 0..<width {
                    let pixel = 0xFF00_0000 | colors[x % colors.count]
                    buffer.storeBytes(of: pixel, toByteOffset: y * bytesPerRow + x * 4, as: UInt32.self)
                }
            }
        }
        return Image(cgImage: bitmap)
    }

    static func plain(_ color: UInt32, width: Int = 40, height: Int = 20) -> Image {
        halves(color, color, width: width, height: height)
    }

    static func png(_ color: UInt32, width: Int = 40, height: Int = 20) throws -> Data {
        guard let data = plain(color, width: width, height: height).pngData() else { throw CheckError.noData }
        return data
    }

    /// A GIF of plain frames, a tenth of a second each.
    static func gif(_ colors: [UInt32], width: Int = 40, height: Int = 20) throws -> Data {
        let frames = colors.map { plain($0, width: width, height: height) }
        let image = Image.animatedImage(with: frames, duration: 0.1 * Double(frames.count))
        guard let frames = image?.frames else { throw CheckError.noData }
        return try Codecs.encode(frames, as: .gif)
    }
}

enum CheckError: Error { case noData }
#endif
