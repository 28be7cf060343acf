// Reading PNG through libpng, row by row.
#include "../support/libraries.h"
#if KF_HAS_PNG
#include "png_layout.h"
#include "../support/support.h"
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <png.h>

struct kf_png_reader {
    png_structp png;
    png_infop info;
    jmp_buf escape;
    kf_message *message;
    const uint8_t *bytes;
    size_t left;
    // How many of them belong to the chunk under way, or to the signature.
    size_t chunk_left;
    // How many bytes libpng gets at once.
    size_t most;
    bool cut;
    uint32_t height, next_row;
};

static void on_error(png_structp png, png_const_charp text) {
    kf_png_reader *reader = png_get_error_ptr(png);
    kf_fail(reader->message, strstr(text, "memory") ? KF_OUT_OF_MEMORY : KF_MALFORMED, text);
    longjmp(reader->escape, 1);
}
static void on_warning(png_structp png, png_const_charp text) { (void)png; (void)text; }

// libpng makes room for a whole chunk before it finds out that the file ends earlier.
static png_voidp allocate(png_structp png, png_alloc_size_t size) {
    kf_png_reader *reader = png_get_mem_ptr(png);
    return size > reader->most ? NULL : malloc(size);
}
static void release(png_structp png, png_voidp memory) { (void)png; free(memory); }

static size_t number(const uint8_t *bytes) {
    return (size_t)bytes[0] << 24 | (size_t)bytes[1] << 16 | (size_t)bytes[2] << 8 | bytes[3];
}

