// Gives the image of an image view to other programs, through the clipboard and by dragging. For programs.

#if canImport(CKFGTK4)
import CKFGTK4
import Foundation
import KFImaging
public import Kingfisher

/// What the clipboard is given, and what is dragged.
private typealias Content = UnsafeMutablePointer<GdkContentProvider>

extension KFCrossPlatformImageView {
    /// Puts the image on the clipboard. (Not in Kingfisher.)
    ///
    /// There it is a texture, which other programs can read as PNG, JPEG or TIFF, the way the image is shown; of an
    /// animation, the first frame. The original's bytes are there as well, as `image/webp` or whatever their format is:
    /// those of an animation, and those of a still that no processor has changed, if the target cache of the view's
    /// last load has them on disk, or they are in a local file. They are read after the call has returned; then a
    /// `ZoomView` gives the texture of all of the original's pixels, too.
    ///
    /// After ``KFGTK/initialize()`` only, on the main thread.
    ///
    /// - Returns: False when there is no image; the clipboard stays as it is.
    @discardableResult
    public func copy() -> Bool {
        guard image?.cgImage != nil else { return false }
        let clipboard = gtk_widget_get_clipboard(WidgetRenderer.of(self).widget)
        offer(
            get: { gdk_clipboard_get_content(clipboard) },
            set: { gdk_clipboard_set_content(clipboard, $0) }
        )
        return true
    }

    /// Whether the user can drag the image out of the view, to where it is copied; the content is that of ``copy()``.
    /// (Not in Kingfisher.)
    ///
    /// An image that is larger than its `ZoomView` is moved instead.
    ///
    /// After ``KFGTK/initialize()`` only, on the main thread.
    public var allowsDragging: Bool {
        get { dragSource != nil }
        set {
            guard newValue != allowsDragging, let renderer = WidgetRenderer.of(self) as? ImageRenderer else { return }
            if let source = renderer.dragSource {
                renderer.dragSource = nil
                gtk_widget_remove_controller(renderer.widget, source)
            } else if let source = gtk_drag_source_new() {
                renderer.dragSource = source
                // When the button is pressed, before it is known whether the pointer will be moved.
                KFGTK.connect("begin", of: UnsafeMutableRawPointer(source)) { [weak self] _ in self?.offerToDrag() }
                gtk_widget_add_controller(renderer.widget, source)
            }
        }
    }

    private func offerToDrag() {
        offer(
            get: { [weak self] in self?.dragSource.flatMap { gtk_drag_source_get_content($0) } },
            set: { [weak self] content in self?.dragSource.map { gtk_drag_source_set_content($0, content) } }
        )
    }

    private var dragSource: OpaquePointer? { (renderer as? ImageRenderer)?.dragSource }

    /// Offers the image as a texture at once, and with its original bytes when they have been read.
    ///
    /// If there is something else by then, that stays. Without an image there is nothing to offer.
    private func offer(get: @escaping @MainActor () -> Content?, set: @escaping @MainActor (Content?) -> Void) {
        let pixels = image.flatMap { makeContent(of: $0) }
        set(pixels)
        guard let image, let pixels else { return }
        Task {
            // Kept until then, so that nothing else can have its address.
            defer { g_object_unref(pixels) }
            guard let bytes = await originalBytes(of: image), get() == pixels else { return }
            let whole = await wholeImage(of: image, decodedFrom: bytes)
            guard get() == pixels else { return }
            let content = makeContent(of: whole, bytes: bytes)
            set(content)
            if let content { g_object_unref(content) }
        }
    }
}

/// What an image is for other programs: its original bytes, which are preferred, and its texture.
@MainActor
private func makeContent(of image: KFCrossPlatformImage, bytes: Data? = nil) -> Content? {
    guard let texture = image.gdkTexture else { return nil }
    var value = GValue()
    g_value_init(&value, gdk_texture_get_type())
    g_value_set_object(&value, UnsafeMutableRawPointer(texture.pointer))
    defer { g_value_unset(&value) }
    let pixels = gdk_content_provider_new_for_value(&value)
    guard let bytes, let type = ImageContentType(sniffing: bytes), let name = type.mediaType else { return pixels }
    let copy = bytes.withUnsafeBytes { g_bytes_new($0.baseAddress, gsize($0.count)) }
    defer { g_bytes_unref(copy) }
    var parts = [gdk_content_provider_new_for_bytes(name, copy), pixels]
    return gdk_content_provider_new_union(&parts, gsize(parts.count))
}

extension ImageContentType {
    /// The media type of an image format; nil for kinds without a usual extension.
    fileprivate var mediaType: String? {
        switch self {
        case .jpeg: "image/jpeg"
        case .svg: "image/svg+xml"
        case .pdf: "application/pdf"
        default: preferredFileExtension.map { "image/\($0)" }
        }
    }
}
#endif
