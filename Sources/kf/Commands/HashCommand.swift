// `kf hash`: prints BlurHash and ThumbHash, the short texts that stand for an image until it is loaded.

import ArgumentParser
import Foundation
import KFImaging
import KFSupport
import Kingfisher

/// Prints the placeholder hashes of images.
struct HashCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hash",
        abstract: "Print the BlurHash and the ThumbHash of images, for placeholders.",
        discussion: """
              kf hash photo.jpg
              kf hash *.jpg --json

            One line per image: the BlurHash (4×3 components), the ThumbHash in Base64 and the source, with tabs \
            between them. --json prints one object per line: source, blurHash, thumbHash; or source and error.

            \(NetworkArguments.mention)
            """
    )

    /// The components of a BlurHash on each axis.
    private static let components = (4, 3)

    @Argument(help: ArgumentHelp("What to look at.", valueName: "image"), completion: .file())
    var sources: [String]

    @Flag(help: "Print one JSON object per line.")
    var json = false

    @OptionGroup(title: "Limits") var limits: LimitArguments
    @OptionGroup(title: "Network", visibility: .hidden) var network: NetworkArguments

    func run() async throws {
        let console = Console()
        let reader = SourceBytes(network, limits)
        var failures = 0
        for source in sources {
            let shown = Redaction.source(source)
            do throws(Failure) {
                let data = try await reader.read(source)
                let (blurHash, thumbHash) = try await Self.hashes(of: data)
                let line: JSON = [
                    "source": .string(shown), "blurHash": .string(blurHash), "thumbHash": .string(thumbHash),
                ]
                console.print(json ? line.description : "\(blurHash)\t\(thumbHash)\t\(shown)")
            } catch {
                failures += 1
                console.error(error.line(about: source))
                if json { console.print(error.json(about: source).description) }
            }
        }
        if failures > 0 { throw ExitStatus.failed }
    }

    /// Both hashes, made of a small copy of the image, since they hold no details.
    private static func hashes(of data: Data) async throws(Failure) -> (blurHash: String, thumbHash: String) {
        let small = DownsamplingImageProcessor(size: CGSize(width: 100, height: 100))
        let image = try await ImageBytes.image(data, small, isStill: true)
        let hashes = await WorkExecutor.cpu.run { () async -> (String, String)? in
            guard let blurHash = image.kf.blurHash(components: components), let thumbHash = image.kf.thumbHash() else {
                return nil
            }
            return (blurHash, thumbHash.base64EncodedString())
        }
        guard let hashes else {
            throw .cannotHash
        }
        return hashes
    }
}
