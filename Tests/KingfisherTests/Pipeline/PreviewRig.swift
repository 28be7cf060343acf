// Helpers for tests of previews: a progressive JPEG, the positions of its scans, and a collector of previews.

import Dispatch
import Foundation
import KFImaging
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

/// A progressive JPEG of ten scans, and the image after each of them.
struct ProgressiveSample {
    let data: Data
    /// The positions of the scans' markers.
    let scans: [Int]

    init() throws {
        let data = try Data(contentsOf: Catalogue.url("progressive.jpg"))
        self.data = data
        scans = data.indices.dropLast().filter { data[$0] == 0xFF && data[$0 + 1] == 0xDA }
    }

    /// The number of bytes up to the end of a scan's header; scans are counted from 1.
    func bytes(beginning scan: Int) -> Int {
        let start = scans[scan - 1]
        return start + 2 + Int(data[start + 2]) << 8 + Int(data[start + 3])
    }

    /// The image after the given number of scans.
    func picture(after scan: Int) throws -> Image {
        try Codecs.decode(data.prefix(scans[scan]) + [0xFF, 0xD9])
    }

    /// The number of scans that an image shows; nil when it matches none.
    func scan(of image: Image) -> Int? {
        (1..<scans.count).first { scan in (try? picture(after: scan)).map { image.isSame(as: $0) } ?? false }
    }

    /// The numbers of scans that a collector's images show.
    func scans(_ collector: PreviewCollector) -> [Int?] { collector.images.map(scan) }

    /// A URL of an image on the network that no test loads over a network.
    static let anyURL = URL(string: "http://localhost/a.jpg") ?? fakeURL

    /// A queue on which a processor may wait: the library's own threads are few, and all tests share them.
    static var blockingQueue: KingfisherOptionsInfoItem {
        .processingQueue(.dispatch(DispatchQueue(label: "previews", attributes: .concurrent)))
    }

    /// The response, held back where the given scans have begun.
    func response(holding holds: [(scan: Int, gate: Gate)]) -> TestResponse {
        TestResponse.data(data).with {
            $0.interruption = .holds(holds.map { (bytes(beginning: $0.scan), $0.gate) })
        }
    }
}

extension Image {
    /// Whether all pixels are equal.
    func isSame(as other: Image) -> Bool {
        guard let one = cgImage, let two = other.cgImage else { return false }
        return ImageComparison.psnr(one, two) == .infinity
    }
}

/// Collects previews.
final class PreviewCollector: Sendable {
    private struct State: Sendable {
        var images: [Image] = []
        var isAlwaysMain = true
        var waiting: [(count: Int, gate: Gate)] = []
    }
    private let state = Locked(State())
    private let onPreview: @Sendable (Int) -> ImageProgressive.UpdatingStrategy

    init(onPreview: @escaping @Sendable (_ number: Int) -> ImageProgressive.UpdatingStrategy = { _ in .default }) {
        self.onPreview = onPreview
    }

    var images: [Image] { state.withLock { $0.images } }
    var isAlwaysMain: Bool { state.withLock { $0.isAlwaysMain } }

    func note(_ image: Image?) {
        let isMain = CallbackQueue.isMain
        let gates = state.withLock { state -> [Gate] in
            state.images.append(image ?? Image())
            state.isAlwaysMain = state.isAlwaysMain && isMain
            let count = state.images.count
            defer { state.waiting.removeAll { $0.count <= count } }
            return state.waiting.filter { $0.count <= count }.map(\.gate)
        }
        for gate in gates { gate.open() }
    }

    /// Waits until the given number of previews have come.
    func wait(for count: Int) async {
        let gate = Gate()
        let isThere = state.withLock { state in
            if state.images.count < count { state.waiting.append((count, gate)) }
            return state.images.count >= count
        }
        if !isThere { await gate.wait() }
    }

    /// An option whose previews come to this collector.
    func progressive(blur: Bool = false, fastest: Bool = false, interval: TimeInterval = 0) -> ImageProgressive {
        let progressive = ImageProgressive(isBlur: blur, isFastestScan: fastest, scanInterval: interval)
        progressive.onImageUpdated.delegate(on: self) { collector, image in
            collector.note(image)
            return collector.onPreview(collector.images.count)
        }
        return progressive
    }
}

/// Opens a gate when its last reference is released.
final class LifetimeToken: Sendable {
    let gate = Gate()
    deinit { gate.open() }
}

/// Leaves images unchanged, and can wait or fail for previews; data is decoded by the default processor.
struct PreviewProcessor: ImageProcessor {
    let identifier: String
    /// Called with the number of each preview, counted from 1; returns whether to process it.
    let onPreview: @Sendable (Int) -> Bool
    private let previews = Counter()
    private let token: LifetimeToken?

    init(_ identifier: String = "preview", token: LifetimeToken? = nil, onPreview: @escaping @Sendable (Int) -> Bool) {
        self.identifier = identifier
        self.token = token
        self.onPreview = onPreview
    }

    func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        if case .image = item, !onPreview(previews.add()) { return nil }
        return DefaultImageProcessor.default.process(item: item, options: options)
    }
}
