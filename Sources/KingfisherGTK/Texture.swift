// Textures over the pixels of images, for the renderers and for paintables.

#if canImport(CKFGTK4)
import CKFGTK
import CKFGTK4
import Foundation
import KFImaging
import Kingfisher

/// A texture over the pixels of an image, which are not copied.
@MainActor
final class Texture {
    let image: Image
    let bitmap: Bitmap
    private let texture: OpaquePointer

    /// A texture of an image's pixels; nil for the empty image.
    private convenience init?(_ image: Image) {
        guard let bitmap = image.cgImage else { return nil }
        self.init(image, bitmap)
    }

    /// A texture that stands for an image, of pixels that may be fewer than the image's.
    init(_ image: Image, _ bitmap: Bitmap) {
        (self.image, self.bitmap) = (image, bitmap)
        texture = Self.make(of: bitmap)
    }

    isolated deinit { g_object_unref(UnsafeMutableRawPointer(texture)) }

    /// Makes a `GdkTexture *` that keeps the pixels; the caller owns it.
    static func make(of bitmap: Bitmap) -> OpaquePointer {
        let bytes = g_bytes_new_with_free_func(
            bitmap.baseAddress,
            gsize(bitmap.bytesPerRow * bitmap.height),
            { bitmap in if let bitmap { Unmanaged<Bitmap>.fromOpaque(bitmap).release() } },
            Unmanaged.passRetained(bitmap).toOpaque()
        )
        defer { g_bytes_unref(bytes) }
        return gdk_memory_texture_new(
            Int32(bitmap.width),
            Int32(bitmap.height),
            GDK_MEMORY_B8G8R8A8_PREMULTIPLIED,
            bytes,
            gsize(bitmap.bytesPerRow)
        )
    }

    /// The texture of an image; the same one as before if it is the same image.
    static func of(_ image: Image?, reusing known: Texture?) -> Texture? {
        guard let image else { return nil }
        return known?.image === image ? known : Texture(image)
    }

    /// The texture as it is to be drawn: turned as the image wants it, as large in points as the image is.
    var drawable: KfImage {
        let (degrees, horizontally, vertically): (Int32, Bool, Bool) =
            switch image.imageOrientation {
            case .up: (0, false, false)
            case .down: (180, false, false)
            case .left: (270, false, false)
            case .right: (90, false, false)
            case .upMirrored: (0, true, false)
            case .downMirrored: (0, false, true)
            case .leftMirrored: (90, false, true)
            case .rightMirrored: (90, true, false)
            }
        return KfImage(
            texture: texture,
            pixels: bitmap.baseAddress,
            bytes_per_row: Int32(bitmap.bytesPerRow),
            is_opaque: bitmap.hasAlpha ? 0 : 1,
            width: image.size.width,
            height: image.size.height,
            degrees: degrees,
            is_mirrored_horizontally: horizontally ? 1 : 0,
            is_mirrored_vertically: vertically ? 1 : 0
        )
    }
}
#endif
