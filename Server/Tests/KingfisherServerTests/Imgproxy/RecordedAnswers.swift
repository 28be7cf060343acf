// What imgproxy 4.0.12 answered to requests for the images beside this file, and what this server makes of them. For
// the comparison of both.

import Foundation
import KFImageURLs
import Kingfisher
import KingfisherTestSupport
import Testing

@testable import KingfisherServer

/// One request of the table, and the answer to it.
struct RecordedAnswer: Sendable {
    /// The options and the source: without a signature, and with `S/` in place of the address of the sources.
    let path: String
    let status: Int
    /// Of the result, like its frames and its disposition; nothing of answers without an image.
    let size: String
    let frames: String
    /// Milliseconds, with commas between them.
    let delays: String
    let disposition: String
    /// The name of a file with the result, which is PNG then.
    let pixels: String?

    /// Nil for a line that is no answer.
    init?(line: Substring) {
        let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        guard fields.count == 8, let status = Int(fields[1]) else { return nil }
        (path, self.status) = (fields[0], status)
        (size, frames, delays, disposition) = (fields[3], fields[4], fields[5], fields[6])
        pixels = fields[7].isEmpty ? nil : fields[7]
    }

    /// Beside this file: the table, the sources and some of the results.
    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Recorded")

    static func all() throws -> [RecordedAnswer] {
        let table = try String(contentsOf: folder.appendingPathComponent("answers.tsv"), encoding: .utf8)
        return table.split(separator: "\n").compactMap(RecordedAnswer.init)
    }
}

extension RecordedAnswer: CustomStringConvertible {
    var description: String { "\(path): \(status) \(size) \(frames) \(delays) \(disposition) \(pixels ?? "")" }
    var sides: [Int] { size.split(separator: "x").compactMap { Int($0) } }
}

/// What became of a request here.
struct OwnAnswer: Sendable, CustomStringConvertible {
    var status = 200
    var size = ""
    var frames = ""
    var delays = ""
    var disposition = ""
    /// Why there is no image.
    var reason = ""
    /// How far the pixels are from the recorded ones, in decibels.
    var psnr: Double?

    var description: String {
        "\(status) \(size) \(frames) \(delays) \(disposition) \(psnr.map { "\($0) dB" } ?? "") \(reason)"
    }
    var sides: [Int] { size.split(separator: "x").compactMap { Int($0) } }
}

extension RecordedAnswer {
    /// The settings of the server that answered.
    static let settings = [
        "KF_MAX_ANIMATION_FRAMES": "100", "KF_ALLOW_SECURITY_OPTIONS": "1",
        "KF_PRESETS": "p1=w:50/h:40/rt:fill,p2=q:60/bl:2",
    ]

    /// Asks a renderer, whose files are the sources.
    func ask(_ renderer: ImageRenderer, _ configuration: ServerConfiguration) async throws -> OwnAnswer {
        var own = OwnAnswer()
        let text = "/_" + path.replacing("/plain/S/", with: "/plain/local:///")
        let plan: ImagePlan
        do throws(RequestError) {
            plan = try PathParser(settings: configuration.urls).parse(text).plan
        } catch {
            (own.status, own.reason) = (error.status, "\(error)")
            return own
        }
        let result: EncodedImage
        do throws(RenderingError) {
            result = try await renderer.render(RenderingRequest(plan: plan)).image
        } catch {
            (own.status, own.reason) = (error.status, error.reason)
            return own
        }
        own.disposition = contentDisposition(
            of: plan,
            fileExtension: result.contentType.preferredFileExtension ?? "bin",
            isAttachment: plan.delivery.isAttachment
        )
        // Of drawings that are handed on no size was recorded.
        guard result.contentType != .svg else { return own }
        own.size = "\(result.pixelWidth)x\(result.pixelHeight)"
        let image = try #require(
            KingfisherWrapper<Image>.image(data: result.data, options: ImageCreatingOptions(preloadAll: true))
        )
        own.frames = "\(image.images?.count ?? 1)"
        let durations = result.frameCount > 1 ? image.frameDurations ?? [] : []
        own.delays = durations.map { "\(Int(($0 * 1000).rounded()))" }.joined(separator: ",")
        if let pixels {
            let recorded = try Data(contentsOf: Self.folder.appendingPathComponent("pixels/\(pixels)"))
            let theirs = try #require(Image(data: recorded)?.cgImage)
            own.psnr = ImageComparison.psnr(try #require(image.cgImage), theirs)
        }
        return own
    }
}
