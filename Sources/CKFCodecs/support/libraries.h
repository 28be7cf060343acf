// Which libraries this build has: those whose headers the compiler finds. Code that needs another one is left out;
// Swift asks `kf_has_library` before it calls what CKFCodecs.h declares of a library.
#ifndef KF_LIBRARIES_H
#define KF_LIBRARIES_H

#if __has_include(<avif/avif.h>)
#define KF_HAS_AVIF 1
#else
#define KF_HAS_AVIF 0
#endif

#if __has_include(<cgif.h>)
#define KF_HAS_CGIF 1
#else
#define KF_HAS_CGIF 0
#endif

#if __has_include(<libdeflate.h>)
#define KF_HAS_DEFLATE 1
#else
#define KF_HAS_DEFLATE 0
#endif

#if __has_include(<jpeglib.h>)
#define KF_HAS_JPEG 1
#else
#define KF_HAS_JPEG 0
#endif

#if __has_include(<lcms2.h>) && __has_include(<lcms2_plugin.h>)
#define KF_HAS_LCMS 1
#else
#define KF_HAS_LCMS 0
#endif

#if __has_include(<png.h>)
#define KF_HAS_PNG 1
#else
#define KF_HAS_PNG 0
#endif

#if __has_include(<tiffio.h>)
#define KF_HAS_TIFF 1
#else
#define KF_HAS_TIFF 0
#endif

#if __has_include(<webp/decode.h>) && __has_include(<webp/demux.h>) && __has_include(<webp/mux.h>)
#define KF_HAS_WEBP 1
#else
#define KF_HAS_WEBP 0
#endif

#endif
