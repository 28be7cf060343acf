// Writing PNG through libpng; its lines are compressed apart where they can be (png_lines.c). Alpha is straight.
#include "../support/libraries.h"
#if KF_HAS_PNG
#include "../support/support.h"
#include "png_colors.h"
#include "png_lines.h"
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <png.h>

struct kf_png_writer {
    png_structp png;
    png_infop info;
    jmp_buf escape;
    kf_message *message;
    kf_buffer buffer;
    kf_png_kind kind;
    uint32_t width;
    // Of an image with a palette; borrowed.
    const kf_png_colors *colors;
    // A row as samples of a byte, where libpng or a line takes these.
    uint8_t *line;
    // NULL where libpng filters and compresses.
    kf_png_lines *lines;
    // The lines compressed.
    kf_buffer stream;
};

static void on_error(png_structp png, png_const_charp text) {
    kf_png_writer *writer = png_get_error_ptr(png);
    kf_fail(writer->message, strstr(text, "memory") ? KF_OUT_OF_MEMORY : KF_UNSUPPORTED, text);
    longjmp(writer->escape, 1);
}
static void on_warning(png_structp png, png_const_charp text) { (void)png; (void)text; }

static void write_bytes(png_structp png, png_bytep bytes, size_t count) {
    kf_png_writer *writer = png_get_io_ptr(png);
    if (!kf_buffer_append(&writer->buffer, bytes, count)) png_error(png, "out of memory");
}
static void flush_bytes(png_structp png) { (void)png; }

static bool is_direct(const kf_png_writer *writer) {
    return writer->kind.type == PNG_COLOR_TYPE_RGB || writer->kind.type == PNG_COLOR_TYPE_RGB_ALPHA;
}

static void write_palette(kf_png_writer *writer, kf_png_colors *colors) {
    png_color palette[KF_PNG_MOST_COLORS];
    png_byte alphas[KF_PNG_MOST_COLORS];
    const uint32_t translucent = kf_png_sort_colors(colors);
    for (uint32_t i = 0; i < colors->count; i++) {
        const uint32_t pixel = colors->pixels[i];
        palette[i] = (png_color){(png_byte)(pixel >> 16), (png_byte)(pixel >> 8), (png_byte)pixel};
        alphas[i] = (png_byte)(pixel >> 24);
    }
    png_set_PLTE(writer->png, writer->info, palette, (int)colors->count);
    if (translucent) png_set_tRNS(writer->png, writer->info, alphas, (int)translucent, NULL);
    writer->colors = colors;
}

