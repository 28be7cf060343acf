// Random loads of a manager against a table that says what each must come to.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite struct ManagerModelTests {
    @Test(
        "Loads with random options each end once, as the caches and the source decide, and store what they should",
        .timeLimit(.minutes(10)),
        arguments: 1...4
    )
    func randomLoads(seed: Int) async throws {
        try await withTemporaryDirectory { directory in
            var run = try ManagerModel.Run(seed: seed, directory)
            for step in 0..<5000 { try await run.step("seed \(seed), step \(step)") }
            #expect(run.completions.value == run.handlers)
            // The conditions did not hold merely because the same things happened again and again.
            let ends = Set([1101, 2002, 3006, 4001, 5003, 5004].map(ManagerModel.Outcome.error))
                .union([.memory, .disk, .none].map { .image($0, of: 0) } + [.cancelled])
            #expect(ends.allSatisfy { run.ends[$0, default: 0] > 20 }, "\(run.ends)")
        }
    }
}

extension ManagerModel {
    /// Held by the options and the providers of one load, so that it is known when nothing of the load goes on.
    fileprivate final class Witness: Sendable {}

    /// The sources of all loads, which do what the current one says.
    fileprivate final class Origins: Sendable {
        private struct Failure: Error {}

        private struct Provider: ImageDataProvider {
            let origins: Origins
            let number: Int
            let witness: Witness?
            var cacheKey: String { SourceNumber.key(number) }

            func data() async throws -> Data {
                guard let bytes = origins.bytes(number) else { throw Failure() }
                return bytes
            }
        }

        /// Those that were asked since this was emptied.
        let asked = Box<[Int]>([])
        let health = Box<[Health]>([])
        private let images: [Data]

        init() throws {
            images = try (0..<SourceNumber.count).map {
                try SampleImage.png(SourceNumber.width($0), Making.plain.height)
            }
        }

        func source(_ number: Int, _ witness: Witness?) -> Source {
            SourceNumber.isURL(number)
                ? .network(SourceNumber.url(number))
                : .provider(Provider(origins: self, number: number, witness: witness))
        }

        func play(_ transfer: FakeTransfer) {
            guard let number = transfer.originalRequest.url.flatMap({ Int($0.lastPathComponent) }) else { return }
            transfer.play(bytes(number).map { .data($0) } ?? .status(404))
        }

        /// Nil when the source fails.
        private func bytes(_ number: Int) -> Data? {
            asked.change { $0.append(number) }
            return switch health.value[number] {
            case .well: images[number]
            case .undecodable: Data("no image".utf8)
            case .failing: nil
            }
        }
    }

