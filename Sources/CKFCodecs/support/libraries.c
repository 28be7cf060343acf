// What is linked, which is what is compiled: one answer for the compiler, the linker and Swift.
#include "libraries.h"
#include "CKFCodecs.h"

// Where Swift's compiler notes the libraries of the modules that a file imports: its linker driver collects them from
// all object files. So what is linked can depend on headers, which a manifest cannot ask for.
//
// The address sanitizer must not put its bytes around them: the linker throws the section away.
#ifdef __clang__
#define KF_NOT_SANITIZED __attribute__((no_sanitize("address")))
#else
#define KF_NOT_SANITIZED
#endif
#define KF_LINK(name, option) \
    KF_NOT_SANITIZED __attribute__((used, section(".swift1_autolink_entries"))) static const char kf_link_##name[] = option;

#if KF_HAS_AVIF
KF_LINK(avif, "-lavif")
#endif
#if KF_HAS_CGIF
KF_LINK(cgif, "-lcgif")
#endif
#if KF_HAS_DEFLATE
KF_LINK(deflate, "-ldeflate")
#else
KF_LINK(zlib, "-lz")
#endif
#if KF_HAS_JPEG
KF_LINK(jpeg, "-ljpeg")
#endif
#if KF_HAS_LCMS
KF_LINK(lcms, "-llcms2")
#endif
#if KF_HAS_PNG
KF_LINK(png, "-lpng")
#endif
#if KF_HAS_TIFF
KF_LINK(tiff, "-ltiff")
#endif
#if KF_HAS_WEBP
KF_LINK(webp, "-lwebp")
KF_LINK(webpdemux, "-lwebpdemux")
KF_LINK(webpmux, "-lwebpmux")
#endif

bool kf_has_library(kf_library library) {
    switch (library) {
    case KF_LIBRARY_AVIF: return KF_HAS_AVIF;
    case KF_LIBRARY_CGIF: return KF_HAS_CGIF;
    case KF_LIBRARY_DEFLATE: return KF_HAS_DEFLATE;
    case KF_LIBRARY_JPEG: return KF_HAS_JPEG;
    case KF_LIBRARY_LCMS: return KF_HAS_LCMS;
    case KF_LIBRARY_PNG: return KF_HAS_PNG;
    case KF_LIBRARY_TIFF: return KF_HAS_TIFF;
    case KF_LIBRARY_WEBP: return KF_HAS_WEBP;
    }
    return false;
}
