// Helpers for tests of views: places of every kind to load into, and placeholders, indicators and renderers that
// record their calls.

import Foundation
import KFImaging
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

typealias Outcome = Result<RetrieveImageResult, KingfisherError>

extension Result<RetrieveImageResult, KingfisherError> {
    /// The error's code; 0 for a success.
    var code: Int { if case .failure(let error) = self { error.errorCode } else { 0 } }
    var error: KingfisherError? { if case .failure(let error) = self { error } else { nil } }
    /// The error code with which a superseded load ended; 0 for an image, nil if it was not superseded.
    var superseded: Int? {
        guard case .failure(.imageSettingError(.notCurrentSourceTask(let result, let error, _))) = self else {
            return nil
        }
        return result == nil ? (error as? KingfisherError)?.errorCode : 0
    }
}

/// A custom object with an image.
@MainActor class Item: KingfisherHasImageComponent {
    var image: KFCrossPlatformImage?
}

/// A subclass, which inherits its image.
final class ChildItem: Item {}

/// The kinds of places to load into.
enum Place: String, CaseIterable, Sendable {
    case imageView, animatedView, item, button, background, alternate

    @MainActor
    func makeOwner() -> any AnyObject & Sendable {
        switch self {
        case .imageView: KFCrossPlatformImageView()
        case .animatedView: AnimatedImageView()
        case .item: Item()
        case .button, .background, .alternate: KFCrossPlatformButton()
        }
    }
}

/// A place to load into, and the outcomes of all its loads.
@MainActor
final class Target {
    let place: Place
    private(set) var owner: (any AnyObject & Sendable)?
    /// The outcomes in order, each with the number of its load.
    private(set) var ended: [(load: Int, outcome: Outcome)] = []
    private(set) var isAlwaysMain = true
    /// Called at the end of each load.
    var onEnd: () -> Void = {}
    private var promises: [Promise<Outcome>] = []
    private let rig: Rig

    init(_ place: Place, _ rig: Rig, owner: (any AnyObject & Sendable)? = nil) {
        (self.place, self.rig) = (place, rig)
        self.owner = owner ?? place.makeOwner()
    }

    /// Releases the owner.
    func release() { owner = nil }

    /// Waits for the end of a load, of the last one by default; they are counted from 0.
    func outcome(_ load: Int? = nil) async -> Outcome { await promises[load ?? promises.count - 1].value }

    @discardableResult
    func load(
        _ source: (any SourceConvertible)?,
        _ options: KingfisherOptionsInfo = [],
        placeholder: Image? = nil,
        progress: DownloadProgressBlock? = nil
    ) -> DownloadTask? {
        let options = rig.viewOptions + options
        let (number, promise) = (promises.count, Promise<Outcome>())
        promises.append(promise)
        let end: @MainActor (Outcome) -> Void = { [self] outcome in
            isAlwaysMain = isAlwaysMain && CallbackQueue.isMain
            ended.append((number, outcome))
            onEnd()
            promise.fulfil(outcome)
        }
        return start(source, options, placeholder, progress, end)
    }

    private func start(
        _ source: (any SourceConvertible)?,
        _ options: KingfisherOptionsInfo,
        _ image: Image?,
        _ progress: DownloadProgressBlock?,
        _ end: @escaping @MainActor (Outcome) -> Void
    ) -> DownloadTask? {
        switch owner {
        case let view as KFCrossPlatformImageView:
            view.kf.setImage(
                with: source,
                placeholder: image,
                options: options,
                progressBlock: progress,
                completionHandler: end
            )
        case let item as Item: item.kf.load(source, into: item.kf.settableSlot(image), options, .shared, progress, end)
        case let button as KFCrossPlatformButton:
            button.kf.load(source, into: slot(image), options, .shared, progress, end)
        default: nil
        }
    }

    /// The place of the button.
    private func slot(_ placeholder: Image? = nil) -> PropertySlot<KFCrossPlatformButton> {
        switch place {
        case .background: .background(.normal, placeholder)
        case .alternate: .alternate(placeholder)
        default: .image(.normal, placeholder)
        }
    }

    var image: Image? {
        get {
            switch owner {
            case let view as KFCrossPlatformImageView: view.image
            case let item as Item: item.image
            case let button as KFCrossPlatformButton: slot().get(button)
            default: nil
            }
        }
        set {
            switch owner {
            case let view as KFCrossPlatformImageView: view.image = newValue
            case let item as Item: item.image = newValue
            case let button as KFCrossPlatformButton: slot().set(button, newValue, KingfisherParsedOptionsInfo())
            default: break
            }
        }
    }