    /// Makes loads at random, and compares what they come to with the table.
    fileprivate struct Run {
        private let manager: KingfisherManager
        private let origins: Origins
        private var random: Dice
        private var table = Table()
        /// How often loads have ended in each way.
        private(set) var ends: [Outcome: Int] = [:]
        /// How many loads had a handler, and how often these were called.
        private(set) var handlers = 0
        let completions = Counter()

        init(seed: Int, _ directory: URL) throws {
            let origins = try Origins()
            let transport = FakeTransport { origins.play($0) }
            let cache = try ImageCache(name: "model", cacheDirectoryURL: directory)
            cache.memoryStorage.config.expiration = .never
            manager = KingfisherManager(downloader: ImageDownloader(name: "model", transport: transport), cache: cache)
            manager.defaultOptions = [.callbackQueue(.untouch)]
            (self.origins, random) = (origins, Dice(seed))
        }

        /// The part of the table about some sources, as the manager has it.
        private func observed(_ sources: [Int]) -> Table {
            let (memory, disk, entries) = (
                manager.cache.memoryStorage, manager.cache.diskStorage, SourceNumber.entries(sources)
            )
            return Table(
                memory: entries.filter { memory.isCached(forKey: $0) },
                disk: entries.filter { disk.isCached(forKey: $0) },
                blocked: Set(sources.filter { manager.failedURLs?.contains(SourceNumber.url($0)) == true })
            )
        }

        /// Perhaps removes something, then makes a load.
        mutating func step(_ name: String) async throws {
            try await removeSomething()
            let request = Request(&random)
            // From time to time all entries are compared, not only those of the load.
            let compared = random.below(50) == 0 ? SourceNumber.all : request.sources
            let before = table
            let (expected, asked) = table.outcome(of: request)
            origins.asked.value = []
            origins.health.value = request.health
            if request.usesHandler { handlers += 1 }

            var comment: Comment { "\(name): \(request)\n\(before)" }
            let outcome = try await load(request, name)
            ends[outcome.kind, default: 0] += 1
            if outcome == .cancelled {
                // How far a cancelled load comes depends on the threads: whatever it has or has not stored is correct,
                // and the table goes on with what there is.
                let found = observed(SourceNumber.all)
                try #require(request.isCancelled && found.isBetween(before, table), comment)
                try #require(asked.starts(with: origins.asked.value), comment)
                table = found
            } else {
                try #require(outcome == expected, comment)
                try #require(origins.asked.value == asked, comment)
                try #require(observed(compared) == table.part(about: compared), comment)
            }
        }

        private mutating func removeSomething() async throws {
            let (number, making) = (random.below(SourceNumber.count), Making.allCases[random.below(3)])
            let (key, entry) = (SourceNumber.key(number), SourceNumber.entry(number, making))
            switch random.below(30) {
            case 0..<3:
                manager.cache.clearMemoryCache()
                table.memory = []
            case 3:
                await manager.cache.clearCache()
                (table.memory, table.disk) = ([], [])
            case 4..<12:
                let (fromMemory, fromDisk) = [(true, false), (false, true), (true, true)][random.below(3)]
                try await manager.cache.removeImage(
                    forKey: key,
                    processorIdentifier: making.identifier,
                    fromMemory: fromMemory,
                    fromDisk: fromDisk
                )
                if fromMemory { table.memory.remove(entry) }
                if fromDisk { table.disk.remove(entry) }
            default: break
            }
        }

        /// Makes a load, and waits until nothing of it goes on.
        private func load(_ request: Request, _ name: String) async throws -> Outcome {
            var witness: Witness? = Witness()
            weak let watched = witness
            let outcome = try await outcome(of: request, witness, name)
            witness = nil
            if request.isCancelled { while watched != nil, !Task.isCancelled { await Task.yield() } }
            // A load that waits for the cache has stored everything when it ends.
            if request.isCancelled || !request.has(.waitForCache) {
                await manager.cache.operations.ticketForAll(isBarrier: false).run {}
            }
            return outcome
        }

        /// What a load came to; nothing of its result remains, since that holds its sources.
        private func outcome(of request: Request, _ witness: Witness?, _ name: String) async throws -> Outcome {
            let sources = request.sources.map { origins.source($0, witness) }
            var options = request.options.map(\.item)
            if sources.count > 1 { options.append(.alternativeSources(Array(sources.dropFirst()))) }
            if let processor = request.making.processor { options.append(.processor(processor)) }
            options.append(.imageModifier(AnyImageModifier { image in withExtendedLifetime(witness) { image } }))
            let result = await start(sources[0], options, request)
            if let found = try? result.get() { try check(found, request, "\(name): \(request)") }
            return outcome(result)
        }

        private func start(
            _ source: Source,
            _ options: KingfisherOptionsInfo,
            _ request: Request
        ) async -> Result<RetrieveImageResult, KingfisherError> {
            let (manager, completions) = (manager, completions)
            guard request.usesHandler else {
                let task = Task {
                    await Result { () async throws(KingfisherError) in
                        try await manager.retrieveImage(with: source, options: options)
                    }
                }
                if request.isCancelled { task.cancel() }
                return await task.value
            }
            let end = Promise<Result<RetrieveImageResult, KingfisherError>>()
            let handle = manager.retrieveImage(with: source, options: options) { result in
                completions.add()
                end.fulfil(result)
            }
            if request.isCancelled { handle?.cancel() }
            return await end.value
        }

        private func outcome(_ result: Result<RetrieveImageResult, KingfisherError>) -> Outcome {
            switch result {
            case .success(let found):
                let number = (0..<SourceNumber.count).first { SourceNumber.key($0) == found.source.cacheKey }
                return .image(found.cacheType, of: number ?? -1)
            case .failure(let error): return error.isCancelled ? .cancelled : .error(error.errorCode)
            }
        }

        private func check(
            _ found: RetrieveImageResult,
            _ request: Request,
            _ comment: @autoclosure () -> Comment
        ) throws {
            let number = request.sources.first { SourceNumber.key($0) == found.source.cacheKey }
            try #require(found.image.pixelWidth == number.map(SourceNumber.width), comment())
            try #require(found.image.pixelHeight == request.making.height, comment())
            try #require(found.originalSource.cacheKey == SourceNumber.key(request.sources[0]), comment())
            let isStored = found.cacheStoreResult.map { (try? $0.diskCacheResult.get()) != nil }
            try #require(isStored == (request.has(.waitForCache) && found.cacheType == .none ? true : nil), comment())
        }
    }
}
