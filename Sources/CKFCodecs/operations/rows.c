// Rows of premultiplied pixels (0xAARRGGBB) laid over one another.
#include "CKFCodecs.h"
#include <string.h>

// Every component times `weight` / 255, rounded: two at a time, each with 16 bits to itself.
static inline uint32_t scaled(uint32_t pixel, uint32_t weight) {
    uint32_t even = (pixel & 0x00FF00FF) * weight + 0x00800080;
    uint32_t odd = ((pixel >> 8) & 0x00FF00FF) * weight + 0x00800080;
    even = ((even + ((even >> 8) & 0x00FF00FF)) >> 8) & 0x00FF00FF;
    odd = (odd + ((odd >> 8) & 0x00FF00FF)) & 0xFF00FF00;
    return even | odd;
}

static inline uint32_t over(uint32_t above, uint32_t below) {
    uint32_t alpha = above >> 24;
    if (alpha == 255) return above;
    return above == 0 ? below : above + scaled(below, 255 - alpha);
}

void kf_row_over(uint32_t *below, const uint32_t *above, size_t count) {
    const uint64_t opaque = 0xFF000000FF000000;
    size_t i = 0;
    // Most pixels of most animations are opaque or not there, and so are their neighbours.
    for (; i + 4 <= count; i += 4) {
        uint64_t pair[2];
        memcpy(pair, above + i, sizeof pair);
        if ((pair[0] & pair[1] & opaque) == opaque) {
            memcpy(below + i, pair, sizeof pair);
        } else if ((pair[0] | pair[1]) != 0) {
            for (size_t j = i; j < i + 4; j++) below[j] = over(above[j], below[j]);
        }
    }
    for (; i < count; i++) below[i] = over(above[i], below[i]);
}

// Makes no component more than alpha.
static void fit_to_alpha(uint32_t *pixels, size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint32_t pixel = pixels[i], alpha = pixel >> 24;
        uint32_t b = pixel & 0xFF, g = pixel >> 8 & 0xFF, r = pixel >> 16 & 0xFF;
        b = b < alpha ? b : alpha;
        g = g < alpha ? g : alpha;
        r = r < alpha ? r : alpha;
        pixels[i] = alpha << 24 | r << 16 | g << 8 | b;
    }
}

void kf_pixels_take(const uint32_t *restrict source, uint32_t *restrict target, size_t count, bool opaque) {
    if (opaque) {
        for (size_t i = 0; i < count; i++) target[i] = source[i] | 0xFF000000;
        return;
    }
    // Copied before they are looked at; so few that they are still in the nearest cache then.
    enum { block = 4096 };
    for (size_t first = 0; first < count; first += block) {
        const size_t part = count - first < block ? count - first : block;
        memcpy(target + first, source + first, part * sizeof *target);
        fit_to_alpha(target + first, part);
    }
}