    var identifier: Source.Identifier.Value? {
        switch owner {
        case let view as KFCrossPlatformImageView: view.kf.taskIdentifier
        case let item as Item: item.kf.taskIdentifier
        case let button as KFCrossPlatformButton: button.kf.identifier(of: slot().place)
        default: nil
        }
    }

    func cancel() {
        switch owner {
        case let view as KFCrossPlatformImageView: view.kf.cancelDownloadTask()
        case let item as Item: item.kf.cancelDownloadTask()
        case let button as KFCrossPlatformButton: button.kf.cancel { [slot = slot()] in $0 == slot.place }
        default: break
        }
    }
}

extension Rig {
    /// The options with which loads of views use this rig.
    var viewOptions: KingfisherOptionsInfo { [.targetCache(cache), .downloader(manager.downloader)] }

    /// Puts an image on the server; its response is held back until the gate opens.
    func route(_ path: String, width: Int = 64, gate: Gate? = nil) throws -> URL {
        server.route(path, TestResponse.data(try SampleImage.png(width, 8)).with { $0.gate = gate })
    }

    /// Puts an image into the cache, in memory and on disk or only on disk.
    func cached(_ path: String, width: Int = 64, inMemory: Bool, _ options: KingfisherOptionsInfo = []) async throws
        -> URL
    {
        let url = try route(path, width: width)
        _ = try await manager.retrieveImage(with: url, options: options + [.waitForCache])
        if !inMemory { cache.clearMemoryCache() }
        return url
    }

    func isInMemory(_ url: URL) -> Bool { cache.imageCachedType(forKey: url.cacheKey) == .memory }

    /// Holds back later operations on disk for a URL until the promise is fulfilled.
    func holdDisk(_ url: URL, _ processor: any ImageProcessor = DefaultImageProcessor.default) -> Promise<Void> {
        let key = url.cacheKey.computedKey(with: processor.identifier)
        let (ticket, mayEnd) = (cache.operations.ticket(forKey: key), Promise<Void>())
        Task { await ticket.run { await mayEnd.value } }
        return mayEnd
    }

    /// Waits until the operations on disk that have begun for a URL are done.
    func waitForDisk(_ url: URL) async { await cache.operations.ticket(forKey: url.cacheKey).run {} }
}

/// Records calls in their order.
@MainActor
final class CallLog {
    var calls: [String] = []
}

/// A placeholder that records its calls.
@MainActor
final class TestPlaceholder: Placeholder {
    let log: CallLog
    init(_ log: CallLog = CallLog()) { self.log = log }
    func add(to imageView: KFCrossPlatformImageView) { log.calls.append("add") }
    func remove(from imageView: KFCrossPlatformImageView) { log.calls.append("remove") }
}

/// A view as a placeholder.
final class ViewPlaceholder: KFCrossPlatformView, Placeholder {}

/// An indicator that records its calls.
@MainActor
final class TestIndicator: Indicator {
    let view = KFCrossPlatformView()
    let log: CallLog
    private(set) var progress: [Double] = []
    init(_ log: CallLog = CallLog()) { self.log = log }
    func startAnimatingView() { log.calls.append("start") }
    func stopAnimatingView() { log.calls.append("stop") }
    func update(progress: Double) { self.progress.append(progress) }
    var centerOffset: CGPoint { CGPoint(x: 1, y: 2) }
    func sizeStrategy(in imageView: KFCrossPlatformImageView) -> IndicatorSizeStrategy {
        .size(CGSize(width: 3, height: 4))
    }
}

/// A renderer on a manual clock.
@MainActor
final class TestRenderer: ViewRenderer {
    var showsMotion = true
    var bounds = CGRect.zero
    var scaleFactor: CGFloat = 1
    private(set) var draws = 0
    /// Called when the content changes.
    var onDraw: () -> Void = {}
    private(set) var calls: [String] = []
    private var links: [ManualDisplayLink] = []

    /// Shows a view on a screen.
    static func show(_ view: KFCrossPlatformView) -> TestRenderer {
        let renderer = TestRenderer()
        view.renderer = renderer
        view.isOnScreen = true
        return renderer
    }

    func advance(by seconds: TimeInterval) { for link in links { link.advance(by: seconds) } }
    /// The number of clocks that run.
    var running: Int { links.filter { !$0.isPaused }.count }

    func makeDisplayLink() -> any DisplayLinkCompatible {
        let link = ManualDisplayLink()
        links.append(link)
        return link
    }
    func contentDidChange() {
        draws += 1
        onDraw()
    }
    func watchLayout() {}
    func visibilityDidChange() { calls.append("visibility") }
    func accessibilityDidChange() { calls.append("accessibility") }
    func didAdd(_ subview: KFCrossPlatformView) { calls.append("add") }
    func didRemove(_ subview: KFCrossPlatformView) { calls.append("remove") }
}
