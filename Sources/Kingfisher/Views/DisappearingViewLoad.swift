// A load of an image view that ends when the view leaves the screen, and begins again when it is back. For image views
// with `cancelOnDisappear`.

import Foundation

/// One call of `setImage`: it may need several loads, and its handler is called once.
@MainActor
final class DisappearingViewLoad {
    typealias Completion = @MainActor (Result<RetrieveImageResult, KingfisherError>) -> Void

    private weak var view: KFCrossPlatformImageView?
    private let source: Source
    private let start: @MainActor (KFCrossPlatformImageView, Completion?) -> DownloadTask?
    private let completion: Completion?
    private var load = LoadWhileVisible()
    /// The error with which a load has ended because the view left; nil once the next one has begun.
    private var pause: KingfisherError?

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
        pause = nil
        let number = load.begin()
        return start(view) { [self] in loadDidEnd($0, number) }
    }

    func viewDidDisappear() {
        guard let view, load.leave() else { return }
        KingfisherWrapper<KFCrossPlatformImageView>(view).cancel()
    }

    func viewDidAppear() { if pause != nil { begin() } }

    /// The program cancels the load: it does not begin again.
    func cancelForGood() {
        load.finish()
        if let pause { end(.failure(pause)) }
    }

    /// Another load takes its place, or the view is released.
    func supersede() {
        load.finish()
        guard let pause else { return }
        end(.failure(.imageSettingError(reason: .notCurrentSourceTask(result: nil, error: pause, source: source))))
    }

    private func loadDidEnd(_ result: Result<RetrieveImageResult, KingfisherError>, _ number: Int) {
        let hasLeft = !load.end(number, isFailed: false) && load.phase == .waiting
        guard hasLeft, case .failure(let error) = result, error.isTaskCancelled, let view else { return end(result) }
        pause = error
        if view.isOnScreen { begin() }
    }

    private func end(_ result: Result<RetrieveImageResult, KingfisherError>) {
        pause = nil
        if let view, view.disappearingLoad === self { view.disappearingLoad = nil }
        completion?(result)
    }
}
