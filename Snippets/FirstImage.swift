// A first image: a thumbnail with round corners, in a file.
import Foundation
import Kingfisher

// swift run app https://example.com/photo.jpg
guard let url = CommandLine.arguments.dropFirst().first.flatMap(URL.init) else { exit(2) }
let processor =
    ThumbnailImageProcessor(size: CGSize(width: 200, height: 200), mode: .fill, anchor: .smart)
    |> RoundCornerImageProcessor(cornerRadius: 20)
let options: KingfisherOptionsInfo = [.processor(processor), .cacheSerializer(FormatIndicatedCacheSerializer.png)]
let result = try await KingfisherManager.shared.retrieveImage(with: url, options: options)
print(result.image.size, result.cacheType)  // CGSize(width: 200.0, height: 200.0) none, the next time memory or disk
try result.image.pngData()?.write(to: URL(fileURLWithPath: "thumbnail.png"))
