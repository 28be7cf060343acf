// Reading PNG the fast way: inflated in one go, then rows undone from their filters while they are in the cache. It
// takes images of up to 8 bits that are not interlaced; whatever is unusual is left to libpng.
#include "../support/libraries.h"
#if KF_HAS_PNG && KF_HAS_DEFLATE
#include "png_filter.h"
#include "png_layout.h"
#include <stdlib.h>
#include <string.h>
#include <libdeflate.h>
#include "../support/vectors.h"

// Pixels are loaded and stored in whole vectors; the memory behind a line must allow that.
enum { slack = KF_PNG_FAST_SLACK };

struct kf_png_fast {
    kf_png_layout layout;
    bool premultiplied;
    /// Bytes a line has without its filter byte, and from one pixel to the next (1 for pixels below a byte).
    size_t line_size;
    uint32_t step;
    /// The filtered lines, and the next one of them.
    size_t filtered_size;
    const uint8_t *next;
    uint32_t next_row;
    /// The content of all IDAT chunks together.
    size_t idat_size;
    bool single_idat;
    /// The line that is being undone, and the one before it.
    uint8_t *line, *prior;
    /// The colour of an index or a level of grey: BGRA.
    uint32_t colors[256];
    /// All pixels so far, combined bit by bit with AND.
    uint32_t common;
};

// ------------------------------------------------------------------------------------------ chunks


static uint32_t big_endian(const uint8_t *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

// The IDAT chunk at `offset`, which is moved behind it. NULL when there is none.
static const uint8_t *next_idat(const kf_png_layout *layout, size_t *offset, size_t *size) {
    if (layout->chunks_size - *offset < 12) return NULL;
    const uint8_t *chunk = layout->chunks + *offset;
    *size = big_endian(chunk);
    if (memcmp(chunk + 4, "IDAT", 4) != 0 || *size > layout->chunks_size - *offset - 12) return NULL;
    *offset += 12 + *size;
    return chunk + 8;
}

static void measure_idats(kf_png_fast *fast) {
    size_t offset = 0, size, count = 0;
    while (next_idat(&fast->layout, &offset, &size)) {
        fast->idat_size += size;
        count++;
    }
    fast->single_idat = count == 1;
}

// Copies the content of all IDAT chunks (unless `copy` is NULL). Returns whether their checksums are right.
static bool gather_idats(const kf_png_fast *fast, uint8_t *copy) {
    size_t offset = 0, size;
    const uint8_t *content;
    while ((content = next_idat(&fast->layout, &offset, &size))) {
        if (kf_crc32(content - 4, size + 4) != big_endian(content + size)) return false;
        if (!copy) continue;
        memcpy(copy, content, size);
        copy += size;
    }
    return true;
}

// Inflates a zlib stream to exactly `count` bytes. What its checksum over all of them says is not asked: the rows are
// shown in any case.
static bool inflate(const uint8_t *stream, size_t size, uint8_t *memory, size_t count) {
    // Deflate with a window of at most 32 KB, without a dictionary.
    if (size < 2 || (stream[0] & 0x8F) != 8 || (stream[1] & 0x20) || (stream[0] << 8 | stream[1]) % 31) return false;
    struct libdeflate_decompressor *decompressor = libdeflate_alloc_decompressor();
    bool done = decompressor
        && libdeflate_deflate_decompress(decompressor, stream + 2, size - 2, memory, count, NULL) == LIBDEFLATE_SUCCESS;
    libdeflate_free_decompressor(decompressor);
    return done;
}

// ------------------------------------------------------------------------------------------ pixels

// Four BGRA pixels multiplied with their alphas, rounded.
static KF_INLINE u8x16 premultiply(u8x16 pixels) {
    const u8x16 full = (u8x16){0} - 1;
    u8x16 alphas = __builtin_shufflevector(
        pixels, full, 3, 3, 3, 16, 7, 7, 7, 16, 11, 11, 11, 16, 15, 15, 15, 16);
    u16x16 t = __builtin_convertvector(pixels, u16x16) * __builtin_convertvector(alphas, u16x16) + 128;
    return __builtin_convertvector((t + (t >> 8)) >> 8, u8x16);
}

// Four pixels of two, three or four components as BGRA. Reads sixteen bytes whatever they are.
static KF_INLINE u8x16 four_pixels(const uint8_t *line, uint32_t components, bool premultiplied) {
    const u8x16 full = (u8x16){0} - 1;
    u8x16 v;
    memcpy(&v, line, sizeof v);
    if (components == 3) {
        return __builtin_shufflevector(v, full, 2, 1, 0, 16, 5, 4, 3, 16, 8, 7, 6, 16, 11, 10, 9, 16);
    }
    v = components == 2
        ? __builtin_shufflevector(v, v, 0, 0, 0, 1, 2, 2, 2, 3, 4, 4, 4, 5, 6, 6, 6, 7)
        : __builtin_shufflevector(v, v, 2, 1, 0, 3, 6, 5, 4, 7, 10, 9, 8, 11, 14, 13, 12, 15);
    return premultiplied ? premultiply(v) : v;
}

// Returns all pixels, combined with AND.
static KF_INLINE uint32_t convert(
    const uint8_t *line, uint8_t *row, uint32_t width, uint32_t components, bool premultiplied
) {
    u8x16 common = (u8x16){0} - 1;
    uint32_t x = 0;
    for (; x + 4 <= width; x += 4) {
        u8x16 pixels = four_pixels(line + (size_t)x * components, components, premultiplied);
        common &= pixels;
        memcpy(row + (size_t)x * 4, &pixels, sizeof pixels);
    }
    uint32_t words[4], last[4] = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};
    memcpy(words, &common, sizeof words);
    if (x < width) {
        u8x16 pixels = four_pixels(line + (size_t)x * components, components, premultiplied);
        memcpy(last, &pixels, (size_t)(width - x) * 4);
        memcpy(row + (size_t)x * 4, last, (size_t)(width - x) * 4);
    }
    return words[0] & words[1] & words[2] & words[3] & last[0] & last[1] & last[2] & last[3];
}

