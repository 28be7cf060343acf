// Live photos: the names of their two files, which are missing, how they are downloaded and stored.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite("Live photos") struct LivePhotoTests {
    private let picture = Data("the picture's bytes".utf8)
    private let movie = Data("the movie's bytes".utf8)
    private let identifier = BytesOnly.livePhoto.identifier

    private func source(_ rig: Rig) -> LivePhotoSource {
        rig.server.route("/live.heic", .data(picture))
        rig.server.route("/live.MOV", .data(movie))
        return LivePhotoSource(urls: ["/live.heic", "/live.MOV"].map { rig.server.url($0) })
    }

    private func count(_ rig: Rig) -> [Int] { ["/live.heic", "/live.MOV"].map { rig.server.count($0) } }

    @Test(
        "The type of a file is that of its URL",
        arguments: [
            ("https://example.com/a.heic", LivePhotoResource.FileType.heic, "heic"),
            ("https://example.com/a.HEIC?x=1", .heic, "heic"), ("https://example.com/b.mov", .mov, "mov"),
            ("https://example.com/b.jpg", .other("jpg"), "jpg"), ("https://example.com/b", .other(""), ""),
        ]
    )
    func typeOfURL(url: String, type: LivePhotoResource.FileType, fileExtension: String) throws {
        let url = try #require(URL(string: url))
        let resource = LivePhotoResource(downloadURL: url)
        #expect(resource.referenceFileType == type)
        #expect(resource.referenceFileType.fileExtension == fileExtension)
        #expect(resource.cacheKey == url.cacheKey && resource.downloadURL == url)
        let named = LivePhotoResource(downloadURL: url, cacheKey: "key", fileType: .mov)
        #expect(named.cacheKey == "key" && named.referenceFileType == .mov)
        let resources: [any Resource] = [KF.ImageResource(downloadURL: url, cacheKey: "k"), url]
        #expect(LivePhotoSource(resources: resources).resources.map(\.cacheKey) == ["k", url.cacheKey])
        #expect(LivePhotoSource(resources: [named]).resources.map(\.referenceFileType) == [.mov])
    }

    @Test("The type of a file is found from its bytes when its URL gives none") func typeOfBytes() {
        func file(_ brand: String) -> Data { Data([0, 0, 0, 24]) + Data("ftyp\(brand)and more".utf8) }
        let unknown = LivePhotoResource.FileType.other("")
        #expect(unknown.fileExtension(for: file("heic")) == "heic")
        #expect(unknown.fileExtension(for: file("qt  ")) == "mov")
        #expect(unknown.fileExtension(for: file("mp42")) == nil)
        #expect(unknown.fileExtension(for: file("heic").dropFirst(4)) == nil)
        #expect(unknown.fileExtension(for: Data("\0\0\0\0ftyphei".utf8)) == nil)
        #expect(LivePhotoResource.FileType.mov.fileExtension(for: file("heic")) == "mov")
        #expect(LivePhotoResource.FileType.other("jpg").fileExtension(for: file("heic")) == "jpg")
    }

    @Test("Both files are downloaded once and stored") func downloadAndStore() async throws {
        try await Rig.run { rig in
            let source = source(rig)
            let first = try await rig.manager.retrieveLivePhoto(with: source)
            #expect(first.cacheType == .none)
            #expect(first.fileURLs.map(\.pathExtension) == ["heic", "mov"])
            #expect(first.data() == [picture, movie])
            #expect(try first.fileURLs.map { try Data(contentsOf: $0) } == [picture, movie])
            #expect(first.source.resources.map(\.cacheKey) == source.resources.map(\.cacheKey))

            let second = try await rig.manager.retrieveLivePhoto(with: source)
            #expect(second.cacheType == .disk && second.fileURLs == first.fileURLs)
            #expect(second.data().isEmpty)
            #expect(count(rig) == [1, 1])

            let fresh = try await rig.manager.retrieveLivePhoto(with: source, options: [.forceRefresh])
            #expect(fresh.cacheType == .none && fresh.fileURLs == first.fileURLs)
            #expect(count(rig) == [2, 2])
        }
    }

    @Test("The files are stored apart from images of the same URLs, whatever processor the options name")
    func separateFiles() async throws {
        try await Rig.run { rig in
            let source = source(rig)
            _ = try await rig.manager.retrieveLivePhoto(with: source, options: [.processor(CountingProcessor())])
            for (resource, type) in zip(source.resources, ["heic", "mov"]) {
                let key = resource.cacheKey
                #expect(!rig.cache.isCached(forKey: key, forcedExtension: type))
                let kept = rig.cache.imageCachedType(
                    forKey: key,
                    processorIdentifier: identifier,
                    forcedExtension: type
                )
                #expect(kept == .disk)
            }
        }
    }

    @Test("Only missing files are downloaded") func partialDownload() async throws {
        try await Rig.run { rig in
            let source = source(rig)
            let options = KingfisherParsedOptionsInfo([.processor(BytesOnly.livePhoto)])
            #expect(rig.manager.missingResources(source, options: options).count == 2)
            try await rig.cache.storeToDisk(
                picture,
                forKey: source.resources[0].cacheKey,
                processorIdentifier: identifier,
                forcedExtension: "heic"
            )
            let missing = rig.manager.missingResources(source, options: options)
            #expect(missing.map(\.downloadURL) == [source.resources[1].downloadURL])
            var fresh = options
            fresh.forceRefresh = true
            #expect(rig.manager.missingResources(source, options: fresh).count == 2)

            let error = await failure {
                try await rig.manager.retrieveLivePhoto(with: source, options: [.onlyFromCache])
            }
            #expect(error?.errorCode == 3006)
            let partly = try await rig.manager.retrieveLivePhoto(with: source)
            #expect(partly.cacheType == .none && partly.fileURLs.count == 2 && partly.data() == [movie])
            #expect(count(rig) == [0, 1])
        }
    }

    @Test("A file that is being removed is missing, a file that is being stored is not", arguments: [true, false])
    func pendingOperations(isStored: Bool) async throws {
        try await Rig.run { rig in
            rig.server.route("/live.heic", .data(picture))
            let (key, source) = ("key", LivePhotoSource(urls: [rig.server.url("/live.heic")]))
            let resource = LivePhotoResource(downloadURL: source.resources[0].downloadURL, cacheKey: key)
            let (cache, manager) = (rig.cache, rig.manager)
            if !isStored {
                try await cache.storeToDisk(
                    movie,
                    forKey: key,
                    processorIdentifier: identifier,
                    forcedExtension: "heic"
                )
            }
            let ticket = cache.operations.ticket(forKey: key.computedKey(with: identifier))
            let mayEnd = Promise<Void>()
            let slow = Task { await ticket.run { await mayEnd.value } }
            if isStored {
                cache.storeToDisk(
                    movie,
                    forKey: key,
                    processorIdentifier: identifier,
                    forcedExtension: "heic",
                    completionHandler: nil
                )
            } else {
                cache.removeImage(
                    forKey: key,
                    processorIdentifier: identifier,
                    forcedExtension: "heic",
                    completionHandler: nil
                )
            }
            let loading = Task.immediate {
                try await manager.retrieveLivePhoto(with: LivePhotoSource(resources: [resource]))
            }
            // A look-up that did not wait would have ended before this load received a file over the network.
            _ = try await manager.retrieveLivePhoto(with: source)
            mayEnd.fulfil(())
            let result = try await loading.value
            await slow.value
            #expect(result.cacheType == (isStored ? .disk : .none))
            #expect(result.data() == (isStored ? [] : [picture]))
            #expect(try Data(contentsOf: result.fileURLs[0]) == (isStored ? movie : picture))
        }
    }

    @Test(
        "A file of unknown type gets an extension from its bytes, or none, and is found again",
        arguments: [("ftypheic", "heic"), ("ftypqt  ", "mov"), ("nothing!", "")]
    )
    func unknownTypes(brand: String, fileExtension: String) async throws {
        try await Rig.run { rig in
            rig.server.route("/live", .data(Data([0, 0, 0, 24]) + Data(brand.utf8)))
            let source = LivePhotoSource(urls: [rig.server.url("/live")])
            let result = try await rig.manager.retrieveLivePhoto(with: source)
            #expect(result.fileURLs.map(\.pathExtension) == [fileExtension])
            #expect(try await rig.manager.retrieveLivePhoto(with: source).cacheType == .disk)
            let found = rig.cache.possibleCacheFileURLIfOnDisk(
                forKey: source.resources[0].cacheKey,
                processorIdentifier: identifier,
                referenceFileType: .other("")
            )
            #expect(found == result.fileURLs.first)
        }
    }

    @Test("After a reload with another type, the earlier file of unknown type is not found")
    func changedType() async throws {
        try await Rig.run { rig in
            let source = LivePhotoSource(urls: [rig.server.url("/live")])
            for (pathExtension, brands) in [
                (nil, ["heic", "qt  ", "none", "heic"]), ("mov", ["heic", "qt  ", "none"]),
            ] {
                rig.cache.diskStorage.config.pathExtension = pathExtension
                for brand in brands {
                    let bytes = Data([0, 0, 0, 24]) + Data("ftyp\(brand)".utf8)
                    rig.server.route("/live", .data(bytes))
                    let result = try await rig.manager.retrieveLivePhoto(with: source, options: [.forceRefresh])
                    #expect(result.data() == [bytes], "\(brand)")
                    #expect(rig.files.count == 1)
                }
                await rig.cache.clearDiskCache()
            }
        }
    }

    @Test("Files are returned in the order of the resources") func resultOrder() async throws {
        try await Rig.run { rig in
            let (source, gate) = (source(rig), Gate())
            rig.server.route("/live.heic", TestResponse.data(picture).with { $0.gate = gate })
            let options = rig.manager.parsed(nil)
            let manager = rig.manager
            let downloading = Task { try await manager.downloadAndCache(resources: source.resources, options: options) }
            await rig.server.waitForRequests(to: "/live.MOV")
            gate.open()
            let results = try await downloading.value
            #expect(results.map(\.originalData) == [picture, movie])
            #expect(results.map(\.url) == source.resources.map(\.downloadURL))
            #expect(try await rig.manager.downloadAndCache(resources: [], options: options).isEmpty)
        }
    }

    @Test("One failing file fails the live photo without waiting for the other", .timeLimit(.minutes(5)))
    func oneFileFails() async throws {
        try await Rig.run { rig in
            let (source, gate) = (source(rig), Gate())
            rig.server.route("/live.heic", TestResponse.data(picture).with { $0.gate = gate })
            rig.server.route("/live.MOV", .status(404))
            let error = await failure { try await rig.manager.retrieveLivePhoto(with: source) }
            #expect(error?.isInvalidResponseStatusCode(404) == true)
            #expect(rig.files.isEmpty)
            gate.open()
        }
    }

    @Test("An empty file is an error")
    func emptyFiles() async throws {
        try await Rig.run { rig in
            rig.server.route("/live.heic", .data(Data()))
            let source = LivePhotoSource(urls: [rig.server.url("/live.heic")])
            #expect(await failure { try await rig.manager.retrieveLivePhoto(with: source) }?.errorCode == 4001)
            #expect(rig.files.isEmpty)
        }
    }

    @Test("A cancelled load ends at once and names its source")
    func cancelling() async throws {
        try await Rig.run { rig in
            let (source, gate) = (source(rig), Gate())
            rig.server.route("/live.heic", TestResponse.data(picture).with { $0.gate = gate })
            let manager = rig.manager
            let task = Task { await failure { try await manager.retrieveLivePhoto(with: source) } }
            await rig.server.waitForRequests(to: "/live.heic")
            task.cancel()
            let error = await task.value
            gate.open()
            #expect(error?.errorCode == 1004 && error?.isTaskCancelled == true)
            guard case .requestError(.livePhotoTaskCancelled(let cancelled)) = error else { return }
            #expect(cancelled.resources.map(\.cacheKey) == source.resources.map(\.cacheKey))

            let early = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return await failure { try await manager.retrieveLivePhoto(with: source, options: [.forceRefresh]) }
            }
            #expect(await early.value?.errorCode == 1004)
            #expect(count(rig)[0] == 1)
        }
    }

    @Test("A file that its server reports as not modified is kept, and a local file is read")
    func unchangedFiles() async throws {
        try await Rig.run { rig in
            rig.server.route("/live.heic", TestResponse.data(picture).with { $0.etag = "\"1\"" })
            let file = rig.directory.appendingPathComponent("here.mov")
            try movie.write(to: file)
            let source = LivePhotoSource(urls: [rig.server.url("/live.heic"), file])
            let first = try await rig.manager.retrieveLivePhoto(with: source)
            #expect(first.data() == [picture, movie])
            let condition = AnyModifier { request in
                var request = request
                request.setValue("\"1\"", forHTTPHeaderField: "If-None-Match")
                return request
            }
            let options: KingfisherOptionsInfo = [.forceRefresh, .requestModifier(condition)]
            #expect(try await rig.manager.retrieveLivePhoto(with: source, options: options).fileURLs == first.fileURLs)
            #expect(rig.server.count("/live.heic") == 2)
            await rig.cache.clearDiskCache()
            let error = await failure { try await rig.manager.retrieveLivePhoto(with: source, options: options) }
            #expect(error?.isInvalidResponseStatusCode(304) == true)
        }
    }

    @Test("A file may come from a provider") func providedFile() async throws {
        try await Rig.run { rig in
            let provider = Source.provider(RawImageDataProvider(data: movie, cacheKey: "movie"))
            let resource = LivePhotoResource(source: provider, fileType: .mov)
            #expect(resource.dataSource.cacheKey == "movie" && resource.downloadURL.absoluteString == "about:blank")
            let source = LivePhotoSource(resources: [resource])
            let first = try await rig.manager.retrieveLivePhoto(with: source)
            #expect(first.data() == [movie] && first.fileURLs.map(\.pathExtension) == ["mov"])
            #expect(try await rig.manager.retrieveLivePhoto(with: source).cacheType == .disk)
        }
    }

    @Test("A file that the cache did not store is an error that names it")
    func filesNotStored() async throws {
        try await Rig.run { rig in
            let source = source(rig)
            let error = await failure {
                try await rig.manager.retrieveLivePhoto(with: source, options: [.diskCacheExpiration(.expired)])
            }
            guard case .cacheError(.missingLivePhotoResourceOnDisk(let resource)) = error else {
                return #expect(Bool(false), "\(String(describing: error))")
            }
            #expect(resource.downloadURL == source.resources[0].downloadURL)
            #expect(error?.errorCode == 3012)
        }
    }
}
