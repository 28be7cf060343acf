// Images as paintables and textures of GDK, and images of textures, for programs with widgets of their own.

#if canImport(CKFGTK4)
import CKFGTK
import CKFGTK4
import Dispatch
public import Foundation
public import Kingfisher

/// A reference to a `GdkPaintable *`, for `GtkPicture`, `GtkImage` and other widgets. (Not in Kingfisher.)
///
///     gtk_picture_set_paintable(picture, image.paintable.pointer)
///
/// What is given the pointer takes a reference of its own, as all of GTK does; this object releases the one it has when
/// it is gone, in the main loop's next turn. To use a pointer after that turn, keep the object, or call `g_object_ref`.
@MainActor
public final class KFPaintable {
    /// The `GdkPaintable *`; this object keeps it.
    public let pointer: OpaquePointer

    /// Takes over a reference.
    private init(owning pointer: OpaquePointer) { self.pointer = pointer }

    // Not at once: the object of `image.paintable.pointer` is gone before the pointer is used.
    isolated deinit {
        let address = UInt(bitPattern: pointer)
        DispatchQueue.main.async { g_object_unref(UnsafeMutableRawPointer(bitPattern: address)) }
    }

    /// A paintable that loads its image: empty and without a size at first, then the image; animations play.
    ///
    /// An image in memory is there before the call returns. Otherwise the paintable announces its new size and contents
    /// when the image is there, so that widgets lay it out and draw it. When the last reference to the paintable is
    /// released, the load is cancelled.
    ///
    /// - Parameters:
    ///   - source: A URL or another resource, a provider of data, or a `Source`; nil leaves the paintable empty.
    ///   - options: How the image is loaded, processed and cached; they come after those of the shared manager. There
    ///     are no transitions.
    ///   - completionHandler: Called once, on the main actor, when the image is shown or the load has failed.
    /// - Returns: The paintable.
    public static func load(
        _ source: (any SourceConvertible)?,
        options: KingfisherOptionsInfo? = nil,
        completionHandler: (@MainActor (Result<RetrieveImageResult, KingfisherError>) -> Void)? = nil
    ) -> KFPaintable {
        let paintable = KFPaintable(owning: kf_paintable_new())
        PaintableContent(of: paintable.pointer).load(source, options: options, completionHandler: completionHandler)
        return paintable
    }

    /// A paintable of an image.
    fileprivate static func make(of image: KFCrossPlatformImage) -> KFPaintable {
        let paintable = KFPaintable(owning: kf_paintable_new())
        PaintableContent(of: paintable.pointer).show(image)
        return paintable
    }

    /// The texture of an image.
    fileprivate static func makeTexture(of image: KFCrossPlatformImage) -> KFPaintable? {
        image.kf.normalized.cgImage.map { KFPaintable(owning: Texture.make(of: $0)) }
    }
}

extension KFCrossPlatformImage {
    /// A paintable of the image: turned as the image wants it, as large as the image is in points. (Not in Kingfisher.)
    ///
    /// An animation plays while some widget draws it: the next frame comes only when the one before has been drawn.
    /// Each call makes a new paintable, whose animation starts from the beginning; the pixels are not copied. After
    /// ``KFGTK/initialize()`` only, and on the main thread.
    @MainActor
    public var paintable: KFPaintable { .make(of: self) }

    /// A texture of the image's pixels; nil for the empty image. (Not in Kingfisher.)
    ///
    /// The object's ``KFPaintable/pointer`` is a `GdkTexture *`, which is a `GdkPaintable *`, too. Its size is that of
    /// the image in pixels. The pixels are not copied, unless they have to be turned; of an animation, they are those
    /// of the first frame. Each call makes a new texture. On the main thread.
    @MainActor
    public var gdkTexture: KFPaintable? { .makeTexture(of: self) }

    /// An image of a texture's pixels, which are copied. (Not in Kingfisher.)
    ///
    /// Nil when there is not enough memory. On the main thread.
    ///
    /// - Parameters:
    ///   - texture: A `GdkTexture *`; no reference is kept.
    ///   - scale: Pixels a point; 1 in place of anything but a positive number.
    @MainActor
    public convenience init?(texture: OpaquePointer, scale: CGFloat = 1) {
        let (width, height) = (Int(gdk_texture_get_width(texture)), Int(gdk_texture_get_height(texture)))
        // Both are premultiplied, and in the same order.
        let bitmap = try? CGImage.make(width: width, height: height) { pixels, bytesPerRow in
            gdk_texture_download(texture, pixels.baseAddress, gsize(bytesPerRow))
        }
        guard let bitmap else { return nil }
        self.init(cgImage: bitmap, scale: scale)
    }
}
#endif
