// Loads with the option `sizedToView`: they wait for the first layout of their view, and load again when it grows.

import Foundation
import KFImaging
import KFSupport

extension SlotLoad {
    /// The view whose size the image is to have; nil when it is loaded in its own.
    private var sizedView: KFCrossPlatformView? {
        guard options.sizedToView, let owner, let view = slot.view(of: owner) else { return nil }
        return view.contentModeOfImages == .center ? nil : view
    }

    /// The options of the load; nil when they depend on a view that is not laid out yet.
    func sizedOptions() -> KingfisherParsedOptionsInfo? {
        guard let view = sizedView else { return options }
        guard view.isLaidOut else { return nil }
        size = view.imageSize(instead: present)
        guard let size else { return options }
        return view.sized(options, of: source, for: size, instead: present)
    }

    /// A function that waits for the layout, and gives the options then.
    func optionsAfterLayout() -> @Sendable () async -> KingfisherParsedOptionsInfo {
        let wait = LayoutWait()
        state.layoutWait = wait
        let end = wait.end
        // Later: several layouts may follow each other, and a load may change what is laid out.
        let view = sizedView
        view?.onLayout = { [weak view] in
            if view?.isLaidOut == true { CallbackQueue.mainAsync.execute { wait.end.fulfil(()) } }
        }
        return { [self] in
            await withTaskCancellationHandler {
                await end.value
            } onCancel: {
                end.fulfil(())
            }
            return await MainActor.run {
                if owner == nil { state.supersede() }  // the image is not wanted any more
                return sizedOptions() ?? options
            }
        }
    }

    /// Shows a larger image of the source, which is in memory, until the right one is there.
    func showLargerImage(in manager: KingfisherManager) {
        guard let size, let view = sizedView, let owner else { return }
        guard !options.keepCurrentImageWhileLoading || slot.isEmpty(owner) else { return }
        for larger in LoadedSizes.larger(than: size, of: source.cacheKey(options)) {
            var sized = view.sized(options, of: source, for: larger, instead: present)
            if case .hit(let hit) = manager.beginning(of: source, &sized) {
                return slot.show(hit.image, owner, options)
            }
        }
    }

    /// From now on, loads the image again when its view grows beyond it.
    func watchLayout(of image: KFCrossPlatformImage, _ manager: KingfisherManager) {
        guard let size, let view = sizedView else { return }
        LoadedSizes.add(size, of: source.cacheKey(options))
        let isOriginal = options.processor.identifier.isEmpty && size.contains(image)
        // A newer load may be under way since the transition to this image began.
        guard state.identifier == nil, !isOriginal else { return }
        loadAgain(manager, whenTooSmall: image)
        view.onLayout?()  // it may have grown since the load began
    }

    /// From the next layout on, loads the image again when its view needs another size than this load has.
    func loadAgain(_ manager: KingfisherManager, whenTooSmall image: KFCrossPlatformImage) {
        guard let view = sizedView else { return }
        view.onLayout = { [self, weak image, weak view] in
            guard let view, let image, view.isLarger(than: image),
                let needed = view.imageSize(instead: image), needed != size
            else { return }
            guard let owner, slot.isShowing(image, owner) else { return view.onLayout = nil }
            loadAgain(manager, instead: image)
        }
    }

    /// Loads the image for the present size of the view; the present image stays until then, or if it fails.
    private func loadAgain(_ manager: KingfisherManager, instead present: KFCrossPlatformImage) {
        guard let owner else { return }
        var options = options
        options.keepCurrentImageWhileLoading = true
        options.transition = .none
        options.onFailureImage = nil
        let task = Self.start(
            source,
            slot,
            of: owner,
            options: options,
            manager: manager,
            instead: present,
            progressBlock: nil,
            completion: nil
        )
        slot.view(of: owner)?.growth = task
    }
}
