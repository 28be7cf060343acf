// One wrapper per C library, so that setjmp and error callbacks never reach Swift. Knows nothing but rows of bytes.
//
// The rules of every function here:
//  * It pulls: the caller asks for rows and gets them in its own memory. No callback of the caller is ever called, so
//    no frame of the caller can be jumped over.
//  * A failure is a status, and its reason a text in a `kf_message`. Nothing is printed anywhere.
//  * "BGRA" is four bytes a pixel in this order in memory. Alpha is straight unless a comment says otherwise.
//  * A reader borrows the encoded bytes until it is closed.
#ifndef CKFCODECS_H
#define CKFCODECS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// ---------------------------------------------------------------------------------------------- failures

typedef enum kf_status {
    KF_OK = 0,
    KF_MALFORMED,
    KF_UNSUPPORTED,
    KF_LIMIT,
    KF_OUT_OF_MEMORY,
} kf_status;

/// Why a call failed, in the words of the library that refused.
typedef struct kf_message {
    kf_status status;
    char text[200];
} kf_message;

const char *kf_message_text(const kf_message *message);

// ---------------------------------------------------------------------------------------------- JPEG

typedef struct kf_jpeg_reader kf_jpeg_reader;

typedef struct kf_jpeg_header {
    uint32_t width, height;
    /// Components as stored: 1 grey, 3 colour, 4 CMYK or YCCK.
    uint32_t components;
    /// The file was written by Adobe's software, which stores inverted CMYK.
    bool adobe;
    bool progressive;
    /// What keeping all coefficients takes in memory; 0 when the file has one scan, and they need not be kept.
    uint64_t coefficient_bytes;
    /// The ICC profile and the EXIF block (after its "Exif\0\0"); NULL when there is none. Live as long as the reader.
    const uint8_t *icc;
    size_t icc_size;
    const uint8_t *exif;
    size_t exif_size;
} kf_jpeg_header;

/// Reads the header. NULL on failure.
kf_jpeg_reader *kf_jpeg_open(const uint8_t *bytes, size_t size, kf_jpeg_header *header, kf_message *message);
/// Begins decoding at `eighths`/8 of the size; answers the size that gives. More scans than `max_scans` are refused.
kf_status kf_jpeg_start(
    kf_jpeg_reader *reader, uint32_t eighths, uint32_t max_scans, uint32_t *width, uint32_t *height,
    kf_message *message);
/// Decodes up to `count` rows: BGRA with alpha 255, or C, M, Y, K as stored. Answers how many rows were written; fewer
/// than asked means that the data is damaged from here on, with the reason in `message`.
uint32_t kf_jpeg_read(kf_jpeg_reader *reader, uint8_t *rows, size_t stride, uint32_t count, kf_message *message);
void kf_jpeg_close(kf_jpeg_reader *reader);

typedef struct kf_jpeg_writer kf_jpeg_writer;

/// Begins a JPEG of opaque BGRA rows. `full_chroma` keeps the colour at full resolution.
kf_jpeg_writer *kf_jpeg_writer_open(
    uint32_t width, uint32_t height, int quality, bool full_chroma, kf_message *message);
kf_status kf_jpeg_write(
    kf_jpeg_writer *writer, const uint8_t *rows, size_t stride, uint32_t count, kf_message *message);
/// Ends the picture and hands over its bytes, to be released with `free`.
kf_status kf_jpeg_writer_finish(kf_jpeg_writer *writer, uint8_t **bytes, size_t *size, kf_message *message);
void kf_jpeg_writer_close(kf_jpeg_writer *writer);

// ---------------------------------------------------------------------------------------------- PNG

typedef struct kf_png_reader kf_png_reader;

typedef struct kf_png_header {
    uint32_t width, height;
    bool has_alpha;
    bool interlaced;
    /// The file says that its colours are sRGB.
    bool srgb;
    const uint8_t *icc;
    size_t icc_size;
    /// The file gamma, 0 when absent; e.g. 0.45455.
    double gamma;
    /// White, red, green, blue as x, y pairs.
    bool has_chromaticities;
    double chromaticities[8];
} kf_png_header;

kf_png_reader *kf_png_open(const uint8_t *bytes, size_t size, kf_png_header *header, kf_message *message);
/// Decodes up to `count` rows of a picture that is not interlaced. Fewer than asked means damaged data.
uint32_t kf_png_read(kf_png_reader *reader, uint8_t *rows, size_t stride, uint32_t count, kf_message *message);
/// Decodes a whole interlaced picture into zeroed memory. Answers whether anything could be decoded.
bool kf_png_read_interlaced(kf_png_reader *reader, uint8_t *rows, size_t stride, bool *complete, kf_message *message);
void kf_png_close(kf_png_reader *reader);

typedef struct kf_png_writer kf_png_writer;

/// Begins a PNG of BGRA rows. The fourth byte is dropped unless `has_alpha`.
kf_png_writer *kf_png_writer_open(uint32_t width, uint32_t height, bool has_alpha, kf_message *message);
kf_status kf_png_write(kf_png_writer *writer, const uint8_t *rows, size_t stride, uint32_t count, kf_message *message);
kf_status kf_png_writer_finish(kf_png_writer *writer, uint8_t **bytes, size_t *size, kf_message *message);
void kf_png_writer_close(kf_png_writer *writer);

