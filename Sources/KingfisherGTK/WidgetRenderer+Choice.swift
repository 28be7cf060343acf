// Chooses the renderer of a view: the one place that names all of them.

#if canImport(CKFGTK4)
import CKFGTK4
import Kingfisher

extension WidgetRenderer {
    /// The renderer of a view, made when its widget is needed first.
    static func of(_ view: KFCrossPlatformView) -> WidgetRenderer {
        if let known = view.renderer as? WidgetRenderer { return known }
        let new: WidgetRenderer =
            switch view {
            case let view as ZoomView: ZoomRenderer(view)
            case let view as KFCrossPlatformImageView: ImageRenderer(view)
            case let view as KFCrossPlatformButton: ButtonRenderer(view)
            case let view as SpinnerView: SpinnerRenderer(view)
            case let view as ProgressRingView: RingRenderer(view)
            case let view as KFWidgetView: WidgetRenderer(view, widget: view.wrapped)
            default: ContainerRenderer(view)
            }
        view.renderer = new
        for subview in view.subviews { new.didAdd(subview) }
        new.visibilityDidChange()
        new.accessibilityDidChange()
        new.contentDidChange()
        return new
    }
}

/// The widget of a view that shows nothing but other views.
@MainActor
private final class ContainerRenderer: WidgetRenderer {
    init(_ view: KFCrossPlatformView) { super.init(view, widget: gtk_overlay_new()) }

    override var overlay: OpaquePointer? { OpaquePointer(widget) }

    override var isAsLargeAsSubviews: Bool { true }
}
#endif
