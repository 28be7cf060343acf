// The pictures of the demo and the ways their server misbehaves. Knows nothing of loading them.

import Foundation
import KFImaging
import KFSupport
import Kingfisher
import KingfisherTestSupport

/// A picture the demo's server offers.
struct DemoPicture: Sendable {
    /// How the server answers.
    enum Manner: String, Sendable { case plain, slow, moved, flaky, broken }

    let path: String
    let manner: Manner
    /// What stands under the picture.
    let label: String
    let data: Data
    let type: ImageContentType
}

/// Draws the demo's pictures and puts them on a server.
enum DemoGallery {
    private struct Plan: Sendable {
        let index: Int
        let manner: DemoPicture.Manner
        let type: ImageContentType
        let width: Int
        let height: Int
    }

    /// Formats in turn; most pictures of the web are JPEGs.
    private static let types: [ImageContentType] = [.jpeg, .png, .jpeg, .webp, .jpeg, .jpeg, .gif, .avif]
    private static let sizes = [(640, 480), (1600, 1067), (800, 1200), (2400, 1600), (1024, 1024), (1920, 1080)]

    /// Draws and encodes pictures, the same ones every time.
    ///
    /// - Parameters:
    ///   - count: How many; the last one is broken if there are several.
    ///   - drawn: Called after each.
    /// - Returns: The pictures.
    /// - Throws: An error of an encoder.
    static func pictures(_ count: Int, drawn: @escaping @Sendable (Int) -> Void) async throws -> [DemoPicture] {
        try await withThrowingTaskGroup(of: (Int, DemoPicture).self) { group in
            for plan in (0..<count).map({ plan($0, of: count) }) {
                group.addTask {
                    let picture = try await WorkExecutor.cpu.run { () async throws -> DemoPicture in try draw(plan) }
                    drawn(plan.index)
                    return (plan.index, picture)
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    /// Puts the pictures on a server.
    static func offer(_ pictures: [DemoPicture], on server: TestServer) {
        for picture in pictures {
            let mime = "image/\(picture.type.preferredFileExtension ?? "x")"
            let good = TestResponse.data(picture.data, type: mime)
            switch picture.manner {
            case .plain:
                server.route(picture.path, good)
            case .slow:
                server.route(picture.path, good.with { $0.delay = .milliseconds(400) })
            case .moved:
                server.route(picture.path, .redirect(to: "/moved\(picture.path)"))
                server.route("/moved\(picture.path)", .redirect(to: "/again\(picture.path)", status: 301))
                server.route("/again\(picture.path)", good)
            case .flaky:
                server.route(picture.path, sequence: [.status(503), .status(503), good])
            case .broken:
                let page = Data("<!DOCTYPE html><html><body>We moved. Sorry!</body></html>".utf8)
                server.route(picture.path, .data(page, type: mime))
            }
        }
    }

    private static func plan(_ index: Int, of count: Int) -> Plan {
        let manner: DemoPicture.Manner =
            switch index % 12 {
            case _ where index == count - 1 && count > 1: .broken
            case 3, 10: .slow
            case 5: .moved
            case 8: .flaky
            default: .plain
            }
        let type = types[index % types.count]
        let (width, height) =
            switch type {
            case .jpeg where index == 20: (4000, 3000)
            case .jpeg: sizes[index % sizes.count]
            case .png: (900, 900)
            case .gif: (320, 240)
            default: (900, 600)
            }
        return Plan(index: index, manner: manner, type: type, width: width, height: height)
    }

    private static func draw(_ plan: Plan) throws(ImagingError) -> DemoPicture {
        let data: Data
        switch plan.type {
        case .gif:
            let ground = Landscape(seed: plan.index).drawn(width: plan.width, height: plan.height)
            let frames = (0..<6).map { frame in
                var canvas = ground
                canvas.lay(Bird(shade: Float(frame) / 5).drawn(width: plan.height, height: plan.height), atX: 40, y: 0)
                return canvas
            }
            data = try gif(frames, delay: 0.12)
        case .png:
            let shade = Float(plan.index % 5) / 4
            data = try encoded(Bird(shade: shade).drawn(width: plan.width, height: plan.height), .png)
        default:
            data = try encoded(Landscape(seed: plan.index).drawn(width: plan.width, height: plan.height), plan.type)
        }
        let manner = plan.manner == .plain ? "" : " \(plan.manner.rawValue)"
        return DemoPicture(
            path: "/\(plan.index + 1).\(plan.type.preferredFileExtension ?? "bin")",
            manner: plan.manner,
            label: "\(plan.type.name) \(plan.width)×\(plan.height)\(manner)",
            data: data,
            type: plan.type
        )
    }

    /// An animation that repeats for ever, each of its pictures shown for some seconds.
    static func gif(_ pictures: [Canvas], delay: TimeInterval) throws(ImagingError) -> Data {
        let images = pictures.map { Image(cgImage: $0.bitmap) }
        guard let frames = Image.animatedImage(with: images, duration: delay * Double(images.count))?.frames else {
            throw .encodingFailed(.gif, detail: "there are no pictures")
        }
        return try Codecs.encode(frames, as: .gif)
    }

    private static func encoded(_ canvas: Canvas, _ type: ImageContentType) throws(ImagingError) -> Data {
        try Codecs.encode(Image(cgImage: canvas.bitmap), as: type, quality: type == .avif ? 0.6 : 0.85)
    }
}

extension Canvas {
    /// The canvas as the library's pixels.
    var bitmap: Bitmap {
        Bitmap(width: width, height: height) { rows, bytesPerRow in
            bytes.withUnsafeBytes { bytes in
                for y in 0..<height {
                    let row = UnsafeMutableRawBufferPointer(
                        rebasing: rows[y * bytesPerRow..<y * bytesPerRow + width * 4]
                    )
                    row.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[y * width * 4..<(y + 1) * width * 4]))
                }
            }
        }
    }

    /// Lays another canvas over this one.
    mutating func lay(_ canvas: Canvas, atX left: Int, y top: Int) {
        canvas.bytes.withUnsafeBytes {
            lay($0, width: canvas.width, height: canvas.height, stride: canvas.width * 4, atX: left, y: top)
        }
    }

    /// Lays a picture over this canvas.
    mutating func lay(_ bitmap: Bitmap, atX left: Int, y top: Int) {
        var copy = self
        bitmap.withUnsafeBytes {
            copy.lay($0, width: bitmap.width, height: bitmap.height, stride: bitmap.bytesPerRow, atX: left, y: top)
        }
        self = copy
    }
}
