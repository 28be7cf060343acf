// The baselines in C: the simplest code that does the same work with other libraries.
#ifndef CBASELINE_H
#define CBASELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Decodes a JPEG at `eighths`/8 of its size to BGRA with libjpeg-turbo, as its documentation shows; returns the
/// pixels, to be released with `free`, or NULL.
uint8_t *baseline_jpeg(const uint8_t *bytes, size_t size, unsigned eighths, size_t *width, size_t *height);

/// Starts libvips once, without its cache of operations: the same image is requested again and again.
bool baseline_vips_start(void);
/// Decodes an image and fits it into a square; returns its pixels, to be released with `free`, and how many bytes they
/// take, or NULL.
uint8_t *baseline_vips_thumbnail(const uint8_t *bytes, size_t size, int side, size_t *count);

/// Decodes a PNG to BGRA through libpng's simplified API; returns the pixels, to be released with `free`, or NULL.
uint8_t *baseline_png(const uint8_t *bytes, size_t size, size_t *width, size_t *height);
/// Encodes RGB with libpng's default settings; returns the bytes of a PNG, to be released with `free`, or NULL.
uint8_t *baseline_png_encode(const uint8_t *pixels, size_t width, size_t height, size_t *size);
/// The same as `baseline_png` through libspng, to RGBA.
uint8_t *baseline_spng(const uint8_t *bytes, size_t size, size_t *width, size_t *height);
/// Decodes a PNG to memory through libvips, in the components that the file has; returns how many bytes they took, 0 on
/// failure.
size_t baseline_vips_png(const uint8_t *bytes, size_t size);

/// Decodes a TIFF of strips in a file to the components that it has; returns the pixels, to be released with `free`, or
/// NULL.
uint8_t *baseline_tiff(const char *path, size_t *width, size_t *height);

/// Decodes a WebP to premultiplied BGRA with libwebp; returns the pixels, to be released with `free`, or NULL.
uint8_t *baseline_webp(const uint8_t *bytes, size_t size, size_t *width, size_t *height);
/// Decodes an AVIF to premultiplied BGRA with libavif on one thread, through libaom or the decoder that libavif
/// prefers; returns the pixels, to be released with `free`, or NULL.
uint8_t *baseline_avif(const uint8_t *bytes, size_t size, bool aom, size_t *width, size_t *height);

/// The coding of an AVIF's colours.
typedef struct baseline_avif_kind {
    unsigned depth;
    bool halves_chroma, is_full_range;
    /// The number of the matrix in H.273: 1 is BT.709, 6 is BT.601, and 9 BT.2020.
    unsigned short matrix;
} baseline_avif_kind;
/// Encodes opaque BGRA as an AVIF of some kind, with the colours of sRGB and little loss; returns its bytes, to be
/// released with `free`, or NULL.
uint8_t *baseline_avif_encode(
    const uint8_t *bgra, size_t stride, size_t width, size_t height, baseline_avif_kind kind, size_t *size);

/// Resizes an image of three bytes a pixel with Lanczos; returns pixels of the same kind, to be released with `free`,
/// and how many bytes they take, or NULL.
uint8_t *baseline_vips_resize(const uint8_t *rgb, size_t width, size_t height, double scale, size_t *count);
/// Blurs an image of three bytes a pixel; returns how many bytes the result took, 0 on failure.
size_t baseline_vips_blur(const uint8_t *rgb, size_t width, size_t height, double sigma);

/// Asks the file system to put every folder that is made in this one where there is much room, and not beside the
/// others; has no effect on file systems that do not support it.
void baseline_spread(const char *folder);
/// Reads a file in the shortest way: open, fstat, read, close. Returns its bytes, to be released with `free`, or
/// NULL.
uint8_t *baseline_read(const char *path, size_t *size);
/// Writes a file so that no reader ever sees half of it: open, write, close, rename.
bool baseline_store(const char *temporary, const char *path, const uint8_t *bytes, size_t size);

/// Downloads URLs through libcurl's multi interface on this thread, a number of them in flight at a time; returns
/// how many bytes all bodies have together, 0 when one is not received.
size_t baseline_curl(const char *const *urls, size_t count, size_t in_flight);

/// Counts the allocations of all threads from now on; false if they do not come to the functions that count.
bool baseline_start_counting_allocations(void);
/// Counts no longer; returns how many allocations there were.
size_t baseline_stop_counting_allocations(void);

#endif
