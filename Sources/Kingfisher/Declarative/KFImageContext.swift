// The contents of a description, without how its image view is made. For descriptions, views and binders.

import Foundation
import KFImaging

/// The contents of a ``KFImage`` or a ``KFAnimatedImage``: a value, which every chained method copies.
///
/// Its parts are set by the methods of ``KFImageProtocol`` and ``KFOptionSetter``.
public struct KFImageContext: Sendable {
    /// The image or view that is shown until the image is there.
    enum Placeholder: Sendable {
        case none
        case image(KFCrossPlatformImage)
        case view(@MainActor () -> KFCrossPlatformView)
        case progressView(@MainActor (Progress) -> KFCrossPlatformView)
    }

    let source: Source?
    let manager: KingfisherManager
    var options: KingfisherParsedOptionsInfo
    var handlers = KFLoadHandlers()
    var placeholder = Placeholder.none
    var failureView: (@MainActor () -> KFCrossPlatformView)?
    var cancelsOnDisappear = false
    var reducesPriorityOnDisappear = false
    var startsBeforeAppearing = false
    /// Counts more than the options' transition.
    var loadTransition: ImageTransition?

    init(source: Source?, manager: KingfisherManager) {
        (self.source, self.manager) = (source, manager)
        options = manager.parsed(nil)
        options.loadDiskFileSynchronously = true
    }
}
