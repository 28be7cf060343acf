// One wrapper per C library, so that setjmp and error callbacks never reach Swift.
//
// The rules of every function here:
//  * It pulls: the caller requests rows and gets them in its own memory. No callback of the caller is ever called, so
//    no frame of the caller can be jumped over.
//  * A failure is a status, and its reason a text in a `kf_message`. Nothing is printed, but for a line that dav1d
//    writes to standard error when an AVIF is damaged.
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

/// Why a call failed, in the words of the library that failed.
typedef struct kf_message {
    kf_status status;
    char text[200];
} kf_message;

const char *kf_message_text(const kf_message *message);

// ---------------------------------------------------------------------------------------------- libraries

/// The libraries that may be missing when this is compiled.
typedef enum kf_library {
    KF_LIBRARY_AVIF,
    KF_LIBRARY_CGIF,
    KF_LIBRARY_DEFLATE,
    KF_LIBRARY_JPEG,
    KF_LIBRARY_LCMS,
    KF_LIBRARY_PNG,
    KF_LIBRARY_TIFF,
    KF_LIBRARY_WEBP,
} kf_library;

/// Whether a library was there. The functions between KF_OPTIONAL_BEGIN and KF_OPTIONAL_END may only be called if
/// theirs was: else they do not exist, and as they are weak, nothing but a call notices.
bool kf_has_library(kf_library library);

#define KF_OPTIONAL_BEGIN _Pragma("clang attribute push(__attribute__((weak)), apply_to = function)")
#define KF_OPTIONAL_END _Pragma("clang attribute pop")

// ---------------------------------------------------------------------------------------------- checksums

/// The CRC-32 of bytes, by which PNG checks its chunks.
uint32_t kf_crc32(const uint8_t *bytes, size_t size);

// ---------------------------------------------------------------------------------------------- JPEG

KF_OPTIONAL_BEGIN
typedef struct kf_jpeg_reader kf_jpeg_reader;

typedef struct kf_jpeg_header {
    uint32_t width, height;
    /// Components as stored: 1 grey, 3 colour, 4 CMYK or YCCK.
    uint32_t components;
    bool progressive;
    /// The memory that all coefficients take; 0 when the file has one scan, and they need not be kept.
    uint64_t coefficient_bytes;
    /// The ICC profile, the EXIF block (after its "Exif\0\0") and the XMP packet; NULL when there is none. Live as long
    /// as the reader.
    const uint8_t *icc;
    size_t icc_size;
    const uint8_t *exif;
    size_t exif_size;
    const uint8_t *xmp;
    size_t xmp_size;
} kf_jpeg_header;

/// Reads the header. NULL on failure.
kf_jpeg_reader *kf_jpeg_open(const uint8_t *bytes, size_t size, kf_jpeg_header *header, kf_message *message);
/// Begins decoding at `eighths`/8 of the size; returns the size that gives. Colours that several pixels share are
/// blended from pixel to pixel if `smooth_chroma`. More scans than `max_scans` are refused.
kf_status kf_jpeg_start(
    kf_jpeg_reader *reader, uint32_t eighths, bool smooth_chroma, uint32_t max_scans, uint32_t *width, uint32_t *height,
    kf_message *message);
/// Decodes up to `count` rows: BGRA with alpha 255, or C, M, Y, K as stored, where 255 means no ink. Returns how many
/// rows were written; fewer than requested means that the data is damaged from here on, with the reason in `message`.
uint32_t kf_jpeg_read(kf_jpeg_reader *reader, uint8_t *rows, size_t stride, uint32_t count, kf_message *message);
/// Whether something of what has been decoded was damaged, or the data ended before the image was complete.
bool kf_jpeg_is_damaged(const kf_jpeg_reader *reader);
void kf_jpeg_close(kf_jpeg_reader *reader);

/// A reader for a progressive JPEG whose bytes arrive little by little. It keeps the coefficients, and of the bytes
/// only those it still needs. NULL on failure.
kf_jpeg_reader *kf_jpeg_scans_open(kf_message *message);
/// Adds bytes to those that have not been read yet. Returns false when memory has run out.
bool kf_jpeg_scans_append(kf_jpeg_reader *reader, const uint8_t *bytes, size_t size);
/// Reads the header, once. `complete` is false as long as bytes are missing. More scans than `max_scans` are refused.
kf_status kf_jpeg_scans_header(
    kf_jpeg_reader *reader, uint32_t max_scans, kf_jpeg_header *header, bool *complete, kf_message *message);
/// Begins decoding, once, at `eighths`/8 of the size; returns the size that gives. Takes the memory for coefficients.
kf_status kf_jpeg_scans_start(
    kf_jpeg_reader *reader, uint32_t eighths, uint32_t *width, uint32_t *height, kf_message *message);
