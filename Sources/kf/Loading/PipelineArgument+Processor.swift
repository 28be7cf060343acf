// The processor of a pipeline, whose files are read before any image; for all commands that process images.

import Foundation
import Kingfisher

extension PipelineArgument {
    /// The steps as one processor, once the files that they name have been read.
    ///
    /// The limits on sources count for these files, too, if they have been applied before.
    var processor: (any ImageProcessor)? {
        get async throws {
            let steps = try steps
            var files: [String: OverlayFile] = [:]
            for case .overlayImage(let overlay) in steps where files[overlay.path] == nil {
                files[overlay.path] = try await Self.file(overlay.path)
            }
            return PipelineStep.processor(of: steps, files: files)
        }
    }

    /// Reads a file on this machine; only the first frame of an animation.
    private static func file(_ path: String) async throws(Failure) -> OverlayFile {
        do throws(Failure) {
            let argument = try SourceArgument.reading(path)
            guard case .file(let url) = argument.location else {
                throw .badSource("an overlay has to be a file on this machine; download it with kf fetch")
            }
            let data = try await SourceBytes.read(argument.stream ?? LocalFileImageDataProvider(fileURL: url))
            let image = try await ImageBytes.image(data, nil, isStill: true)
            return OverlayFile(image: image, key: argument.source.cacheKey)
        } catch {
            throw error.naming(path)
        }
    }
}
