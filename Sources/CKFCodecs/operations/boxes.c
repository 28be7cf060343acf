// Means of boxes of pixels: the first step of large reductions, before the kernel.
#include "CKFCodecs.h"
#include <string.h>
#include "../support/vectors.h"

typedef uint32_t u32x4 __attribute__((ext_vector_type(4)));

// So many bytes, and amounts of light, fit into a sum of 32 bits.
enum { most_bytes = 1 << 24, most_light = 1 << 17 };

static u32x4 sum_of_pixels(const uint8_t *pixels, size_t count) {
    u32x4 sum = 0;
    for (size_t x = 0; x < count; x++) {
        u8x4 pixel;
        memcpy(&pixel, pixels + x * 4, sizeof pixel);
        sum += __builtin_convertvector(pixel, u32x4);
    }
    return sum;
}

static u32x4 sum_of_light(const int16_t *light, size_t count) {
    u32x4 sum = 0;
    for (size_t x = 0; x < count; x++) {
        i16x4 pixel;
        memcpy(&pixel, light + x * 4, sizeof pixel);
        sum += __builtin_convertvector(pixel, u32x4);
    }
    return sum;
}

/// Adds pixels of bytes, or without these of light.
static KF_INLINE void add(
    const uint8_t *pixels, const int16_t *light, size_t first, size_t count, size_t box, size_t most, uint64_t *sums) {
    size_t x = 0, left = box - first % box;
    sums += first / box * 4;
    while (x < count) {
        const size_t rest = left < count - x ? left : count - x, length = rest < most ? rest : most;
        const u32x4 sum = pixels ? sum_of_pixels(pixels + x * 4, length) : sum_of_light(light + x * 4, length);
        for (int c = 0; c < 4; c++) sums[c] += sum[c];
        x += length;
        left -= length;
        if (left == 0) {
            sums += 4;
            left = box;
        }
    }
}

void kf_box_add(const uint8_t *pixels, size_t first, size_t count, size_t box, uint64_t *sums) {
    add(pixels, NULL, first, count, box, most_bytes, sums);
}

void kf_box_add_light(const int16_t *light, size_t first, size_t count, size_t box, uint64_t *sums) {
    add(NULL, light, first, count, box, most_light, sums);
}

void kf_box_average(uint64_t *sums, size_t width, size_t box, size_t rows, uint8_t *output) {
    for (size_t first = 0; first < width; first += box, sums += 4, output += 4) {
        const size_t columns = width - first < box ? width - first : box;
        const double share = 1 / ((double)columns * (double)rows);
        for (int c = 0; c < 4; c++) output[c] = (uint8_t)((double)sums[c] * share + 0.5);
        memset(sums, 0, 4 * sizeof *sums);
    }
}

void kf_box_average_light(uint64_t *sums, size_t width, size_t box, size_t rows, int16_t *output) {
    for (size_t first = 0; first < width; first += box, sums += 4, output += 4) {
        const size_t columns = width - first < box ? width - first : box;
        const double share = 1 / ((double)columns * (double)rows);
        for (int c = 0; c < 4; c++) output[c] = (int16_t)((double)sums[c] * share + 0.5);
        memset(sums, 0, 4 * sizeof *sums);
    }
}
