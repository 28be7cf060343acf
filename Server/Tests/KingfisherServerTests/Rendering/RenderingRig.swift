// A renderer with a server to load from and a cache of its own, and images of four colours. For the tests of the
// renderer.

import Foundation
import KFImageURLs
import Kingfisher
import KingfisherServer
import KingfisherTestSupport
import Logging
import Testing

/// What a test of the renderer works with.
struct RenderingRig {
    let server: TestServer
    let directory: URL
    let configuration: ServerConfiguration
    let cache: ImageCache
    let renderer: ImageRenderer

    /// Runs a test; the folder `files` in the rig's directory is the root of `local://`.
    static func run(
        _ configure: (inout ServerConfiguration) -> Void = { _ in },
        _ body: (RenderingRig) async throws -> Void
    ) async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        let files = directory.appendingPathComponent("files")
        try FileManager.default.createDirectory(at: files, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let server = try await TestServer.start()
        var configuration = ServerConfiguration()
        configuration.sources.allowsLoopbackAddresses = true
        configuration.sources.localRoot = files.path
        // Longer than the busiest machine takes.
        (configuration.timeout, configuration.readTimeout, configuration.writeTimeout) = (300, 300, 300)
        configuration.sources.connectTimeout = 300
        configure(&configuration)
        let cache = try ImageCache(name: "test", cacheDirectoryURL: directory)
        let renderer = ImageRenderer(configuration: configuration, cache: cache)
        let rig = RenderingRig(
            server: server,
            directory: directory,
            configuration: configuration,
            cache: cache,
            renderer: renderer
        )
        let outcome: Result<Void, any Error>
        do { outcome = .success(try await body(rig)) } catch { outcome = .failure(error) }
        await server.stop()
        try outcome.get()
    }

    /// Serves what the renderer makes, on a port, with a log of all requests.
    func serving(_ body: @Sendable (RenderingServer, LogLines) async throws -> Void) async throws {
        let log = LogLines()
        var logger = Logger(label: "test") { JSONLogHandler(label: $0, write: log.append) }
        logger.logLevel = .debug
        let images = ImageServer(configuration: configuration, renderer: renderer, logger: logger)
        try await RunningServer.serving(images.responder, images.http) { port, _ in
            try await body(RenderingServer(port: port, rig: self), log)
        }
    }

    /// The request of options such as `rs:fill:30:20`, for a source on the server unless another one is named.
    func request(
        _ options: String,
        path: String = "/a",
        source: String? = nil,
        preferring formats: [FileFormat] = []
    ) throws -> RenderingRequest {
        let source = source ?? server.url(path).absoluteString
        let text = "/_/" + (options.isEmpty ? "" : options + "/") + "plain/" + source
        var settings = configuration.urls
        settings.allowsSecurityOptions = true
        return RenderingRequest(
            plan: try PathParser(settings: settings).parse(text, now: Date()).plan,
            preferredFormats: formats
        )
    }

    func render(
        _ options: String,
        path: String = "/a",
        preferring formats: [FileFormat] = []
    ) async throws -> RenderedImage {
        try await renderer.render(try request(options, path: path, preferring: formats))
    }

    /// The pixels of a result, which is made as PNG.
    func pixels(_ options: String, path: String = "/a") async throws -> Pixels {
        let result = try await render(options + (options.isEmpty ? "f:png" : "/f:png"), path: path)
        return try Pixels(result.image.data)
    }

    /// The error of a request.
    func error(_ options: String = "w:10", path: String = "/a", source: String? = nil) async throws -> RenderingError? {
        let request = try request(options, path: path, source: source)
        do {
            _ = try await renderer.render(request)
            return nil
        } catch {
            return error
        }
    }
}

/// Colours of pixels, by their place.
struct Pixels {
    let image: Image
    var size: [Int] { [image.pixelWidth, image.pixelHeight] }

