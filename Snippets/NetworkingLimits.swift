//! The limits of a downloader.
import Kingfisher

let downloader = ImageDownloader(name: "gallery")
downloader.maxConcurrentDownloads = 32
downloader.totalTimeout = 60
downloader.maximumResponseSize = 20 << 20
KingfisherManager.shared.downloader = downloader