KF_CLONES static uint32_t convert_line(
    const uint8_t *line, uint8_t *row, uint32_t width, uint32_t components, bool premultiplied
) {
    switch (components) {
    case 2: return premultiplied ? convert(line, row, width, 2, true) : convert(line, row, width, 2, false);
    case 3: return convert(line, row, width, 3, false);
    default: return premultiplied ? convert(line, row, width, 4, true) : convert(line, row, width, 4, false);
    }
}

// Indices and levels of grey, of 1, 2, 4 or 8 bits, from a column on.
static uint32_t look_up_line(
    const uint8_t *line, uint32_t column, uint8_t *row, uint32_t width, uint32_t depth, const uint32_t colors[256]
) {
    uint32_t common = UINT32_MAX, mask = (1u << depth) - 1;
    for (uint32_t x = 0; x < width; x++) {
        size_t bit = ((size_t)column + x) * depth;
        uint32_t color = colors[line[bit / 8] >> (8 - depth - bit % 8) & mask];
        common &= color;
        memcpy(row + (size_t)x * 4, &color, 4);
    }
    return common;
}

static uint32_t look_up_bytes(const uint8_t *line, uint8_t *row, uint32_t width, const uint32_t colors[256]) {
    uint32_t common = UINT32_MAX;
    for (uint32_t x = 0; x < width; x++) {
        uint32_t color = colors[line[x]];
        common &= color;
        memcpy(row + (size_t)x * 4, &color, 4);
    }
    return common;
}

// Makes the pixels of one colour transparent. Returns whether there were any.
static bool clear_color(uint8_t *row, uint32_t width, uint32_t color, uint32_t replacement) {
    bool found = false;
    for (uint32_t x = 0; x < width; x++) {
        uint32_t pixel;
        memcpy(&pixel, row + (size_t)x * 4, 4);
        found |= pixel == color;
        pixel = pixel == color ? replacement : pixel;
        memcpy(row + (size_t)x * 4, &pixel, 4);
    }
    return found;
}

// Makes `width` pixels of the line, from a column on.
static uint32_t make_pixels(const kf_png_fast *fast, uint32_t column, uint32_t width, uint8_t *row) {
    const kf_png_layout *layout = &fast->layout;
    if (layout->components == 1) {
        return layout->depth == 8 ? look_up_bytes(fast->line + column, row, width, fast->colors)
                                  : look_up_line(fast->line, column, row, width, layout->depth, fast->colors);
    }
    const uint8_t *line = fast->line + (size_t)column * layout->components;
    uint32_t common = convert_line(line, row, width, layout->components, fast->premultiplied);
    if (layout->components == 3 && layout->has_key) {
        uint32_t color = 0;
        for (int i = 0; i < 3; i++) color = color << 8 | (layout->key[i] & 0xFF);
        if (clear_color(row, width, color | 0xFF000000, fast->premultiplied ? 0 : color)) return 0;
    }
    return common;
}

// ------------------------------------------------------------------------------------------ the reader

static uint32_t multiply(uint32_t level, uint32_t alpha) {
    uint32_t t = level * alpha + 128;
    return (t + (t >> 8)) >> 8;
}