static bool is_letter(uint8_t byte) { return (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z'); }

// Whether a name, which has to be of letters, is none. libpng gives the image up then, even if a bit of the first byte
// says that the image can be shown without this chunk.
static bool is_misnamed_ancillary(const uint8_t *name) {
    const bool is_ancillary = name[0] & 0x20;
    return is_ancillary && !(is_letter(name[0]) && is_letter(name[1]) && is_letter(name[2]) && is_letter(name[3]));
}

// Goes to the next chunk, if the one before it has been read: libpng does not see those with a malformed name.
static void find_chunk(kf_png_reader *reader) {
    while (reader->chunk_left == 0 && reader->left >= 12) {
        const size_t size = number(reader->bytes);
        const size_t whole = size < reader->left - 12 ? size + 12 : reader->left;
        if (!is_misnamed_ancillary(reader->bytes + 4)) {
            reader->chunk_left = whole;
            return;
        }
        reader->bytes += whole;
        reader->left -= whole;
    }
}

static void read_bytes(png_structp png, png_bytep to, size_t count) {
    kf_png_reader *reader = png_get_io_ptr(png);
    find_chunk(reader);
    if (count > reader->left) {
        reader->left = 0;
        png_error(png, "the data ends too early");
    }
    memcpy(to, reader->bytes, count);
    reader->bytes += count;
    reader->left -= count;
    reader->chunk_left -= count < reader->chunk_left ? count : reader->chunk_left;
}

static void describe(kf_png_reader *reader, kf_png_header *header) {
    png_structp png = reader->png;
    png_infop info = reader->info;
    header->width = png_get_image_width(png, info);
    header->height = reader->height = png_get_image_height(png, info);
    header->interlaced = png_get_interlace_type(png, info) != PNG_INTERLACE_NONE;
    header->has_alpha =
        (png_get_color_type(png, info) & PNG_COLOR_MASK_ALPHA) || png_get_valid(png, info, PNG_INFO_tRNS);
    int intent;
    header->srgb = png_get_sRGB(png, info, &intent) != 0;
    png_charp name;
    int compression;
    png_bytep profile;
    png_uint_32 profile_size;
    if (png_get_iCCP(png, info, &name, &compression, &profile, &profile_size)) {
        header->icc = profile;
        header->icc_size = profile_size;
    }
    double gamma;
    if (png_get_gAMA(png, info, &gamma)) header->gamma = gamma;
    double *c = header->chromaticities;
    header->has_chromaticities =
        png_get_cHRM(png, info, &c[0], &c[1], &c[2], &c[3], &c[4], &c[5], &c[6], &c[7]) != 0;
}

// Whether the file ends inside a chunk.
static bool is_cut(const uint8_t *bytes, size_t size) {
    size_t offset = 8;
    while (offset < size) {
        if (size - offset < 12) return true;
        const uint8_t *chunk = bytes + offset;
        size_t length = number(chunk);
        if (length > size - offset - 12) return true;
        if (memcmp(chunk + 4, "IEND", 4) == 0) return false;
        offset += 12 + length;
    }
    return false;
}

// Whatever the file holds, the rows are to be B, G, R, A of 8 bits.
static void ask_for_bgra(kf_png_reader *reader) {
    png_structp png = reader->png;
    png_set_scale_16(png);
    png_set_expand(png);
    if (!(png_get_color_type(png, reader->info) & PNG_COLOR_MASK_COLOR)) png_set_gray_to_rgb(png);
    png_set_bgr(png);
    png_set_add_alpha(png, 0xFF, PNG_FILLER_AFTER);
}

kf_png_reader *kf_png_open(const uint8_t *bytes, size_t size, kf_png_header *header, kf_message *message) {
    memset(header, 0, sizeof *header);
    kf_png_reader *reader = calloc(1, sizeof *reader);
    if (!reader) {
        kf_fail(message, KF_OUT_OF_MEMORY, "out of memory");
        return NULL;
    }
    reader->message = message;
    reader->bytes = bytes;
    reader->left = size;
    reader->chunk_left = 8;
    // As much as the file has, or what a large profile takes when it is unpacked.
    const size_t largest_profile = 64 << 20;
    reader->most = size > largest_profile ? size : largest_profile;
    if (setjmp(reader->escape)) {
        kf_png_close(reader);
        return NULL;
    }
    reader->png = png_create_read_struct_2(
        PNG_LIBPNG_VER_STRING, reader, on_error, on_warning, reader, allocate, release);
    if (reader->png) reader->info = png_create_info_struct(reader->png);
    if (!reader->info) {
        kf_fail(message, KF_OUT_OF_MEMORY, "out of memory");
        kf_png_close(reader);
        return NULL;
    }
    png_set_read_fn(reader->png, reader, read_bytes);
    // The size is checked by the caller, who has the limits.
    png_set_user_limits(reader->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    // A profile that libpng rejects is checked by lcms; the image is not rejected with it.
    png_set_option(reader->png, PNG_SKIP_sRGB_CHECK_PROFILE, PNG_OPTION_ON);
    // Some files declare a smaller window than their data needs. Our own reader ignores the declaration, and so must
    // libpng.
    png_set_option(reader->png, PNG_MAXIMUM_INFLATE_WINDOW, PNG_OPTION_ON);
    png_set_benign_errors(reader->png, 1);
#ifdef PNG_IGNORE_ADLER32
    // Rows that are there are shown, whether the checksum over all of them is right or not. Where libpng is built
    // without this, a wrong one takes the last row.
    png_set_option(reader->png, PNG_IGNORE_ADLER32, PNG_OPTION_ON);
#endif
    // libpng reads 8 KB at a time or fails. It must get all but the last few bytes of a truncated file.
    reader->cut = is_cut(bytes, size);
    if (reader->cut) png_set_compression_buffer_size(reader->png, 16);
    png_read_info(reader->png, reader->info);
    describe(reader, header);
    // Rows are as long as the caller allows.
    reader->most = SIZE_MAX;
    reader->message = NULL;
    return reader;
}

// Where there is no palette entry, libpng shows black.
static void describe_palette(kf_png_reader *reader, kf_png_layout *layout) {
    png_colorp colors = NULL;
    png_bytep alphas = NULL;
    int count = 0, alpha_count = 0;
    png_get_PLTE(reader->png, reader->info, &colors, &count);
    png_get_tRNS(reader->png, reader->info, &alphas, &alpha_count, NULL);
    for (int i = 0; i < count; i++) {
        layout->palette[i] = (uint32_t)colors[i].red << 16 | (uint32_t)colors[i].green << 8 | colors[i].blue;
    }
    for (int i = 0; i < 256; i++) layout->palette_alpha[i] = i < alpha_count ? alphas[i] : 255;
}

void kf_png_describe_layout(kf_png_reader *reader, kf_png_layout *layout) {
    png_structp png = reader->png;
    png_infop info = reader->info;
    memset(layout, 0, sizeof *layout);
    layout->width = png_get_image_width(png, info);
    layout->height = png_get_image_height(png, info);
    layout->depth = png_get_bit_depth(png, info);
    layout->components = png_get_channels(png, info);
    layout->interlaced = png_get_interlace_type(png, info) != PNG_INTERLACE_NONE;
    layout->cut = reader->cut;
    layout->indexed = png_get_color_type(png, info) == PNG_COLOR_TYPE_PALETTE;
    png_color_16p key = NULL;
    if (layout->indexed) {
        describe_palette(reader, layout);
    } else if (png_get_tRNS(png, info, NULL, NULL, &key) && key) {
        const bool grey = layout->components < 3;
        const uint16_t values[3] = {grey ? key->gray : key->red, key->green, key->blue};
        layout->has_key = true;
        memcpy(layout->key, values, sizeof values);
    }
    // libpng has read the length and the name of the first IDAT chunk, and nothing behind them.
    layout->chunks = reader->bytes - 8;
    layout->chunks_size = reader->left + 8;
}

uint32_t kf_png_read(kf_png_reader *reader, uint8_t *rows, size_t stride, uint32_t count, kf_message *message) {
    uint32_t first = reader->next_row;
    reader->message = message;
    if (setjmp(reader->escape)) {
        // The error may lie behind the last row, which is complete by then.
        reader->next_row = png_get_current_row_number(reader->png);
        return reader->next_row - first;
    }
    if (first == 0) {
        ask_for_bgra(reader);
        png_start_read_image(reader->png);
    }
    while (reader->next_row - first < count && reader->next_row < reader->height) {
        png_read_row(reader->png, rows + (size_t)(reader->next_row - first) * stride, NULL);
        reader->next_row++;
    }
    return reader->next_row - first;
}

bool kf_png_read_interlaced(kf_png_reader *reader, uint8_t *rows, size_t stride, bool *complete, kf_message *message) {
    reader->message = message;
    *complete = false;
    if (setjmp(reader->escape)) return reader->next_row > 0;
    ask_for_bgra(reader);
    int passes = png_set_interlace_handling(reader->png);
    png_start_read_image(reader->png);
    for (int pass = 0; pass < passes; pass++) {
        for (uint32_t y = 0; y < reader->height; y++) {
            png_read_row(reader->png, rows + (size_t)y * stride, NULL);
            reader->next_row = y + 1;
        }
    }
    *complete = true;
    return true;
}

void kf_png_close(kf_png_reader *reader) {
    if (!reader) return;
    if (reader->png) png_destroy_read_struct(&reader->png, &reader->info, NULL);
    free(reader);
}
#endif