/// Reads to the end of a scan, counted from 1, that must have arrived with the marker and the header of the next; then
/// begins to decode the image as that scan left it. Its rows come from `kf_jpeg_read`.
kf_status kf_jpeg_scans_begin(kf_jpeg_reader *reader, uint32_t scan, kf_message *message);
/// Ends the image that was begun, complete or not.
kf_status kf_jpeg_scans_end(kf_jpeg_reader *reader, kf_message *message);

typedef struct kf_jpeg_writer kf_jpeg_writer;

/// How the coefficients of a JPEG are written.
typedef enum kf_jpeg_coding {
    /// Row by row, with the tables of codes that the standard gives as an example.
    KF_JPEG_BASELINE,
    /// With tables made for the image, when all rows are there.
    KF_JPEG_OPTIMIZED,
    /// So that all of the image shows early, when all rows are there.
    KF_JPEG_PROGRESSIVE
} kf_jpeg_coding;

/// The colours of a JPEG.
typedef enum kf_jpeg_colors {
    /// None: the brightness alone is written.
    KF_JPEG_GREY,
    /// A sample for each square of four pixels.
    KF_JPEG_HALF_CHROMA,
    /// As many samples as pixels.
    KF_JPEG_FULL_CHROMA
} kf_jpeg_colors;

/// Begins a JPEG of opaque BGRA rows. `steps` are the 64 steps that coefficients of the brightness are rounded to, row
/// by row, and then the 64 of the colours; NULL takes those of the standard's Annex K for `quality`.
kf_jpeg_writer *kf_jpeg_writer_open(
    uint32_t width, uint32_t height, int quality, const uint32_t *steps, kf_jpeg_colors colors, kf_jpeg_coding coding,
    kf_message *message);
/// Writes an EXIF block and an ICC profile, each if its size is not 0, before any row.
kf_status kf_jpeg_writer_describe(
    kf_jpeg_writer *writer, const uint8_t *exif, size_t exif_size, const uint8_t *icc, size_t icc_size,
    kf_message *message);
kf_status kf_jpeg_write(
    kf_jpeg_writer *writer, const uint8_t *rows, size_t stride, uint32_t count, kf_message *message);
/// Ends the image and hands over its bytes, to be released with `free`.
kf_status kf_jpeg_writer_finish(kf_jpeg_writer *writer, uint8_t **bytes, size_t *size, kf_message *message);
void kf_jpeg_writer_close(kf_jpeg_writer *writer);
KF_OPTIONAL_END

// ---------------------------------------------------------------------------------------------- PNG

/// Unpacks the text of a chunk. Returns its length; 0 when it is damaged, or longer than `capacity`.
size_t kf_png_inflate_text(const uint8_t *bytes, size_t size, uint8_t *text, size_t capacity);

KF_OPTIONAL_BEGIN
typedef struct kf_png_reader kf_png_reader;

