//! A server that loads what its users name.
import FoundationNetworking
import Kingfisher

let downloader = ImageDownloader(name: "user content")
downloader.addressPolicy = .publicOnly
downloader.totalTimeout = 30
let session = URLSessionConfiguration.ephemeral
session.httpCookieAcceptPolicy = .never
downloader.sessionConfiguration = session
let manager = KingfisherManager(downloader: downloader, cache: .default)
manager.allowsFileURLs = false
