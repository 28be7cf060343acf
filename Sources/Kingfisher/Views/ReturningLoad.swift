// A load of an image view that ends when the view leaves the screen, and begins again when it is back. For image views
// with `cancelOnDisappear`.

import Foundation

/// One call of `setImage`: it may need several loads, and its handler is called once.
@MainActor
final class ReturningLoad {
    typealias Completion = @MainActor (Result<RetrieveImageResult, KingfisherError>) -> Void

    private enum Phase {
        /// A load is under way.
        case loading
        /// The load has been cancelled, as the view has left the screen; its end has not been reported yet.
        case leaving
        /// The load has ended with this error, and begins again when the view is back.
        case away(KingfisherError)
        case ended
    }

    private weak var view: KFCrossPlatformImageView?
    private let source: Source
    private let start: @MainActor (KFCrossPlatformImageView, Completion?) -> DownloadTask?
    private let completion: Completion?
    private var phase = Phase.ended

    /// A load that has not begun.
    init(
        of source: Source,
        in view: KFCrossPlatformImageView,
        completion: Completion?,
        start: @escaping @MainActor (KFCrossPlatformImageView, Completion?) -> DownloadTask?
    ) {
        (self.view, self.source, self.start, self.completion) = (view, source, start, completion)
    }

    /// Begins to load.
    @discardableResult
    func begin() -> DownloadTask? {
        guard let view else { return nil }
        phase = .loading
        return start(view) { [self] in loadDidEnd($0) }
    }

    func viewDidDisappear() {
        guard case .loading = phase, let view else { return }
        phase = .leaving
        KingfisherWrapper<KFCrossPlatformImageView>(view).cancel()
    }

    func viewDidAppear() { if case .away = phase { begin() } }

    /// The program cancels the load: it does not begin again.
    func stay() {
        switch phase {
        case .leaving: phase = .loading
        case .away(let error): end(.failure(error))
        case .loading, .ended: break
        }
    }

    /// Another load takes its place, or the view is released.
    func supersede() {
        switch phase {
        case .leaving: phase = .loading
        case .away(let error):
            end(
                .failure(
                    .imageSettingError(
                        reason: .notCurrentSourceTask(result: nil, error: error, source: source)
                    )
                )
            )
        case .loading, .ended: break
        }
    }

    private func loadDidEnd(_ result: Result<RetrieveImageResult, KingfisherError>) {
        guard case .leaving = phase, case .failure(let error) = result, error.isTaskCancelled, let view else {
            return end(result)
        }
        phase = .away(error)
        if view.isOnScreen { begin() }
    }

    private func end(_ result: Result<RetrieveImageResult, KingfisherError>) {
        phase = .ended
        if let view, view.returningLoad === self { view.returningLoad = nil }
        completion?(result)
    }
}