typedef struct kf_png_header {
    uint32_t width, height;
    bool has_alpha;
    bool interlaced;
    /// The file declares its colours as sRGB.
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
/// Decodes up to `count` rows of an image that is not interlaced. Fewer than requested means damaged data.
uint32_t kf_png_read(kf_png_reader *reader, uint8_t *rows, size_t stride, uint32_t count, kf_message *message);
/// Decodes a whole interlaced image into zeroed memory. Returns whether anything could be decoded.
bool kf_png_read_interlaced(kf_png_reader *reader, uint8_t *rows, size_t stride, bool *complete, kf_message *message);
void kf_png_close(kf_png_reader *reader);

typedef struct kf_png_fast kf_png_fast;

/// A faster way to the rows of a reader from which none have been read. NULL when it does not support the image
/// (interlaced, 16 bits, cut short), or memory has run out: then the rows have to be read from the reader itself.
kf_png_fast *kf_png_fast_open(kf_png_reader *reader, bool premultiplied);
/// How much memory `kf_png_fast_inflate` needs, with these bytes at its end.
enum { KF_PNG_FAST_SLACK = 32 };
size_t kf_png_fast_memory(const kf_png_fast *fast);
/// Inflates the image into memory that is used until the last row is read. False when something is wrong with it.
/// Rows may be written over this memory when it begins no earlier than the rows begin and ends no earlier than they
/// end, the last KF_PNG_FAST_SLACK bytes of it not counted.
bool kf_png_fast_inflate(kf_png_fast *fast, uint8_t *memory);
/// Decodes up to `count` rows. Fewer than requested means damaged data.
uint32_t kf_png_fast_read(kf_png_fast *fast, uint8_t *rows, size_t stride, uint32_t count);
/// Decodes the next `count` pixels of a row, which begin at `column` and do not reach beyond its end. The row is done
/// with its last one. False means damaged data.
bool kf_png_fast_read_part(kf_png_fast *fast, uint32_t column, uint32_t count, uint8_t *pixels);
/// Whether all rows were read, and are opaque.
bool kf_png_fast_is_opaque(const kf_png_fast *fast);
void kf_png_fast_close(kf_png_fast *fast);

/// The colours of an image whose rows are looked at before they are written.
typedef struct kf_png_colors kf_png_colors;

/// NULL when memory has run out.
kf_png_colors *kf_png_colors_create(void);
/// Looks at more rows of straight BGRA. False when the others make no difference: only red, green and blue, with alpha
/// if there is one, can hold the image.
bool kf_png_colors_add(kf_png_colors *colors, const uint8_t *rows, size_t stride, uint32_t width, uint32_t count);
void kf_png_colors_free(kf_png_colors *colors);

typedef struct kf_png_writer kf_png_writer;

/// Begins a PNG of straight BGRA rows, marked as sRGB. With `colors`, which have seen all rows and are needed until the
/// end, it has the smallest kind of pixels that holds these: a palette, or grey, of few bits; without, red, green and
/// blue. The fourth byte is dropped unless `has_alpha`; `exif` is written unless its size is 0. An interlaced one has
/// to be given all rows `KF_PNG_PASSES` times.
kf_png_writer *kf_png_writer_open(
    uint32_t width, uint32_t height, bool has_alpha, bool interlaced, kf_png_colors *colors, const uint8_t *exif,
    size_t exif_size, kf_message *message);
enum { KF_PNG_PASSES = 7 };
kf_status kf_png_write(kf_png_writer *writer, const uint8_t *rows, size_t stride, uint32_t count, kf_message *message);
kf_status kf_png_writer_finish(kf_png_writer *writer, uint8_t **bytes, size_t *size, kf_message *message);
void kf_png_writer_close(kf_png_writer *writer);
KF_OPTIONAL_END

// ---------------------------------------------------------------------------------------------- GIF

/// How much memory `kf_gif_unpack` needs before and after the pixels.
enum { KF_GIF_BEFORE = 256, KF_GIF_AFTER = 16 };

/// Unpacks a frame, one byte a pixel, from the byte that holds the size of its first codes. Returns how many pixels of
/// `count` there were: they begin KF_GIF_BEFORE bytes into `memory`, which has KF_GIF_BEFORE + `count` + KF_GIF_AFTER.
size_t kf_gif_unpack(const uint8_t *bytes, size_t size, uint8_t *memory, size_t count);
/// Looks the colours of pixels up.
void kf_gif_color(const uint8_t *indices, size_t count, const uint32_t colors[256], uint32_t *pixels);

typedef struct kf_gif_writer kf_gif_writer;

/// Colours as three bytes each, red first.
typedef struct kf_gif_colors {
    const uint8_t *bytes;
    uint16_t count;
} kf_gif_colors;

/// One frame of the size of the whole image.
typedef struct kf_gif_frame {
    /// A byte a pixel, without padding, each smaller than the number of colours.
    const uint8_t *indices;
    /// The frame's own colours; none means those of the file.
    kf_gif_colors colors;
    /// The index of pixels that are not painted; -1 when all are.
    int transparent;
    /// Whether everything before becomes transparent first; what is not painted stays otherwise.
    bool erases;
    /// In hundredths of a second.
    uint16_t delay;
} kf_gif_frame;

KF_OPTIONAL_BEGIN
/// Begins a GIF that plays `loop_count` times, at most 65,536, 0 meaning endlessly, with the colours of frames that
/// have none of their own.
kf_gif_writer *kf_gif_writer_open(
    uint16_t width, uint16_t height, kf_gif_colors colors, uint32_t loop_count, kf_message *message);
kf_status kf_gif_writer_add(kf_gif_writer *writer, const kf_gif_frame *frame, kf_message *message);
/// Ends the file and hands over its bytes, to be released with `free`.
kf_status kf_gif_writer_finish(kf_gif_writer *writer, uint8_t **bytes, size_t *size, kf_message *message);
void kf_gif_writer_close(kf_gif_writer *writer);
KF_OPTIONAL_END

// ---------------------------------------------------------------------------------------------- TIFF

KF_OPTIONAL_BEGIN
typedef struct kf_tiff_reader kf_tiff_reader;

typedef struct kf_tiff_header {
    uint32_t width, height;
    /// The tag's value; 1 when there is none.
    uint32_t orientation;
    /// Colours as `kf_tiff_read` gives them: 1 grey (three times the same), 3 colour, 4 CMYK.
    uint32_t components;
    /// The colours are b*, a* and L*, each a byte from 0 to 255: a* and b* plus 128, and L* as a fraction of 255.
    bool lab;
    /// The x and y of the white that they relate to.
    double white[2];
    bool has_alpha;
    /// Lives as long as the reader; NULL when there is none.
    const uint8_t *icc;
    size_t icc_size;
} kf_tiff_header;

/// Reads the first directory, for an image of at most so many pixels: what libtiff takes is held to that, but whether
/// the image keeps to it is for the caller to check. NULL on failure.
kf_tiff_reader *kf_tiff_open(
    const uint8_t *bytes, size_t size, uint64_t most_pixels, kf_tiff_header *header, kf_message *message);
/// Decodes up to `count` rows: BGRA, or C, M, Y, K where 255 is full ink. Returns how many rows were written; fewer
/// than requested means that the data is damaged from here on, with the reason in `message`.
uint32_t kf_tiff_read(kf_tiff_reader *reader, uint8_t *rows, size_t stride, uint32_t count, kf_message *message);
/// The alphas of the last row that was read, a byte each, when the image has inks and an alpha; NULL otherwise.
const uint8_t *kf_tiff_alphas(const kf_tiff_reader *reader);
/// Whether something of what has been decoded is damaged, or was made up for what the file lacks.
bool kf_tiff_is_damaged(const kf_tiff_reader *reader);
void kf_tiff_close(kf_tiff_reader *reader);

typedef struct kf_tiff_writer kf_tiff_writer;

/// Begins a TIFF of BGRA rows, with straight alpha or without, and an ICC profile if its size is not 0.
kf_tiff_writer *kf_tiff_writer_open(
    uint32_t width, uint32_t height, bool has_alpha, const uint8_t *icc, size_t icc_size, kf_message *message);
kf_status kf_tiff_write(
    kf_tiff_writer *writer, const uint8_t *rows, size_t stride, uint32_t count, kf_message *message);
/// Ends the image, of which all rows were written, and hands over its bytes, to be released with `free`.
kf_status kf_tiff_writer_finish(kf_tiff_writer *writer, uint8_t **bytes, size_t *size, kf_message *message);
void kf_tiff_writer_close(kf_tiff_writer *writer);
KF_OPTIONAL_END

// ---------------------------------------------------------------------------------------------- rows

/// Lays premultiplied pixels over others.
void kf_row_over(uint32_t *below, const uint32_t *above, size_t count);

/// Copies pixels of which nothing is known, and which others may go on changing; the copies are premultiplied: no
/// component is more than alpha, which is 255 where all of them are to be opaque.
void kf_pixels_take(const uint32_t *source, uint32_t *target, size_t count, bool opaque);

// ---------------------------------------------------------------------------------------------- WebP

KF_OPTIONAL_BEGIN
typedef struct kf_webp_reader kf_webp_reader;

typedef struct kf_webp_header {
    uint32_t width, height;
    bool has_alpha;
    bool animated;
    /// How often the animation plays; 0 means endlessly.
    uint32_t loop_count;
    const uint8_t *icc;
    size_t icc_size;
    const uint8_t *exif;
    size_t exif_size;
    const uint8_t *xmp;
    size_t xmp_size;
} kf_webp_header;

kf_webp_reader *kf_webp_open(const uint8_t *bytes, size_t size, kf_webp_header *header, kf_message *message);
/// Decodes the first frame into memory of `width` × `height` pixels, scaled by the decoder. Stills fill all of it,
/// frames of animations what they cover. Malformed when not all of the image is there.
kf_status kf_webp_read(
    kf_webp_reader *reader, uint8_t *rows, size_t stride, uint32_t width, uint32_t height, bool premultiplied,
    kf_message *message);
/// Decodes as much of the first frame as there is, in the same way, into zeroed memory. Returns how many rows, from the
/// first one on, are as they should be; those below are left alone.
uint32_t kf_webp_read_part(
    kf_webp_reader *reader, uint8_t *rows, size_t stride, uint32_t width, uint32_t height);
void kf_webp_close(kf_webp_reader *reader);

/// The header of the image of one frame. False when the bytes are no image.
bool kf_webp_frame_header(
    const uint8_t *bytes, size_t size, uint32_t *width, uint32_t *height, bool *has_alpha);
/// Decodes the image of one frame, as it lies in an animation, whose size must be `width` × `height`.
kf_status kf_webp_frame_read(
    const uint8_t *bytes, size_t size, uint8_t *rows, size_t stride, uint32_t width, uint32_t height,
    bool premultiplied, kf_message *message);

/// How WebP is coded. `quality` 0…100, without meaning when `lossless`; `effort` 0…6 where something may be lost, and
/// `lossless_effort` where nothing may, less than 0 for libwebp's best; `preset` in libwebp's order, from 0, the
/// default, to 5.
typedef struct kf_webp_settings {
    float quality;
    bool lossless;
    int effort, lossless_effort, preset;
} kf_webp_settings;

/// Encodes BGRA rows.
kf_status kf_webp_encode(
    const uint8_t *rows, size_t stride, uint32_t width, uint32_t height, bool has_alpha, kf_webp_settings settings,
    uint8_t **bytes, size_t *size, kf_message *message);

/// A copy of a file with an EXIF block and an ICC profile, each if its size is not 0; to be released with `free`.
kf_status kf_webp_describe(
    const uint8_t *file, size_t file_size, const uint8_t *exif, size_t exif_size, const uint8_t *icc, size_t icc_size,
    uint8_t **bytes, size_t *size, kf_message *message);

typedef struct kf_webp_writer kf_webp_writer;

/// How the frames of an animation are coded.
typedef enum kf_webp_coding {
    /// With loss; a frame that has so few colours that this is obviously larger is coded without.
    KF_WEBP_LOSSY,
    /// Each frame both ways, of which the smaller is kept. Slow where colours are many.
    KF_WEBP_SMALLER,
    KF_WEBP_LOSSLESS,
} kf_webp_coding;

/// Begins an animation that plays `loop_count` times, 0 meaning endlessly, and so do more than 65,535.
kf_webp_writer *kf_webp_writer_open(
    uint32_t width, uint32_t height, uint32_t loop_count, kf_webp_settings settings, kf_webp_coding coding,
    kf_message *message);
/// Adds a frame of BGRA rows that cover everything, shown for so many milliseconds.
kf_status kf_webp_writer_add(
    kf_webp_writer *writer, const uint8_t *rows, size_t stride, bool has_alpha, uint32_t milliseconds,
    kf_message *message);
/// Ends the animation and hands over its bytes, to be released with `free`.
kf_status kf_webp_writer_finish(kf_webp_writer *writer, uint8_t **bytes, size_t *size, kf_message *message);
void kf_webp_writer_close(kf_webp_writer *writer);
KF_OPTIONAL_END

// ---------------------------------------------------------------------------------------------- AVIF

typedef struct kf_avif_reader kf_avif_reader;

typedef struct kf_avif_header {
    /// The coded size, before cropping and turning.
    uint32_t width, height;
    /// The part of it that is shown: a rectangle of the coded image.
    uint32_t crop_x, crop_y, crop_width, crop_height;
    /// Rotations by 90° anticlockwise, to be applied after cropping.
    uint32_t quarter_turns;
    /// Mirroring after turning: 0 none, 1 top and bottom exchanged, 2 left and right exchanged.
    uint32_t mirror;
    bool has_alpha;
    uint32_t frame_count;
    /// Seconds, 0 for a still image.
    double duration;
    const uint8_t *icc;
    size_t icc_size;
    /// The nclx colour description; 2 means unspecified.
    uint32_t primaries, transfer;
    double chromaticities[8];
} kf_avif_header;

KF_OPTIONAL_BEGIN
kf_avif_reader *kf_avif_open(const uint8_t *bytes, size_t size, kf_avif_header *header, kf_message *message);
/// How long a frame of a sequence is shown, in seconds.
double kf_avif_delay(const kf_avif_reader *reader, uint32_t index);
/// Decodes a frame, 0 being the first; the one after the last read is cheap.
kf_status kf_avif_read(
    kf_avif_reader *reader, uint32_t index, uint8_t *rows, size_t stride, bool premultiplied, kf_message *message);
void kf_avif_close(kf_avif_reader *reader);

typedef struct kf_avif_writer kf_avif_writer;

/// The EXIF block of a file, to be released with `free`; nothing when there is none.
void kf_avif_exif(const uint8_t *file, size_t file_size, uint8_t **bytes, size_t *size);

/// Whether sequences can be written that do not play endlessly: with libavif 1.0 and later.
bool kf_avif_writes_loop_count(void);
/// Begins a still of one frame, or else a sequence, which plays `loop_count` times if that can be written, 0 meaning
/// endlessly. `quality` 0…100, without meaning when `lossless`. `full_chroma` keeps the colour at full resolution, as
/// `lossless` does. `speed` 0…10, of sequences at most 6. Unsupported when the system's libavif has no encoder.
kf_avif_writer *kf_avif_writer_open(
    uint32_t width, uint32_t height, bool has_alpha, int quality, bool full_chroma, bool lossless, bool is_still,
    int speed, uint32_t loop_count, kf_message *message);
/// Has an EXIF block written with the first frame; the bytes have to stay until that is added.
void kf_avif_writer_describe(kf_avif_writer *writer, const uint8_t *exif, size_t exif_size);
/// Adds a frame of straight BGRA rows, shown for so many milliseconds.
kf_status kf_avif_writer_add(
    kf_avif_writer *writer, const uint8_t *rows, size_t stride, uint32_t milliseconds, kf_message *message);
/// Ends the file and hands over its bytes, to be released with `free`.
kf_status kf_avif_writer_finish(kf_avif_writer *writer, uint8_t **bytes, size_t *size, kf_message *message);
void kf_avif_writer_close(kf_avif_writer *writer);
KF_OPTIONAL_END

/// An image as planes of samples. More than 8 bits lie in words of 16, which begin at even addresses.
typedef struct kf_yuv {
    uint32_t width, height;
    /// Bits of a sample, and of a sample of alpha: 8, 10 or 12.
    uint32_t depth, alpha_depth;
    /// Luma, both planes of chroma (NULL: grey) and alpha (NULL: opaque), and how many bytes lie between rows.
    const uint8_t *planes[4];
    size_t strides[4];
    /// Whether two columns share chroma, and whether two rows do, too. It lies in the middle of those that share it.
    bool halves_columns, halves_rows;
    /// Whether luma and chroma use all values that there are. Alpha always does.
    bool is_full_range;
    /// The weights of red and blue in luma.
    double kr, kb;
    /// Whether the colours were multiplied by alpha before they became these planes.
    bool is_premultiplied;
} kf_yuv;

/// Sets the weights that `matrix`, a number of H.273, stands for. Those that follow from the colours need white, red,
/// green and blue as x, y pairs. False, with nothing set, when it stands for something else than luma and two
/// differences.
bool kf_yuv_find_weights(uint32_t matrix, const double chromaticities[8], kf_yuv *image);

/// Which instructions the loops use. The bytes are the same.
typedef enum kf_yuv_loops { KF_YUV_PORTABLE, KF_YUV_AVX2 } kf_yuv_loops;
/// The fastest that this processor has; those before it work as well.
kf_yuv_loops kf_yuv_best_loops(void);

/// Writes an image of planes as rows of BGRA, with colours multiplied by alpha or not. Chroma that is shared is
/// interpolated linearly. Every byte is within 1 of the formula; black is 0, and white 255. Other depths, and weights
/// that leave next to nothing for green, are not supported.
kf_status kf_yuv_to_bgra(
    const kf_yuv *image, kf_yuv_loops kind, bool premultiplied, uint8_t *rows, size_t stride);

// ---------------------------------------------------------------------------------------------- formats behind traits

// HEIC; only with the package trait of that name.

typedef struct kf_heif_reader kf_heif_reader;

typedef struct kf_heif_header {
    /// The size as libheif says that it is shown, after cropping and turning, and the size that is decoded for it.
    uint32_t width, height, coded_width, coded_height;
    bool has_alpha;
    bool premultiplied;
    const uint8_t *icc;
    size_t icc_size;
    /// The nclx colour description; 2 means unspecified.
    uint32_t primaries, transfer;
    /// White, red, green, blue as x, y pairs.
    double chromaticities[8];
} kf_heif_header;

/// Has libheif load its decoders, for which it opens files. Called once, before the first file is decoded, where files
/// cannot be opened later.
void kf_heif_prepare(void);

/// Reads the header of the primary image. Memory for the pixels must not be allocated before their size has been
/// checked.
kf_heif_reader *kf_heif_open(const uint8_t *bytes, size_t size, kf_heif_header *header, kf_message *message);
/// Decodes the image as it is to be shown; fails when that has another size.
kf_status kf_heif_read(
    kf_heif_reader *reader, uint32_t width, uint32_t height, uint8_t *rows, size_t stride, kf_message *message
);
void kf_heif_close(kf_heif_reader *reader);

// JPEG XL; only with the package trait JXL.

typedef struct kf_jxl_reader kf_jxl_reader;

typedef struct kf_jxl_header {
    /// The size as shown.
    uint32_t width, height;
    bool has_alpha;
    /// The profile, if there is one, is a grey one; the pixels are BGRA nevertheless.
    bool is_grey;
    /// The profile of the pixels; NULL when they are sRGB, or their light reaches beyond white.
    const uint8_t *icc;
    size_t icc_size;
    /// The number of the curve of light beyond white, 16 or 18, else 0; with white, red, green, blue as x, y pairs.
    uint32_t transfer;
    double chromaticities[8];
} kf_jxl_header;

/// Reads the header. The bytes are used until the reader is closed.
kf_jxl_reader *kf_jxl_open(const uint8_t *bytes, size_t size, kf_jxl_header *header, kf_message *message);
/// Decodes the first frame into zeroed rows whose `stride` is the width of four bytes a pixel rounded up to sixteen
/// bytes.
kf_status kf_jxl_read(kf_jxl_reader *reader, uint8_t *rows, size_t stride, kf_message *message);
void kf_jxl_close(kf_jxl_reader *reader);

// ---------------------------------------------------------------------------------------------- colour

typedef struct kf_color_profile kf_color_profile;
typedef struct kf_color_transform kf_color_transform;

typedef enum kf_color_space { KF_SPACE_OTHER = 0, KF_SPACE_GREY, KF_SPACE_RGB, KF_SPACE_CMYK } kf_color_space;

/// Opens an ICC profile; NULL when the bytes are no profile.
KF_OPTIONAL_BEGIN
kf_color_profile *kf_profile_open(const uint8_t *icc, size_t size);
/// A profile of an RGB space: white, red, green, blue as x, y pairs, and a display gamma or (0) sRGB's own curve.
kf_color_profile *kf_profile_rgb(const double chromaticities[8], double gamma);
kf_color_space kf_profile_space(const kf_color_profile *profile);
/// The profile's own description, in UTF-8. Returns its length; 0 when it has none.
size_t kf_profile_name(const kf_color_profile *profile, char *text, size_t capacity);
/// Whether converting from this profile to sRGB would change nothing that can be seen.
bool kf_profile_is_srgb(const kf_color_profile *profile);
void kf_profile_close(kf_color_profile *profile);
/// The ICC profile of sRGB, the same bytes each time, to be released with `free`; nothing when there is no memory.
void kf_profile_srgb(uint8_t **bytes, size_t *size);

/// A conversion to sRGB: relative colorimetric with black point compensation. From BGRA of an RGB or grey profile, or
/// from four CMYK bytes (`inverted`: 255 means no ink). NULL when lcms cannot. May be used by several threads at once.
kf_color_transform *kf_transform_open(const kf_color_profile *profile, bool inverted);
/// Converts pixels of four bytes to BGRA in place. Alpha is kept; from CMYK it is 255.
void kf_transform_apply(const kf_color_transform *transform, uint8_t *pixels, size_t count);
void kf_transform_close(kf_color_transform *transform);
KF_OPTIONAL_END

/// How many steps the tables of a tone mapping have, less one: by the fourth root of light, or by light.
enum { KF_TONE_STEPS = 4096, KF_LIGHT_STEPS = 16384 };

/// A conversion of light beyond white to sRGB. Amounts of light are 0…1 of the brightest that values stand for.
typedef struct kf_tone_mapping {
    /// The light of the 256 values of a component.
    const float *light;
    /// The factors that make a scene's light that of a screen, by its luminance, of which red, green and blue have
    /// these shares; NULL where it is that already.
    const float *system_gains;
    float luminance[3];
    /// The factors, by the brightest component, that make light whose white is 1.
    const float *gains;
    /// The sRGB light of red, of green and of blue, and the bytes for amounts of that.
    float red[3], green[3], blue[3];
    const uint8_t *bytes;
} kf_tone_mapping;

/// Converts pixels of BGRA in place; alpha is kept. Greys stay grey.
void kf_map_tones(const kf_tone_mapping *mapping, uint8_t *pixels, size_t count);

// ---------------------------------------------------------------------------------------------- resizing

/// How many bits behind the point the numbers between the two steps have.
#define KF_BLEND_FRACTION 6

/// Which instructions the two steps use. The bytes are the same.
typedef enum kf_blending { KF_BLENDING_PORTABLE, KF_BLENDING_AVX2, KF_BLENDING_VNNI } kf_blending;
/// The fastest that this processor has; those before it work as well.
kf_blending kf_best_blending(void);

/// The weights that rows have in two lines; `taps`, which is even, for each. A row of the one line that is none of the
/// other has the weight 0 there.
typedef struct kf_row_weights {
    const int16_t *upper, *lower;
    size_t taps;
} kf_row_weights;

/// The sums of rows of `count` bytes, each times its weight. Weights of a line add up to 1 << `precision`, which is 8
/// to 16. Both lines may be the same.
void kf_blend_rows(
    kf_blending blending, const uint8_t *const *rows, kf_row_weights weights, unsigned precision, size_t count,
    int16_t *upper, int16_t *lower);
/// The sums of `taps` pixels each from `starts[x]` on, times weights, for two rows of numbers with `count` pixels each
/// as bytes. No colour of a result exceeds its alpha. `taps` is a multiple of 4, and that many pixels of a row can be
/// read from every start. The two rows share the work of loading the weights; both may be the same.
void kf_blend_columns(
    kf_blending blending, const int16_t *upper, const int16_t *lower, const int32_t *starts, const int16_t *weights,
    size_t taps, unsigned precision, size_t count, uint8_t *upper_output, uint8_t *lower_output);

/// Linear light as whole numbers: the number of white. Sums of rows and columns of it fit into 16 bits, halos too.
#define KF_LIGHT (1 << 14)

/// The light of premultiplied pixels in sRGB, premultiplied as well: four numbers a pixel, alpha from 0 to KF_LIGHT.
void kf_light_of_pixels(const uint8_t *pixels, size_t count, int16_t *output);
/// The same without what only some processors have, for tests.
void kf_light_of_pixels_portably(const uint8_t *pixels, size_t count, int16_t *output);
/// The same as `kf_blend_rows`, for light.
void kf_blend_light_rows(
    kf_blending blending, const int16_t *const *rows, kf_row_weights weights, unsigned precision, size_t count,
    int16_t *upper, int16_t *lower);
/// The same as `kf_blend_columns`, for light, of which pixels in sRGB are made.
void kf_blend_light_columns(
    kf_blending blending, const int16_t *upper, const int16_t *lower, const int32_t *starts, const int16_t *weights,
    size_t taps, unsigned precision, size_t count, uint8_t *upper_output, uint8_t *lower_output);

/// Adds pixels of a row, from column `first` on, to the sums of the boxes that they lie in: four numbers a box, of
/// `box` columns each.
void kf_box_add(const uint8_t *pixels, size_t first, size_t count, size_t box, uint64_t *sums);
/// The means of boxes to which so many rows of `width` pixels have been added; the sums become zero.
void kf_box_average(uint64_t *sums, size_t width, size_t box, size_t rows, uint8_t *output);
/// The same two, for light.
void kf_box_add_light(const int16_t *light, size_t first, size_t count, size_t box, uint64_t *sums);
void kf_box_average_light(uint64_t *sums, size_t width, size_t box, size_t rows, int16_t *output);

// ---------------------------------------------------------------------------------------------- blurring

/// How many bytes the blurring of an image needs in addition to the image.
size_t kf_box_blur_scratch(size_t bytes_per_row, size_t height, uint32_t radius);
/// Every byte becomes the rounded mean of that component in the square of 2 · `radius` + 1 pixels around it; beyond
/// the edges lie the pixels at the edges. Rows, and `scratch`, begin on multiples of 16 bytes; rows are padded to that,
/// and the padding may be overwritten. `radius` is 1 to 32767.
void kf_box_blur(
    uint8_t *pixels, size_t bytes_per_row, size_t width, size_t height, uint32_t radius, uint8_t *scratch);
/// The same, with instructions only that every processor has.
void kf_box_blur_portably(
    uint8_t *pixels, size_t bytes_per_row, size_t width, size_t height, uint32_t radius, uint8_t *scratch);

// ---------------------------------------------------------------------------------------------- colours

/// Looks the blue, green and red of every pixel up in three tables of 256 bytes. Both pointers may be the same.
void kf_map_bytes(const uint32_t *input, uint32_t *output, size_t count, const uint8_t *tables);
/// The same with AVX2, if this processor has it, and the three tables are the same; returns whether it did.
bool kf_map_bytes_avx2(const uint32_t *input, uint32_t *output, size_t count, const uint8_t *tables);

/// Every component becomes own · itself + red · R + green · G + blue · B + offset, in 0…1, in linear light if
/// requested.
typedef struct kf_color_mix {
    float own, red, green, blue, offset;
    bool linear;
} kf_color_mix;

/// Mixes the colours of pixels with straight alpha. Both pointers may be the same.
///
/// A byte is off the formula by the half of a step that rounding takes and, before that, by a third of a step with
/// polynomials, a twentieth otherwise as long as gains stay below a hundred.
void kf_mix_colors(const uint32_t *input, uint32_t *output, size_t count, const kf_color_mix *mix);
/// The same by polynomials with AVX2, if this processor has it, and the gains are 8 at most; returns whether it did.
/// In linear light only.
bool kf_mix_colors_avx2(const uint32_t *input, uint32_t *output, size_t count, const kf_color_mix *mix);

/// The same, with instructions only that every processor has.
void kf_map_bytes_portably(const uint32_t *input, uint32_t *output, size_t count, const uint8_t *tables);
void kf_mix_colors_portably(const uint32_t *input, uint32_t *output, size_t count, const kf_color_mix *mix);

#endif
