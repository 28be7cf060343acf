// Undoing the filters of PNG, line by line.
#include "png_filter.h"
#include <string.h>
#include "../support/vectors.h"

// Undoes the filters Sub, Average and Paeth. Loads and stores four bytes for three: the next pixel corrects the fourth.
static KF_INLINE u8x4 load_pixel(const uint8_t *bytes, size_t step) {
    u8x4 pixel = {0};
    memcpy(&pixel, bytes, step == 3 ? 4 : step);
    return pixel;
}
static KF_INLINE void store_pixel(uint8_t *bytes, u8x4 pixel, size_t step) {
    memcpy(bytes, &pixel, step == 3 ? 4 : step);
}

static KF_INLINE void undo_sub(uint8_t *line, const uint8_t *raw, size_t size, size_t step) {
    u8x4 left = {0};
    for (size_t i = 0; i < size; i += step) {
        left += load_pixel(raw + i, step);
        store_pixel(line + i, left, step);
    }
}

static KF_INLINE void undo_average(
    uint8_t *line, const uint8_t *raw, const uint8_t *prior, size_t size, size_t step
) {
    u8x4 left = {0};
    for (size_t i = 0; i < size; i += step) {
        u8x4 above = load_pixel(prior + i, step);
        // The sum has nine bits: half of what both share, and half of what they do not.
        left = load_pixel(raw + i, step) + (left & above) + ((left ^ above) >> 1);
        store_pixel(line + i, left, step);
    }
}

static KF_INLINE i16x8 load_wide_pixel(const uint8_t *bytes, size_t step) {
    u8x8 pixel = {0};
    memcpy(&pixel, bytes, step == 3 ? 4 : step);
    return __builtin_convertvector(pixel, i16x8);
}

// The neighbour nearest to left + above − corner is the smaller of left and above when the corner is so high that
// 3·corner − left − above reaches the larger one, the larger one when it is as low, and the corner in between. All
// three sums are made before it is known which one is right: each pixel waits for the one before it, and for nothing
// else.
static KF_INLINE void undo_paeth(
    uint8_t *line, const uint8_t *raw, const uint8_t *prior, size_t size, size_t step
) {
    i16x8 left = {0}, corner = {0};
    for (size_t i = 0; i < size; i += step) {
        i16x8 above = load_wide_pixel(prior + i, step), difference = load_wide_pixel(raw + i, step);
        i16x8 bound = corner * 3 - above, middle_sum = corner + difference;
        KF_COMPUTE(bound);
        bound -= left;
        i16x8 low = __builtin_elementwise_min(left, above), high = __builtin_elementwise_max(left, above);
        i16x8 low_sum = low + difference, high_sum = high + difference;
        KF_COMPUTE(low_sum);
        KF_COMPUTE(high_sum);
        KF_COMPUTE(middle_sum);
        i16x8 sum = high <= bound ? low_sum : middle_sum;
        left = (bound <= low ? high_sum : sum) & 0xFF;
        corner = above;
        u8x8 pixel = __builtin_convertvector(left, u8x8);
        memcpy(line + i, &pixel, step == 3 ? 4 : step);
    }
}

static KF_INLINE bool undo(
    uint8_t *line, const uint8_t *raw, const uint8_t *prior, size_t size, size_t step, uint8_t filter
) {
    switch (filter) {
    case 0: memcpy(line, raw, size); return true;
    case 1: undo_sub(line, raw, size, step); return true;
    case 2: for (size_t i = 0; i < size; i++) line[i] = raw[i] + prior[i]; return true;
    case 3: undo_average(line, raw, prior, size, step); return true;
    case 4: undo_paeth(line, raw, prior, size, step); return true;
    default: return false;
    }
}

KF_CLONES bool kf_png_undo_filter(
    uint8_t *line, const uint8_t *raw, const uint8_t *prior, size_t size, uint32_t step, uint8_t filter
) {
    switch (step) {
    case 1: return undo(line, raw, prior, size, 1, filter);
    case 2: return undo(line, raw, prior, size, 2, filter);
    case 3: return undo(line, raw, prior, size, 3, filter);
    default: return undo(line, raw, prior, size, 4, filter);
    }
}
