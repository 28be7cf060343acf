//! A list of images before they are shown.
import Foundation
import Kingfisher

let urls = (0..<1_000).compactMap { URL(string: "https://example.com/\($0).jpg") }

let prefetcher = ImagePrefetcher(urls: Array(urls.prefix(40)))
let result = await prefetcher.prefetch()
print(result.completed.count, result.skipped.count, result.failed.count)

let coordinator = PrefetchCoordinator(window: 20) { row in row < urls.count ? .network(urls[row]) : nil }
coordinator.visibleRows(12..<20)  // whenever the list has scrolled