static void write_header(kf_png_writer *writer, uint32_t height, bool interlaced, kf_png_colors *colors) {
    png_structp png = writer->png;
    const kf_png_kind kind = writer->kind;
    png_set_IHDR(
        png, writer->info, writer->width, height, kind.depth, kind.type,
        interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
        PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    if (kind.type == PNG_COLOR_TYPE_PALETTE) write_palette(writer, colors);
    // What libpng itself compresses. Level 3 with all filters: of 2 megapixels, a photo takes 0.2 s where zlib's own 6
    // takes 0.9 and saves a twelfth of the bytes; a screenshot 0.04 instead of 0.06 s, with a tenth more bytes. Indices
    // are a third or a quarter of the bytes, not filtered, and up to a seventh smaller by level 6. Chunks of 64 KB
    // instead of 8.
    png_set_compression_level(png, kind.type == PNG_COLOR_TYPE_PALETTE ? 6 : 3);
    png_set_compression_buffer_size(png, 64 * 1024);
    png_set_sRGB(png, writer->info, PNG_sRGB_INTENT_PERCEPTUAL);
}

// Lines of their own, for images that are not interlaced.
static void open_lines(kf_png_writer *writer, uint32_t height) {
    const kf_png_kind kind = writer->kind;
    const bool is_filtered = kind.depth == 8 && kind.type != PNG_COLOR_TYPE_PALETTE;
    const uint32_t samples = png_get_channels(writer->png, writer->info);
    const size_t size = png_get_rowbytes(writer->png, writer->info);
    writer->lines = kf_png_lines_open(size, height, is_filtered ? samples : 0);
}

static bool create_structs(kf_png_writer *writer) {
    writer->png = png_create_write_struct(PNG_LIBPNG_VER_STRING, writer, on_error, on_warning);
    if (writer->png) writer->info = png_create_info_struct(writer->png);
    if (!writer->info) return false;
    png_set_write_fn(writer->png, writer, write_bytes, flush_bytes);
    png_set_user_limits(writer->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    return true;
}

kf_png_writer *kf_png_writer_open(
    uint32_t width, uint32_t height, bool has_alpha, bool interlaced, kf_png_colors *colors, const uint8_t *exif,
    size_t exif_size, kf_message *message
) {
    kf_png_writer *writer = calloc(1, sizeof *writer);
    if (writer) writer->line = malloc((size_t)width * 2);
    if (!writer || !writer->line) {
        kf_fail(message, KF_OUT_OF_MEMORY, "out of memory");
        kf_png_writer_close(writer);
        return NULL;
    }
    writer->message = message;
    writer->width = width;
    writer->kind = kf_png_choose_kind(colors, width, height, has_alpha);
    if (setjmp(writer->escape)) {
        kf_png_writer_close(writer);
        return NULL;
    }
    if (!create_structs(writer)) {
        kf_fail(message, KF_OUT_OF_MEMORY, "out of memory");
        kf_png_writer_close(writer);
        return NULL;
    }
    png_structp png = writer->png;
    write_header(writer, height, interlaced, colors);
    if (exif_size) png_set_eXIf_1(png, writer->info, (png_uint_32)exif_size, (png_bytep)exif);
    png_write_info(png, writer->info);
    if (!interlaced) open_lines(writer, height);
    if (interlaced) png_set_interlace_handling(png);
    if (writer->kind.depth < 8) png_set_packing(png);
    if (is_direct(writer)) png_set_bgr(png);
    if (writer->kind.type == PNG_COLOR_TYPE_RGB) png_set_filler(png, 0, PNG_FILLER_AFTER);
    return writer;
}

// The samples of a row of BGRA, each in a byte.
static void make_line(const kf_png_writer *writer, const uint8_t *row, uint8_t *line) {
    const size_t width = writer->width;
    uint32_t last = 0, index = 0;
    switch (writer->kind.type) {
    case PNG_COLOR_TYPE_GRAY:
        for (size_t x = 0; x < width; x++) line[x] = row[x * 4] >> (8 - writer->kind.depth);
        break;
    case PNG_COLOR_TYPE_GRAY_ALPHA:
        for (size_t x = 0; x < width; x++) {
            line[x * 2] = row[x * 4];
            line[x * 2 + 1] = row[x * 4 + 3];
        }
        break;
    case PNG_COLOR_TYPE_RGB:
        for (size_t x = 0; x < width; x++) {
            for (size_t i = 0; i < 3; i++) line[x * 3 + i] = row[x * 4 + 2 - i];
        }
        break;
    case PNG_COLOR_TYPE_RGB_ALPHA:
        for (size_t x = 0; x < width; x++) {
            for (size_t i = 0; i < 3; i++) line[x * 4 + i] = row[x * 4 + 2 - i];
            line[x * 4 + 3] = row[x * 4 + 3];
        }
        break;
    default:
        for (size_t x = 0; x < width; x++) {
            uint32_t pixel;
            memcpy(&pixel, row + x * 4, 4);
            if (x == 0 || pixel != last) index = kf_png_color_index(writer->colors, pixel);
            last = pixel;
            line[x] = (uint8_t)index;
        }
    }
}

// Packs samples of fewer bits than a byte, the first one highest.
static void pack_line(const uint8_t *samples, uint32_t width, uint32_t depth, uint8_t *line) {
    const uint32_t in_byte = 8 / depth;
    for (uint32_t x = 0; x < width; x++) {
        const uint32_t shift = 8 - depth * (x % in_byte + 1);
        line[x / in_byte] = (uint8_t)((x % in_byte ? line[x / in_byte] : 0) | samples[x] << shift);
    }
}

static void add_line(kf_png_writer *writer, const uint8_t *row) {
    uint8_t *line = kf_png_lines_next(writer->lines);
    const bool is_packed = writer->kind.depth < 8;
    make_line(writer, row, is_packed ? writer->line : line);
    if (is_packed) pack_line(writer->line, writer->width, (uint32_t)writer->kind.depth, line);
    kf_png_lines_add(writer->lines);
}

static void write_line(kf_png_writer *writer, const uint8_t *row) {
    if (!is_direct(writer)) make_line(writer, row, writer->line);
    png_write_row(writer->png, is_direct(writer) ? row : writer->line);
}

kf_status kf_png_write(
    kf_png_writer *writer, const uint8_t *rows, size_t stride, uint32_t count, kf_message *message
) {
    writer->message = message;
    if (setjmp(writer->escape)) return message->status;
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *row = rows + (size_t)i * stride;
        if (writer->lines) add_line(writer, row);
        else write_line(writer, row);
    }
    return KF_OK;
}

// The two chunks that follow the header.
static void write_lines(kf_png_writer *writer) {
    kf_buffer *stream = &writer->stream;
    if (!kf_png_lines_compress(writer->lines, stream)) png_error(writer->png, "out of memory");
    kf_png_lines_close(writer->lines);
    writer->lines = NULL;
    png_write_chunk(writer->png, (png_const_bytep)"IDAT", stream->bytes, stream->size);
    png_write_chunk(writer->png, (png_const_bytep)"IEND", NULL, 0);
}

kf_status kf_png_writer_finish(kf_png_writer *writer, uint8_t **bytes, size_t *size, kf_message *message) {
    writer->message = message;
    if (setjmp(writer->escape)) return message->status;
    if (writer->lines) write_lines(writer);
    else png_write_end(writer->png, NULL);
    kf_buffer_take(&writer->buffer, bytes, size);
    return KF_OK;
}

void kf_png_writer_close(kf_png_writer *writer) {
    if (!writer) return;
    if (writer->png) png_destroy_write_struct(&writer->png, &writer->info);
    kf_png_lines_close(writer->lines);
    free(writer->stream.bytes);
    free(writer->buffer.bytes);
    free(writer->line);
    free(writer);
}
#endif
