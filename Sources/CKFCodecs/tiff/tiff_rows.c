// Samples of a TIFF as pixels: 8 and 16 bits, or fewer that are looked up.
#include "tiff_rows.h"
#include <string.h>

static inline uint32_t load(const uint8_t *place, bool deep) {
    if (!deep) return *place;
    uint16_t value;
    memcpy(&value, place, sizeof value);
    return value;
}

// Of 16 bits the nearest of 8: value / 257, rounded.
static inline uint8_t level(uint32_t value, bool deep) { return (uint8_t)(deep ? (value * 255 + 32895) >> 16 : value); }

// Of a* or b* the nearest whole number, above 128. Of 16 bits the lower eight are a fraction.
static inline uint8_t chroma(uint32_t value, bool deep) {
    if (!deep) return (uint8_t)(value ^ 0x80);
    const uint32_t rounded = ((value ^ 0x8000) + 128) >> 8;
    return (uint8_t)(rounded < 255 ? rounded : 255);
}

// A colour without the alpha that it was multiplied by.
static inline uint32_t divided(uint32_t value, uint32_t alpha, uint32_t most) {
    if (alpha == 0) return 0;
    const uint32_t straight = (value * most + alpha / 2) / alpha;
    return straight < most ? straight : most;
}

// The same of a* or b*, which have a sign.
static inline uint32_t divided_chroma(uint32_t value, uint32_t alpha, uint32_t most) {
    const uint32_t sign = most / 2 + 1;
    const uint32_t amount = divided(value & sign ? most + 1 - value : value, alpha, most);
    const uint32_t clamped = amount < sign ? amount : sign - 1;
    return (value & sign ? most + 1 - clamped : clamped) & most;
}

static void unpack_indexed(const kf_tiff_samples *samples, const uint8_t *bits, size_t count, uint8_t *pixels) {
    const unsigned depth = samples->depth, mask = (1u << depth) - 1;
    for (size_t x = 0; x < count; x++) {
        const size_t bit = x * depth;
        const unsigned value = bits[bit >> 3] >> (8 - depth - (bit & 7)) & mask;
        memcpy(pixels + x * 4, &samples->table[value], 4);
    }
}

// Indices of a byte each with other samples beside them.
static void unpack_indexed_bytes(
    const kf_tiff_samples *samples, const uint8_t *const c[KF_TIFF_COMPONENTS], size_t step, size_t count,
    uint8_t *pixels
) {
    for (size_t x = 0; x < count; x++) {
        memcpy(pixels + x * 4, &samples->table[c[0][x * step]], 4);
        // An index cannot have been multiplied by alpha, whatever the file says.
        if (samples->has_alpha) pixels[x * 4 + 3] = c[1][x * step];
    }
}

// Red, green and blue of a byte each, which is what most files hold. Side by side they are loaded as one number.
static void unpack_rgb(const uint8_t *const c[KF_TIFF_COMPONENTS], size_t step, size_t count, uint8_t *pixels) {
    const uint8_t *red = c[0], *green = c[1], *blue = c[2];
    size_t x = 0;
    // The last number would end behind the last pixel.
    for (; green == red + 1 && blue == red + 2 && x + 1 < count; x++) {
        uint32_t pixel;
        memcpy(&pixel, red + x * step, 4);
        pixel = __builtin_bswap32(pixel) >> 8 | 0xFF000000;
        memcpy(pixels + x * 4, &pixel, 4);
    }
    for (; x < count; x++) {
        const size_t place = x * step;
        const uint32_t pixel = 0xFF000000 | (uint32_t)red[place] << 16 | (uint32_t)green[place] << 8 | blue[place];
        memcpy(pixels + x * 4, &pixel, 4);
    }
}

void kf_tiff_unpack(
    const kf_tiff_samples *samples, const uint8_t *const components[KF_TIFF_COMPONENTS], size_t step, size_t count,
    uint8_t *pixels, uint8_t *alphas
) {
    const bool deep = samples->depth == 16;
    const uint32_t most = deep ? 65535 : 255;
    const unsigned colors = samples->colors;
    if (samples->indexed && (samples->has_alpha || step > 1)) {
        return unpack_indexed_bytes(samples, components, step, count, pixels);
    }
    if (samples->indexed) return unpack_indexed(samples, components[0], count, pixels);
    const bool is_plain = !deep && !samples->has_alpha && !samples->lab;
    if (colors == 3 && is_plain) return unpack_rgb(components, step, count, pixels);
    for (size_t x = 0; x < count; x++, pixels += 4) {
        uint32_t value[KF_TIFF_COMPONENTS];
        for (unsigned i = 0; i < colors; i++) value[i] = load(components[i] + x * step, deep);
        const uint32_t alpha = samples->has_alpha ? load(components[colors] + x * step, deep) : most;
        if (samples->premultiplied && alpha < most) {
            for (unsigned i = 0; i < colors; i++) {
                value[i] = samples->lab && i > 0 ? divided_chroma(value[i], alpha, most)
                                                 : divided(value[i], alpha, most);
            }
        }
        if (colors == 4) {
            for (unsigned i = 0; i < 4; i++) pixels[i] = level(value[i], deep);
            if (samples->has_alpha) alphas[x] = level(alpha, deep);
            continue;
        }
        if (colors == 1) {
            if (samples->inverted) value[0] = most - value[0];
            value[1] = value[2] = value[0];
        }
        for (unsigned i = 0; i < 3; i++) pixels[i] = level(value[2 - i], deep);
        for (unsigned i = 0; samples->lab && i < 2; i++) pixels[i] = chroma(value[2 - i], deep);
        pixels[3] = level(alpha, deep);
    }
}

void kf_tiff_from_rgba(uint8_t *pixels, size_t count, bool has_alpha) {
    for (size_t x = 0; x < count; x++, pixels += 4) {
        const uint32_t alpha = has_alpha ? pixels[3] : 255;
        const uint8_t red = pixels[0], green = pixels[1], blue = pixels[2];
        pixels[0] = (uint8_t)divided(blue, alpha, 255);
        pixels[1] = (uint8_t)divided(green, alpha, 255);
        pixels[2] = (uint8_t)divided(red, alpha, 255);
        pixels[3] = (uint8_t)alpha;
    }
}
