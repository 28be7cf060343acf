//! A server that loads what its users name.
import Kingfisher

let downloader = ImageDownloader(name: "user content")
downloader.addressPolicy = .publicOnly
downloader.totalTimeout = 30
let manager = KingfisherManager(downloader: downloader, cache: .default)
manager.allowsFileURLs = false