// ---------------------------------------------------------------------------------------------- GIF

typedef struct kf_gif_reader kf_gif_reader;

kf_gif_reader *kf_gif_open(const uint8_t *bytes, size_t size, kf_message *message);
/// Draws the first frame on a zeroed canvas. Answers whether at least one row could be decoded.
bool kf_gif_read_first_frame(
    kf_gif_reader *reader, uint8_t *rows, size_t stride, uint32_t width, uint32_t height, kf_message *message);
void kf_gif_close(kf_gif_reader *reader);

// ---------------------------------------------------------------------------------------------- WebP

typedef struct kf_webp_reader kf_webp_reader;

typedef struct kf_webp_header {
    uint32_t width, height;
    bool has_alpha;
    bool animated;
    /// How often the animation plays; 0 means for ever.
    uint32_t loop_count;
    const uint8_t *icc;
    size_t icc_size;
    const uint8_t *exif;
    size_t exif_size;
} kf_webp_header;

kf_webp_reader *kf_webp_open(const uint8_t *bytes, size_t size, kf_webp_header *header, kf_message *message);
/// Decodes the first frame into zeroed memory of `width` × `height` pixels, scaled by the decoder.
kf_status kf_webp_read(
    kf_webp_reader *reader, uint8_t *rows, size_t stride, uint32_t width, uint32_t height, bool premultiplied,
    kf_message *message);
void kf_webp_close(kf_webp_reader *reader);

kf_status kf_webp_encode(
    const uint8_t *rows, size_t stride, uint32_t width, uint32_t height, bool has_alpha, float quality, bool lossless,
    uint8_t **bytes, size_t *size, kf_message *message);

// ---------------------------------------------------------------------------------------------- AVIF

typedef struct kf_avif_reader kf_avif_reader;

typedef struct kf_avif_header {
    /// The coded size, before cropping and turning.
    uint32_t width, height;
    /// What is shown of it: a rectangle of the coded picture.
    uint32_t crop_x, crop_y, crop_width, crop_height;
    /// Quarter turns anticlockwise, to be applied after cropping.
    uint32_t quarter_turns;
    /// Mirroring after turning: 0 none, 1 top and bottom exchanged, 2 left and right exchanged.
    uint32_t mirror;
    bool has_alpha;
    uint32_t frame_count;
    /// Seconds, 0 for a still picture.
    double duration;
    const uint8_t *icc;
    size_t icc_size;
    /// The nclx colour description; 2 means unspecified.
    uint32_t primaries, transfer;
    double chromaticities[8];
} kf_avif_header;

kf_avif_reader *kf_avif_open(const uint8_t *bytes, size_t size, kf_avif_header *header, kf_message *message);
kf_status kf_avif_read(kf_avif_reader *reader, uint8_t *rows, size_t stride, bool premultiplied, kf_message *message);
void kf_avif_close(kf_avif_reader *reader);

/// Encodes straight BGRA rows. `quality` 0…100. Unsupported when the system's libavif has no encoder.
kf_status kf_avif_encode(
    const uint8_t *rows, size_t stride, uint32_t width, uint32_t height, bool has_alpha, int quality,
    uint8_t **bytes, size_t *size, kf_message *message);

// ---------------------------------------------------------------------------------------------- colour

typedef struct kf_color_profile kf_color_profile;
typedef struct kf_color_transform kf_color_transform;

typedef enum kf_color_space { KF_SPACE_OTHER = 0, KF_SPACE_GREY, KF_SPACE_RGB, KF_SPACE_CMYK } kf_color_space;

/// Opens an ICC profile; NULL when it is none.
kf_color_profile *kf_profile_open(const uint8_t *icc, size_t size);
/// A profile of an RGB space: white, red, green, blue as x, y pairs, and a display gamma or (0) sRGB's own curve.
kf_color_profile *kf_profile_rgb(const double chromaticities[8], double gamma);
kf_color_space kf_profile_space(const kf_color_profile *profile);
/// The profile's own description, in UTF-8. Answers its length; 0 when it has none.
size_t kf_profile_name(const kf_color_profile *profile, char *text, size_t capacity);
/// Whether converting from this profile to sRGB would change nothing that can be seen.
bool kf_profile_is_srgb(const kf_color_profile *profile);
void kf_profile_close(kf_color_profile *profile);

/// A conversion to sRGB: relative colorimetric with black point compensation. From BGRA of an RGB or grey profile, or
/// from four CMYK bytes (`inverted`: 255 means no ink). NULL when lcms cannot. May be used by several threads at once.
kf_color_transform *kf_transform_open(const kf_color_profile *profile, bool inverted);
/// Converts pixels of four bytes to BGRA in place. Alpha is kept; from CMYK it is 255.
void kf_transform_apply(const kf_color_transform *transform, uint8_t *pixels, size_t count);
void kf_transform_close(kf_color_transform *transform);

#endif