static void make_colors(kf_png_fast *fast) {
    const kf_png_layout *layout = &fast->layout;
    uint32_t greatest = (1u << layout->depth) - 1;
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t color = layout->palette[i], alpha = layout->palette_alpha[i];
        if (!layout->indexed) {
            color = (i & greatest) * 255 / greatest * 0x010101;
            alpha = layout->has_key && (layout->key[0] & greatest) == i ? 0 : 255;
        }
        if (fast->premultiplied) {
            color = multiply(color >> 16, alpha) << 16 | multiply(color >> 8 & 0xFF, alpha) << 8
                | multiply(color & 0xFF, alpha);
        }
        fast->colors[i] = alpha << 24 | color;
    }
}

// Whether the image can be read here, by the header and the lengths of chunks.
static bool measure(kf_png_fast *fast) {
    const kf_png_layout *layout = &fast->layout;
    if (layout->interlaced || layout->cut || layout->depth > 8) return false;
    uint64_t bits = (uint64_t)layout->width * layout->depth * layout->components;
    fast->line_size = (bits + 7) / 8;
    fast->step = layout->depth < 8 ? 1 : layout->components;
    if (__builtin_mul_overflow(fast->line_size + 1, (size_t)layout->height, &fast->filtered_size)) return false;
    if (fast->filtered_size > SIZE_MAX / 2) return false;
    measure_idats(fast);
    // Nothing inflates to more than 1032 times its size: a smaller part has been lost.
    return fast->idat_size >= fast->filtered_size / 1032;
}

kf_png_fast *kf_png_fast_open(kf_png_reader *reader, bool premultiplied) {
    kf_png_fast *fast = calloc(1, sizeof *fast);
    if (!fast) return NULL;
    kf_png_describe_layout(reader, &fast->layout);
    fast->premultiplied = premultiplied;
    fast->common = UINT32_MAX;
    if (measure(fast)) {
        fast->line = calloc(2, fast->line_size + slack);
        if (fast->line) fast->prior = fast->line + fast->line_size + slack;
    }
    if (!fast->line) {
        kf_png_fast_close(fast);
        return NULL;
    }
    if (fast->layout.components == 1) make_colors(fast);
    return fast;
}

size_t kf_png_fast_memory(const kf_png_fast *fast) { return fast->filtered_size + slack; }

bool kf_png_fast_inflate(kf_png_fast *fast, uint8_t *memory) {
    size_t offset = 0, size = 0;
    uint8_t *copy = fast->single_idat ? NULL : malloc(fast->idat_size + 1);
    const uint8_t *content = fast->single_idat ? next_idat(&fast->layout, &offset, &size) : copy;
    // Exactly as many bytes as the lines need: more or less is left to libpng, and so are wrong checksums of chunks.
    bool done = content && gather_idats(fast, copy)
        && inflate(content, fast->idat_size, memory, fast->filtered_size);
    free(copy);
    if (done) fast->next = memory;
    return done;
}

// Undoes the filter of the next line. It is complete before its pixels are written: they may be written over it.
static bool begin_line(kf_png_fast *fast) {
    if (!fast->next || fast->next_row == fast->layout.height) return false;
    return kf_png_undo_filter(fast->line, fast->next + 1, fast->prior, fast->line_size, fast->step, fast->next[0]);
}

static void end_line(kf_png_fast *fast) {
    uint8_t *line = fast->line;
    fast->line = fast->prior;
    fast->prior = line;
    fast->next += fast->line_size + 1;
    fast->next_row++;
}

uint32_t kf_png_fast_read(kf_png_fast *fast, uint8_t *rows, size_t stride, uint32_t count) {
    uint32_t done = 0;
    for (; done < count && begin_line(fast); done++) {
        fast->common &= make_pixels(fast, 0, fast->layout.width, rows + (size_t)done * stride);
        end_line(fast);
    }
    return done;
}

bool kf_png_fast_read_part(kf_png_fast *fast, uint32_t column, uint32_t count, uint8_t *pixels) {
    if (column == 0 && !begin_line(fast)) return false;
    fast->common &= make_pixels(fast, column, count, pixels);
    if (column + count == fast->layout.width) end_line(fast);
    return true;
}

bool kf_png_fast_is_opaque(const kf_png_fast *fast) {
    return fast->next_row == fast->layout.height && fast->common >> 24 == 255;
}

void kf_png_fast_close(kf_png_fast *fast) {
    if (!fast) return;
    // Both lines are one piece of memory, which begins with either.
    free(fast->line < fast->prior ? fast->line : fast->prior);
    free(fast);
}
#endif