    init(_ data: Data) throws { image = try #require(Image(data: data)) }

    /// `red`, `green`, `blue`, `yellow`, `white`, `black`, `clear`; or the numbers of another colour.
    func color(_ x: Int, _ y: Int) -> String {
        guard let bitmap = image.cgImage else { return "none" }
        return bitmap.withUnsafeBytes { bytes in
            let place = y * bitmap.bytesPerRow + x * 4
            let bgra = (0..<4).map { Int(bytes[place + $0]) }
            // Encoders that lose something come close only.
            let near = Quadrants.colors.first { _, color in zip(color, bgra).allSatisfy { abs($0 - $1) < 25 } }
            return near?.key ?? "\(bgra)"
        }
    }

    /// The colours of the corners: top left, top right, bottom left, bottom right.
    var corners: [String] { corners(inside: 0) }

    /// Those of the pixels so far from the corners in both directions.
    func corners(inside distance: Int) -> [String] {
        let (right, bottom) = (image.pixelWidth - 1 - distance, image.pixelHeight - 1 - distance)
        return [color(distance, distance), color(right, distance), color(distance, bottom), color(right, bottom)]
    }
}

/// An image of four parts: red, green, blue and yellow from the top left to the bottom right.
enum Quadrants {
    /// Blue, green, red, alpha.
    static let colors: KeyValuePairs<String, [Int]> = [
        "red": [0, 0, 255, 255], "green": [0, 255, 0, 255], "blue": [255, 0, 0, 255], "yellow": [0, 255, 255, 255],
        "white": [255, 255, 255, 255], "black": [0, 0, 0, 255], "clear": [0, 0, 0, 0],
    ]
    static let names = ["red", "green", "blue", "yellow"]

    /// The image, within a border of a colour.
    static func image(_ width: Int = 200, _ height: Int = 100, border: Int = 0, _ color: String = "white") -> Image {
        let all = Dictionary(uniqueKeysWithValues: colors.map { ($0.key, $0.value) })
        let bitmap = Bitmap(width: width + 2 * border, height: height + 2 * border) { bytes, bytesPerRow in
            for y in 0..<height + 2 * border {
                for x in 0..<width + 2 * border {
                    let (column, row) = (x - border, y - border)
                    let isInside = (0..<width).contains(column) && (0..<height).contains(row)
                    let name = names[(row * 2 >= height ? 2 : 0) + (column * 2 >= width ? 1 : 0)]
                    for (offset, value) in (all[isInside ? name : color] ?? []).enumerated() {
                        bytes[y * bytesPerRow + x * 4 + offset] = UInt8(value)
                    }
                }
            }
        }
        return Image(cgImage: bitmap)
    }

    static func png(_ width: Int = 200, _ height: Int = 100) throws -> TestResponse {
        .data(try #require(image(width, height).pngData()))
    }

    /// A JPEG whose header says that it is to be turned.
    static func jpeg(_ image: Image = image(), orientation: UInt8 = 1) throws -> Data {
        var data = try #require(image.jpegData(compressionQuality: 0.95))
        // One field of EXIF, big-endian: tag 0x0112, type 3, count 1.
        let field: [UInt8] = [0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0, 0, 0, 0, 0]
        let block = Array("Exif\0\0MM".utf8) + [0, 42, 0, 0, 0, 8] + field
        data.insert(contentsOf: [0xFF, 0xE1, 0, UInt8(block.count + 2)] + block, at: 2)
        return data
    }

    /// Three frames, of which the middle one is red alone.
    static func animation(as format: ImageContentType = .gif) async throws -> Data {
        let red = Image(
            cgImage: Bitmap(width: 200, height: 100) { bytes, _ in
                for place in stride(from: 0, to: bytes.count, by: 4) {
                    (bytes[place + 2], bytes[place + 3]) = (255, 255)
                }
            }
        )
        let frames = try #require(Image.animatedImage(with: [image(), red, image()], duration: 0.3))
        return try await frames.kf.encoded(as: ImageEncoding(format)).data
    }
}
