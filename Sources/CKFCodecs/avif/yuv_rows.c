// The loops from planes to pixels, for any processor.
#include "yuv.h"
#include "../support/vectors.h"

// So that every processor gives the same bytes: no multiplication and addition become one operation.
#pragma STDC FP_CONTRACT OFF

// A block of intermediate results stays in the nearest cache.
enum { block = 64 };

static KF_INLINE int smaller(int one, int other) { return one < other ? one : other; }

static KF_INLINE int clamp(int value, int largest) { return value < 0 ? 0 : smaller(value, largest); }

/// Samples as words; none is more than its depth allows, whatever the plane contains.
static KF_INLINE void read_samples(const uint8_t *row, unsigned depth, size_t begin, size_t count, int16_t *samples) {
    if (depth == 8) {
        for (size_t i = 0; i < count; i++) samples[i] = row[begin + i];
    } else {
        const uint16_t *words = (const uint16_t *)row + begin;
        for (size_t i = 0; i < count; i++) samples[i] = (int16_t)smaller(words[i], (1 << depth) - 1);
    }
}

static KF_INLINE size_t next(size_t begin, size_t end) { return end - begin < block ? end - begin : block; }

// ---------------------------------------------------------------------------------------------- chroma

static void widen(const uint8_t *row, unsigned depth, size_t begin, size_t end, int16_t *line) {
    int16_t samples[block];
    for (size_t x = begin, count; x < end; x += count) {
        count = next(x, end);
        read_samples(row, depth, x, count, samples);
        for (size_t i = 0; i < count; i++) line[x + i] = (int16_t)((samples[i] << (16 - depth)) - 32768);
    }
}

static void blend(
    const uint8_t *near, const uint8_t *far, unsigned depth, size_t begin, size_t end, int16_t *line) {
    int16_t most[block], rest[block];
    for (size_t x = begin, count; x < end; x += count) {
        count = next(x, end);
        read_samples(near, depth, x, count, most);
        read_samples(far, depth, x, count, rest);
        for (size_t i = 0; i < count; i++)
            line[x + i] = (int16_t)(((3 * most[i] + rest[i]) << (12 - depth)) - 8192);
    }
}

static void spread(const int16_t *restrict line, size_t begin, size_t end, int16_t *restrict twice) {
    for (size_t x = begin; x < end; x++) {
        twice[2 * x] = (int16_t)(3 * line[x] + line[(ptrdiff_t)x - 1]);
        twice[2 * x + 1] = (int16_t)(3 * line[x] + line[x + 1]);
    }
}

// ---------------------------------------------------------------------------------------------- pixels

static KF_INLINE int times(int value, int weight) { return (value * weight + 16384) >> 15; }

static KF_INLINE int byte_of_alpha(int alpha, const kf_yuv_numbers *n) {
    const int excess = (int)((uint32_t)(alpha + n->alpha_excess) * n->alpha_share >> 24);
    return (alpha + (1 << n->alpha_depth >> 9) - excess) >> (n->alpha_depth - 8);
}

/// Multiplies colours by transparency of 15 bits, where 32767 changes nothing.
static void multiply(const int16_t *alpha, unsigned depth, size_t count, int16_t *colors) {
    for (size_t i = 0; i < count; i++) {
        const int factor = alpha[i] << (15 - depth) | alpha[i] >> (2 * depth - 15);
        colors[i] = (int16_t)times(clamp(colors[i], KF_YUV_WHITE), factor);
    }
}

static void find_colors(
    const kf_yuv_row *row, const kf_yuv_numbers *numbers, size_t begin, size_t count, int16_t colors[3][block]) {
    const kf_yuv_numbers n = *numbers;
    const int16_t *cb = row->cb + begin, *cr = row->cr + begin;
    int16_t samples[block];
    read_samples(row->luma, n.depth, begin, count, samples);
    for (size_t i = 0; i < count; i++) {
        const int luma = times((samples[i] - n.black) * (1 << (15 - n.depth)), n.luma);
        colors[0][i] = (int16_t)(luma + times(cb[i], n.blue));
        colors[1][i] = (int16_t)(luma - times(cb[i], n.green_cb) - times(cr[i], n.green_cr));
        colors[2][i] = (int16_t)(luma + times(cr[i], n.red));
    }
}

static void convert(
    const kf_yuv_row *row, const kf_yuv_numbers *numbers, size_t begin, size_t end, uint8_t *pixels) {
    const kf_yuv_numbers n = *numbers;
    int16_t colors[3][block], alpha[block], bytes[block];
    for (int i = 0; i < block; i++) bytes[i] = 255;
    for (size_t x = begin, count; x < end; x += count) {
        count = next(x, end);
        find_colors(row, &n, x, count, colors);
        if (row->alpha) {
            read_samples(row->alpha, n.alpha_depth, x, count, alpha);
            for (size_t i = 0; i < count; i++) bytes[i] = (int16_t)byte_of_alpha(alpha[i], &n);
            for (int c = 0; c < 3 && n.multiplies; c++) multiply(alpha, n.alpha_depth, count, colors[c]);
        }
        uint8_t *const output = pixels + 4 * x;
        for (size_t i = 0; i < count; i++) {
            const int largest = n.limits ? bytes[i] : 255;
            for (int c = 0; c < 3; c++)
                output[4 * i + c] = (uint8_t)clamp((colors[c][i] + KF_YUV_STEP / 2) >> 5, largest);
            output[4 * i + 3] = (uint8_t)bytes[i];
        }
    }
}

const kf_yuv_rows kf_yuv_portable = {widen, blend, spread, convert};

void kf_yuv_divide(const kf_yuv_row *row, const kf_yuv_numbers *n, size_t begin, size_t end, uint8_t *pixels) {
    for (size_t x = begin; x < end; x++) {
        int16_t sample, alpha;
        read_samples(row->luma, n->depth, x, 1, &sample);
        read_samples(row->alpha, n->alpha_depth, x, 1, &alpha);
        const float factor = alpha ? (float)((1 << n->alpha_depth) - 1) / (float)alpha : 0;
        const float luma = (float)(sample - n->black) * n->exact_luma, cb = row->cb[x], cr = row->cr[x];
        const float colors[3] = {
            luma + cb * n->exact_blue,
            luma - cb * n->exact_green_cb - cr * n->exact_green_cr,
            luma + cr * n->exact_red,
        };
        for (int c = 0; c < 3; c++) {
            const float color = (colors[c] > 0 ? colors[c] : 0) * factor;
            pixels[4 * x + c] = (uint8_t)((color < 255 ? color : 255) + 0.5f);
        }
        pixels[4 * x + 3] = (uint8_t)byte_of_alpha(alpha, n);
    }
}
