// Loads the image that is named on the command line, makes it small, and prints its size.

import Foundation
import Kingfisher

@main
struct App {
    static func main() async throws {
        guard let url = CommandLine.arguments.dropFirst().first.flatMap(URL.init(string:)) else {
            print("usage: App URL")
            exit(64)
        }
        let processor = DownsamplingImageProcessor(size: CGSize(width: 100, height: 100))
        let result = try await KingfisherManager.shared.retrieveImage(with: url, options: [.processor(processor)])
        print("\(Int(result.image.size.width)) × \(Int(result.image.size.height))")
    }
}
