// What the cells of a list of images are made of, for programs with more in a cell than an image.

#if canImport(CKFGTK4)
public import Kingfisher

/// A cell of a list: an image view, and the views around it. (Not in Kingfisher.)
///
///     final class PhotoCell: ImageListContent {
///         let imageView = KFCrossPlatformImageView()
///         let title: OpaquePointer = .init(gtk_label_new(nil))
///         let widget: OpaquePointer = .init(gtk_box_new(GTK_ORIENTATION_VERTICAL, 6))
///
///         init() {
///             imageView.fixedSize = CGSize(width: 200, height: 150)
///             for child in [imageView.widget, title] { gtk_box_append(.init(widget), .init(child)) }
///         }
///     }
///
///     let factory = ImageListFactory<PhotoCell>(options: [.sizedToView]) {
///         PhotoCell()
///     } bind: { cell, index in
///         gtk_label_set_text(cell.title, names[index])
///     } source: { index in
///         urls.indices.contains(index) ? .network(urls[index]) : nil
///     }
///
/// An ``ImageListFactory`` makes such objects, and keeps each as long as GTK has its cell. An image view is one by
/// itself.
@MainActor
public protocol ImageListContent: AnyObject {
    /// The view that images are loaded into; always the same one.
    var imageView: KFCrossPlatformImageView { get }

    /// The `GtkWidget *` of the cell, in which the view's widget is; a floating reference is taken.
    var widget: OpaquePointer { get }
}

extension KFCrossPlatformImageView: ImageListContent {
    /// The view itself.
    public var imageView: KFCrossPlatformImageView { self }
}
#endif
