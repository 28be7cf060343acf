// The images of the demonstration, painted when they are asked for, and the server that has them. For kf-desktop.

import Foundation
import KFImaging
import KFSupport
public import Kingfisher
import KingfisherTestSupport

/// An image of the demonstration, as a page would describe it.
public struct DemoImage: Sendable {
    /// Where it is, with a key that is the same in each run.
    public let source: Source
    /// Its format and size, in words.
    public let title: String
    /// What is shown until it is there.
    public let placeholder: KFCrossPlatformImage?
}

/// A server on loopback, inside this process, with images of various sizes and formats.
public final class DemoServer: Sendable {
    /// The images of the server.
    public let images: [DemoImage]
    private let server: TestServer
    private let slow = Locked(false)

    /// Whether each response is delayed, as on a slow network.
    public var isSlow: Bool {
        get { slow.withLock { $0 } }
        set { slow.withLock { $0 = newValue } }
    }

    /// The number of requests that have arrived.
    public var requestCount: Int { server.requests.count }

    /// Starts a server.
    ///
    /// - Parameter count: The number of images it has.
    /// - Returns: The running server.
    /// - Throws: An error of the system when no port is free.
    public static func start(count: Int) async throws -> DemoServer {
        let server = try await TestServer.start()
        let paintings = (0..<count).map(Painting.init(index:))
        let images = await withTaskGroup { group in
            for painting in paintings {
                group.addTask {
                    let url = server.url(painting.path)
                    return (painting.index, await WorkExecutor.cpu.run { () async in painting.image(at: url) })
                }
            }
            return await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }.map(\.1)
        }
        return DemoServer(server, paintings, images)
    }

    private init(_ server: TestServer, _ paintings: [Painting], _ images: [DemoImage]) {
        (self.server, self.images) = (server, images)
        for painting in paintings {
            server.route(painting.path) { [unowned self] _ in await response(painting) }
        }
    }

    /// The response with an image; on a slow network after up to two seconds.
    private func response(_ painting: Painting) async -> TestResponse {
        guard let data = try? await WorkExecutor.cpu.run({ () async throws in try painting.data() }) else {
            return .status(500)
        }
        let type = "image/\(painting.type.preferredFileExtension ?? "x")"
        let delay = Duration.milliseconds(400 + painting.index * 379 % 1600)
        return .data(data, type: type).with { if isSlow { $0.delay = delay } }
    }
}

/// The description of an image that is painted later.
private struct Painting: Sendable {
    let index: Int
    let type: ImageContentType
    let isAnimated: Bool
    private let width: Int
    private let height: Int

    private static let types: [ImageContentType] = [.jpeg, .webp, .jpeg, .png, .jpeg, .avif, .jpeg, .jpeg, .webp]
    private static let animations: [ImageContentType] = [.gif, .webp, .png]
    private static let sizes = [(960, 640), (640, 800), (1200, 800), (720, 720), (1280, 720)]

    /// The image with an index, 0 or more; every tenth one is an animation.
    init(index: Int) {
        self.index = index
        isAnimated = index % 10 == 4
        type = isAnimated ? Self.animations[index / 10 % 3] : Self.types[index % Self.types.count]
        (width, height) = isAnimated ? (360, 270) : type == .png ? (600, 600) : Self.sizes[index % Self.sizes.count]
    }

    var path: String { "/\(index + 1).\(type.preferredFileExtension ?? "bin")" }

    /// The image as a page would describe it.
    func image(at url: URL) -> DemoImage {
        // The port differs in every run. The key does not, so that the cache serves the next run too.
        let resource = KF.ImageResource(downloadURL: url, cacheKey: "kf-desktop\(path)")
        let hash = painted(width: 32, height: 24).blurHash(components: (4, 3))
        return DemoImage(
            source: resource.convertToSource(),
            title: "\(type.name)\(isAnimated ? ", animated" : "")  \(width) × \(height)",
            placeholder: hash.flatMap { Image(blurHash: $0, size: CGSize(width: 32, height: 24)) }
        )
    }

    /// The image as a file.
    func data() throws -> Data {
        guard isAnimated else {
            return try Codecs.encode(painted(width: width, height: height), as: type, quality: 0.8)
        }
        let ground = painted(width: width, height: height)
        let frames = (0..<16).map { frame in
            let turn = Float(frame) / 16 * 2 * .pi
            var canvas = Canvas(width: width, height: height)
            if let bitmap = ground.cgImage { canvas.lay(x: 0, y: 0, bitmap) }
            let place = (x: width / 4 + Int(40 * sin(turn)), y: height / 3 - Int(30 * abs(cos(turn))))
            let bird = Bird(shade: shade).painting(width: width / 2, height: height / 2)
            canvas.lay(x: place.x, y: place.y, width: width / 2, height: height / 2, bird)
            return canvas.image
        }
        guard let animation = Image.animatedImage(with: frames, duration: 1.3)?.frames else { return Data() }
        return try Codecs.encode(animation, as: type, quality: 0.8)
    }

    private var shade: Float { Float(index % 5) / 4 }

    /// A landscape, or for PNG a bird on a transparent ground.
    private func painted(width: Int, height: Int) -> Image {
        type == .png && !isAnimated
            ? .painted(width: width, height: height, Bird(shade: shade).painting(width: width, height: height))
            : .painted(width: width, height: height, Landscape(seed: index).painting(width: width, height: height))
    }
}
