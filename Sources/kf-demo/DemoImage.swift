// The images of `kf-demo load`, and the ways their server misbehaves.

import Foundation
import KFImaging
import KFSupport
import KingfisherTestSupport

/// An image of the demo's server.
struct DemoImage: Sendable {
    /// The ways the server serves it.
    enum Manner: String, Sendable { case plain, slow, moved, flaky, broken }

    let path: String
    let manner: Manner
    /// The text below the image.
    let label: String
    let type: ImageContentType
    let data: Data

    /// Formats in turn; most images of the web are JPEGs.
    private static let types: [ImageContentType] = [.jpeg, .png, .jpeg, .webp, .jpeg, .jpeg, .gif, .avif]
    private static let sizes = [(640, 480), (1600, 1067), (800, 1200), (2400, 1600), (1024, 1024), (1920, 1080)]

    /// Draws and encodes images, the same ones every time.
    ///
    /// - Parameter count: The number of images; the last one is broken if there are several.
    /// - Returns: The images.
    /// - Throws: An error of an encoder.
    static func all(_ count: Int) async throws -> [DemoImage] {
        try await withThrowingTaskGroup(of: (Int, DemoImage).self) { group in
            for index in 0..<count {
                group.addTask {
                    let isBroken = index == count - 1 && count > 1
                    let image = try await WorkExecutor.cpu.run { () async throws -> DemoImage in
                        try DemoImage(index, isBroken: isBroken)
                    }
                    return (index, image)
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    private init(_ index: Int, isBroken: Bool) throws {
        type = Self.types[index % Self.types.count]
        let (width, height) =
            switch type {
            case .jpeg: index == 20 ? (4000, 3000) : Self.sizes[index % Self.sizes.count]
            case .png: (900, 900)
            case .gif: (320, 240)
            default: (900, 600)
            }
        manner =
            switch index % 12 {
            case _ where isBroken: .broken
            case 3, 10: .slow
            case 5: .moved
            case 8: .flaky
            default: .plain
            }
        path = "/\(index + 1).\(type.preferredFileExtension ?? "bin")"
        label = "\(type.name) \(width)×\(height)" + (manner == .plain ? "" : " \(manner.rawValue)")
        data = try Self.file(index, type, width, height)
    }

    private static func file(_ index: Int, _ type: ImageContentType, _ width: Int, _ height: Int) throws -> Data {
        let bird = Bird(shade: Float(index % 5) / 4).painting(width: width, height: height)
        if type == .png { return try Codecs.encode(.painted(width: width, height: height, bird), as: .png) }
        let landscape = Landscape(seed: index).painting(width: width, height: height)
        guard type == .gif else {
            let quality = type == .avif ? 0.6 : 0.85
            return try Codecs.encode(.painted(width: width, height: height, landscape), as: type, quality: quality)
        }
        let frames = (0..<6).map { frame in
            let bird = Bird(shade: Float(frame) / 5).painting(width: width, height: height)
            return Image.painted(width: width, height: height) { x, y in bird(x, y).over(landscape(x, y)) }
        }
        guard let animation = Image.animatedImage(with: frames, duration: 0.72)?.frames else { return Data() }
        return try Codecs.encode(animation, as: .gif)
    }

    /// Adds the image to a server.
    func offer(on server: TestServer) {
        let mime = "image/\(type.preferredFileExtension ?? "x")"
        let good = TestResponse.data(data, type: mime)
        switch manner {
        case .plain:
            server.route(path, good)
        case .slow:
            server.route(path, good.with { $0.delay = .milliseconds(400) })
        case .moved:
            server.route(path, .redirect(to: "/moved\(path)"))
            server.route("/moved\(path)", .redirect(to: "/again\(path)", status: 301))
            server.route("/again\(path)", good)
        case .flaky:
            server.route(path, sequence: [.status(503), .status(503), good])
        case .broken:
            let page = Data("<!DOCTYPE html><html><body>We moved. Sorry!</body></html>".utf8)
            server.route(path, .data(page, type: mime))
        }
    }
}
