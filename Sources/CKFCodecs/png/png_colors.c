// Which colours an image has, and the kind of PNG that follows. Used by the writer.
#include "../support/libraries.h"
#if KF_HAS_PNG
#include "png_colors.h"
#include <stdlib.h>
#include <string.h>
#include <png.h>

enum { most_colors = KF_PNG_MOST_COLORS, slot_count = KF_PNG_COLOR_SLOTS };

kf_png_colors *kf_png_colors_create(void) { return calloc(1, sizeof(kf_png_colors)); }
void kf_png_colors_free(kf_png_colors *colors) { free(colors); }

// The slot that holds the pixel, or the empty one where it belongs.
static uint32_t find_slot(const kf_png_colors *colors, uint32_t pixel) {
    // Fibonacci hashing, to ten bits.
    uint32_t slot = (pixel * 0x9E3779B1u) >> 22;
    while (colors->slots[slot] && colors->pixels[colors->slots[slot] - 1] != pixel) slot = (slot + 1) % slot_count;
    return slot;
}

static bool is_grey(uint32_t pixel) {
    return (pixel & 0xFF) == (pixel >> 8 & 0xFF) && (pixel & 0xFF) == (pixel >> 16 & 0xFF);
}

// The fewest bits that hold a level: those of 1, 2 and 4 bits are spread evenly over 0…255.
static uint32_t level_depth(uint32_t level) {
    return level % 255 == 0 ? 1 : level % 85 == 0 ? 2 : level % 17 == 0 ? 4 : 8;
}

static void note_color(kf_png_colors *colors, uint32_t pixel) {
    colors->is_colored |= !is_grey(pixel);
    colors->has_alpha |= pixel >> 24 < 255;
    const uint32_t depth = level_depth(pixel & 0xFF);
    if (depth > colors->grey_depth) colors->grey_depth = depth;
}

static void add_pixel(kf_png_colors *colors, uint32_t pixel) {
    if (colors->count <= most_colors) {
        const uint32_t slot = find_slot(colors, pixel);
        if (colors->slots[slot]) return;
        if (colors->count < most_colors) {
            colors->pixels[colors->count] = pixel;
            colors->slots[slot] = (uint16_t)(colors->count + 1);
        }
        colors->count++;
    }
    note_color(colors, pixel);
}

bool kf_png_colors_add(
    kf_png_colors *colors, const uint8_t *rows, size_t stride, uint32_t width, uint32_t count
) {
    for (uint32_t y = 0; y < count; y++) {
        const uint8_t *row = rows + y * stride;
        uint32_t last = 0;
        for (uint32_t x = 0; x < width; x++) {
            uint32_t pixel;
            memcpy(&pixel, row + (size_t)x * 4, 4);
            if (x > 0 && pixel == last) continue;
            last = pixel;
            add_pixel(colors, pixel);
        }
        if (colors->count > most_colors && colors->is_colored) {
            colors->is_partial = true;
            return false;
        }
    }
    return true;
}

static uint64_t row_bytes(uint32_t width, uint32_t bits) { return ((uint64_t)width * bits + 7) / 8; }

kf_png_kind kf_png_choose_kind(const kf_png_colors *colors, uint32_t width, uint32_t height, bool has_alpha) {
    const kf_png_kind whole = {has_alpha ? PNG_COLOR_TYPE_RGB_ALPHA : PNG_COLOR_TYPE_RGB, 8};
    if (!colors || colors->is_partial) return whole;
    const bool alpha = colors->has_alpha, grey = !colors->is_colored;
    const kf_png_kind direct = {
        (grey ? 0 : PNG_COLOR_MASK_COLOR) | (alpha ? PNG_COLOR_MASK_ALPHA : 0),
        grey && !alpha ? (int)colors->grey_depth : 8,
    };
    if (colors->count > most_colors) return direct;
    const uint32_t samples = (grey ? 1 : 3) + alpha, count = colors->count;
    const int depth = count <= 2 ? 1 : count <= 4 ? 2 : count <= 16 ? 4 : 8;
    const uint64_t rest = height * row_bytes(width, samples * (uint32_t)direct.depth);
    // A chunk takes 12 bytes besides its content.
    const uint64_t palette = 12 + 3 * (uint64_t)count + (alpha ? 12 + count : 0);
    if (height * row_bytes(width, (uint32_t)depth) + palette >= rest) return direct;
    return (kf_png_kind){PNG_COLOR_TYPE_PALETTE, depth};
}

uint32_t kf_png_color_index(const kf_png_colors *colors, uint32_t pixel) {
    return colors->slots[find_slot(colors, pixel)] - 1u;
}

uint32_t kf_png_sort_colors(kf_png_colors *colors) {
    uint32_t sorted[most_colors], used = 0, translucent = 0;
    for (int opaque = 0; opaque < 2; opaque++) {
        for (uint32_t i = 0; i < colors->count; i++) {
            if ((colors->pixels[i] >> 24 == 255) == opaque) sorted[used++] = colors->pixels[i];
        }
        if (!opaque) translucent = used;
    }
    memset(colors->slots, 0, sizeof colors->slots);
    memcpy(colors->pixels, sorted, used * sizeof *sorted);
    for (uint32_t i = 0; i < used; i++) colors->slots[find_slot(colors, sorted[i])] = (uint16_t)(i + 1);
    return translucent;
}
#endif
