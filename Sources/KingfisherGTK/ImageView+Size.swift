// A size of an image view that its image does not change. For programs.

#if canImport(CKFGTK4)
public import Foundation
public import Kingfisher

extension KFCrossPlatformImageView {
    /// The size of the view, in points (GTK's application pixels), whatever image it shows; nil, as at first, for that of
    /// its image. (Not in Kingfisher.)
    ///
    ///     view.fixedSize = CGSize(width: 64, height: 64)
    ///
    /// It is the minimum and the natural size of the widget, so that nothing around it moves when the image comes. As any
    /// widget, it is given more where it fills or expands: `gtk_widget_set_halign(widget, GTK_ALIGN_CENTER)` and `valign`
    /// have it keep its size there.
    ///
    /// Other views hold their size by themselves: those of an ``ImageListFactory``, those whose image is loaded with the
    /// option `sizedToView`, and those that are filled (`scaleAspectFill`, `scaleToFill`) when
    /// `gtk_widget_set_size_request` has given their widget a width and a height. All others want to be as large as their image. After ``initialize()`` only, on the main thread.
    public var fixedSize: CGSize? {
        get { (renderer as? ImageRenderer)?.fixedSize }
        set { (WidgetRenderer.of(self) as? ImageRenderer)?.fixedSize = newValue }
    }
}
#endif
