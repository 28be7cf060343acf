// Prefetches the images of a list: the ones that come next, the way its views load them. For ImageList.

#if canImport(CKFGTK4)
import Foundation
import Kingfisher

/// The prefetching of one list, as far as its visible cells tell how.
@MainActor
final class ListPrefetching {
    var window = 40 { didSet { coordinator?.window = window } }
    var options: KingfisherOptionsInfo? { didSet { terms = nil } }
    private let manager: KingfisherManager
    private let source: @MainActor (Int) -> Source?
    private var coordinator: PrefetchCoordinator?
    /// What the coordinator was made for; nil when another is needed.
    private var terms: Terms?
    /// The rows that were reported; nil when they have to be reported again.
    private var reported: Range<Int>?

    /// What loads of views depend on, beside their options.
    private struct Terms: Equatable {
        let size: ViewImageSize?
        let scale: CGFloat
    }

    init(
        options: KingfisherOptionsInfo?,
        manager: KingfisherManager,
        source: @escaping @MainActor (Int) -> Source?
    ) {
        (self.options, self.manager, self.source) = (options, manager, source)
    }

    /// The items of some rows may be others than before.
    func listDidChange() { reported = nil }

    /// Prefetches the rows that follow the visible ones.
    ///
    /// - Parameters:
    ///   - rows: The rows; nil when none is visible.
    ///   - view: The view of one of them.
    func show(_ rows: Range<Int>?, like view: KFCrossPlatformImageView?) {
        guard let rows, let view else {
            reported = nil
            coordinator?.stop()
            return
        }
        let wanted = Terms(size: view.imageSize(instead: nil), scale: view.contentScaleFactor)
        if terms != wanted {
            (coordinator, reported) = (makeCoordinator(like: view), nil)
            terms = coordinator == nil ? nil : wanted
        }
        guard reported != rows else { return }
        reported = rows
        coordinator?.visibleRows(rows)
    }

    private func makeCoordinator(like view: KFCrossPlatformImageView) -> PrefetchCoordinator? {
        // It asks on the thread that reports rows, which is the main one.
        let coordinator = PrefetchCoordinator(like: view, window: window, options: options, manager: manager) {
            [source] row in
            MainActor.assumeIsolated { source(row) }
        }
        coordinator?.maxConcurrentDownloads = 16
        return coordinator
    }
}
#endif
