// What loads of a manager come to, by a table: the caches, the sources and the options decide. For ManagerModelTests.

import Foundation
import KingfisherTestSupport

@testable import Kingfisher

/// Random loads, and the table that says what they come to.
enum ManagerModel {
    /// How an image is made of its bytes: the height of an image says by which processor.
    enum Making: Int, CaseIterable {
        case plain, low, high, failing

        var identifier: String { self == .plain ? "" : "\(self)" }
        var height: Int { [3, 5, 7, 0][rawValue] }
        var processor: HeightProcessor? {
            self == .plain ? nil : HeightProcessor(identifier: identifier, height: height)
        }

        struct HeightProcessor: ImageProcessor, Hashable {
            let identifier: String
            /// 0 for one that makes nothing.
            let height: Int

            func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
                guard height > 0, let image = DefaultImageProcessor.default.process(item: item, options: options) else {
                    return nil
                }
                return SampleImage.gradient(image.pixelWidth, height)
            }
        }
    }

    /// The sources, by their numbers: the last ones are downloaded, the others are providers.
    enum SourceNumber {
        static let count = 5
        static let firstURL = 3

        static func isURL(_ number: Int) -> Bool { number >= firstURL }
        static func url(_ number: Int) -> URL { URL(string: "http://model.test/\(number)") ?? fakeURL }
        static func key(_ number: Int) -> String { isURL(number) ? url(number).cacheKey : "source \(number)" }
        static func entry(_ number: Int, _ making: Making) -> String {
            key(number).computedKey(with: making.identifier)
        }
        /// The width of the image says from which source it is.
        static func width(_ number: Int) -> Int { number + 2 }
        static let all = Array(0..<count)

        static func entries(_ numbers: [Int]) -> Set<String> {
            Set(numbers.flatMap { number in Making.allCases.map { entry(number, $0) } })
        }
    }

    /// What a source does when it is asked.
    enum Health: CaseIterable { case well, undecodable, failing }

    /// One load.
    struct Request {
        /// The source and its alternatives.
        var sources: [Int] = []
        /// What each of the sources does during this load.
        var health: [Health] = []
        var making = Making.plain
        /// Those of the options that have no value.
        var options: Set<Flag> = []
        var usesHandler = false
        var isCancelled = false

        enum Flag: CaseIterable {
            case forceRefresh, onlyFromCache, fromMemoryCacheOrRefresh, cacheMemoryOnly, cacheOriginalImage
            case waitForCache, loadDiskFileSynchronously, skipFailedURLs, retryFailed

            var item: KingfisherOptionsInfoItem {
                switch self {
                case .forceRefresh: .forceRefresh
                case .onlyFromCache: .onlyFromCache
                case .fromMemoryCacheOrRefresh: .fromMemoryCacheOrRefresh
                case .cacheMemoryOnly: .cacheMemoryOnly
                case .cacheOriginalImage: .cacheOriginalImage
                case .waitForCache: .waitForCache
                case .loadDiskFileSynchronously: .loadDiskFileSynchronously
                case .skipFailedURLs: .skipFailedURLs
                case .retryFailed: .retryFailed
                }
            }
        }

        func has(_ flag: Flag) -> Bool { options.contains(flag) }

        init(_ random: inout Dice) {
            sources = (0...random.below(3)).map { _ in random.below(SourceNumber.count) }
            if random.below(2) == 0 { sources = [sources[0]] }
            health = (0..<SourceNumber.count).map { _ in random.below(3) > 0 ? .well : Health.allCases[random.below(3)]
            }
            making = random.below(8) == 0 ? .failing : Making.allCases[random.below(3)]
            options = Set(Flag.allCases.filter { _ in random.below(6) == 0 })
            if random.below(3) == 0 { options.formUnion([.skipFailedURLs, .cacheOriginalImage]) }
            usesHandler = random.below(2) == 0
            isCancelled = random.below(12) == 0
        }
    }

    /// What a load came to.
    enum Outcome: Hashable {
        case image(CacheType, of: Int)
        case error(Int)
        case cancelled

        /// The same without the source.
        var kind: Self { if case .image(let type, _) = self { .image(type, of: 0) } else { self } }
    }

    /// What is cached, which URLs are blocked, and what loads have to come to.
    struct Table: Equatable {
        var memory: Set<String> = []
        var disk: Set<String> = []
        var blocked: Set<Int> = []

        /// Where the image was found, or the code of the error, and whether the URL will fail again.
        private enum Answer { case success(CacheType), failure(Int, isPermanent: Bool = false) }

        /// What a load comes to, and the sources that it asks, in order; afterwards the table is as the load leaves it.
        mutating func outcome(of request: Request) -> (Outcome, asked: [Int]) {
            var (codes, asked): ([Int], [Int]) = ([], [])
            for (index, source) in request.sources.enumerated() {
                let isBlocked = request.has(.skipFailedURLs) && !request.has(.retryFailed) && blocked.contains(source)
                // The first look into memory ends the load before its URL is unblocked.
                if index == 0, !isBlocked, isFound(source, request, in: memory) {
                    return (.image(.memory, of: source), asked)
                }
                switch isBlocked ? .failure(1101) : answer(source, request, &asked) {
                case .success(let type):
                    blocked.remove(source)
                    return (.image(type, of: source), asked)
                case .failure(let code, let isPermanent):
                    codes.append(code)
                    if isPermanent, request.has(.skipFailedURLs), SourceNumber.isURL(source) { blocked.insert(source) }
                }
            }
            return (.error(codes.count == 1 ? codes[0] : 5004), asked)
        }

        private func isFound(_ source: Int, _ request: Request, in layer: Set<String>) -> Bool {
            !request.has(.forceRefresh) && layer.contains(SourceNumber.entry(source, request.making))
        }

        private mutating func answer(_ source: Int, _ request: Request, _ asked: inout [Int]) -> Answer {
            if isFound(source, request, in: memory) { return .success(.memory) }
            let (entry, plain) = (SourceNumber.entry(source, request.making), SourceNumber.key(source))
            let looksOnDisk = !request.has(.fromMemoryCacheOrRefresh)
            if looksOnDisk, isFound(source, request, in: disk) {
                memory.insert(entry)
                return .success(.disk)
            }
            let hasOriginal = memory.contains(plain) || (looksOnDisk && disk.contains(plain))
            if hasOriginal, request.making != .plain, !request.has(.forceRefresh) {
                return processed(entry, request) ? .success(.none) : .failure(4001)
            }
            if request.has(.onlyFromCache) { return .failure(3006) }
            asked.append(source)
            switch request.health[source] {
            case .failing: return .failure(SourceNumber.isURL(source) ? 2002 : 5003, isPermanent: true)
            case .undecodable: return .failure(4001, isPermanent: true)
            case .well:
                guard processed(entry, request) else { return .failure(4001, isPermanent: true) }
                if request.making != .plain, request.has(.cacheOriginalImage) { disk.insert(plain) }
                return .success(.none)
            }
        }

        /// Stores what the processor makes; false if it makes nothing.
        private mutating func processed(_ entry: String, _ request: Request) -> Bool {
            guard request.making != .failing else { return false }
            memory.insert(entry)
            if !request.has(.cacheMemoryOnly) { disk.insert(entry) }
            return true
        }

        /// What it has about some sources.
        func part(about sources: [Int]) -> Self {
            let entries = SourceNumber.entries(sources)
            return Self(
                memory: memory.intersection(entries),
                disk: disk.intersection(entries),
                blocked: blocked.intersection(sources)
            )
        }

        /// Whether each part of the table is as one of two others has it.
        func isBetween(_ one: Self, _ other: Self) -> Bool {
            func fits<Value>(_ part: KeyPath<Self, Set<Value>>) -> Bool {
                let (one, other) = (one[keyPath: part], other[keyPath: part])
                return self[keyPath: part].isSuperset(of: one.intersection(other))
                    && self[keyPath: part].isSubset(of: one.union(other))
            }
            return fits(\.memory) && fits(\.disk) && fits(\.blocked)
        }
    }

    /// Random numbers that are the same each time.
    struct Dice {
        private var generator: SeededGenerator
        /// The multiplier is another one than the step's: numbers of one seed must not be those of the next, only
        /// later.
        init(_ seed: Int) {
            generator = SeededGenerator(state: UInt64(truncatingIfNeeded: seed) &* 0xD1B5_4A32_D192_ED03)
        }

        /// A number from 0 up to a limit, which it does not reach.
        mutating func below(_ limit: Int) -> Int { Int(generator.next() % UInt64(limit)) }
    }
}
