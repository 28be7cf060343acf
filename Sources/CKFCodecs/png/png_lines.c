// The lines of a PNG that is written: filtered one after another, then compressed in one go.
#include "png_lines.h"
#include <stdlib.h>
#include <string.h>
#include "../support/deflate.h"
#include "../support/vectors.h"

enum {
    // What the memory of the reader is held to, too: larger images are compressed piece by piece, by libpng.
    most_bytes = 32 << 20,
    // The zeros in front of a line, which are its left neighbours.
    margin = 16,
    filter_count = 4,
};

struct kf_png_lines {
    size_t size;
    uint32_t step;
    // The filtered lines, each behind the number of its filter, and where the next one begins.
    uint8_t *all, *end;
    // The line that is being made and the one before it, each behind a margin, and the line through every filter.
    uint8_t *line, *prior, *filtered[filter_count];
    uint8_t *memory;
};

static bool take_memory(kf_png_lines *lines, uint32_t count) {
    const size_t room = margin + lines->size;
    lines->all = malloc((lines->size + 1) * count);
    lines->memory = calloc(2 + filter_count, room);
    if (!lines->all || !lines->memory) return false;
    lines->end = lines->all;
    lines->line = lines->memory + margin;
    lines->prior = lines->line + room;
    for (int i = 0; i < filter_count; i++) lines->filtered[i] = lines->prior + room * (size_t)(i + 1);
    return true;
}

kf_png_lines *kf_png_lines_open(size_t size, uint32_t count, uint32_t step) {
    if (!kf_has_library(KF_LIBRARY_DEFLATE) || size >= most_bytes / count) return NULL;
    kf_png_lines *lines = calloc(1, sizeof *lines);
    if (!lines) return NULL;
    lines->size = size;
    lines->step = step;
    if (!take_memory(lines, count)) {
        kf_png_lines_close(lines);
        return NULL;
    }
    return lines;
}

uint8_t *kf_png_lines_next(kf_png_lines *lines) { return lines->line; }

// ------------------------------------------------------------------------------------------ filters

static KF_INLINE uint8_t predict(uint8_t left, uint8_t above, uint8_t corner) {
    int16_t to_left = (int16_t)(above - corner), to_above = (int16_t)(left - corner);
    int16_t to_corner = (int16_t)(to_left + to_above);
    if (to_left < 0) to_left = -to_left;
    if (to_above < 0) to_above = -to_above;
    if (to_corner < 0) to_corner = -to_corner;
    const uint8_t other = to_above <= to_corner ? above : corner;
    return to_left <= to_above && to_left <= to_corner ? left : other;
}

static KF_INLINE void filter(
    const uint8_t *line, const uint8_t *prior, size_t size, size_t step, uint8_t *const *filtered
) {
    uint8_t *restrict sub = filtered[0], *restrict up = filtered[1];
    uint8_t *restrict average = filtered[2], *restrict paeth = filtered[3];
    const uint8_t *left = line - step, *corner = prior - step;
    for (size_t i = 0; i < size; i++) sub[i] = line[i] - left[i];
    for (size_t i = 0; i < size; i++) up[i] = line[i] - prior[i];
    for (size_t i = 0; i < size; i++) average[i] = line[i] - (uint8_t)((left[i] + prior[i]) >> 1);
    for (size_t i = 0; i < size; i++) paeth[i] = line[i] - predict(left[i], prior[i], corner[i]);
}

// The sum of the distances from zero: a line with a small one is likely to be compressed well.
static KF_INLINE uint32_t weight(const uint8_t *line, size_t size) {
    uint32_t sum = 0;
    for (size_t i = 0; i < size; i++) sum += line[i] < 128 ? line[i] : 256u - line[i];
    return sum;
}

// Puts the line through all filters; returns the number of the one that leaves least, 0 for none.
KF_CLONES static uint8_t choose(
    const uint8_t *line, const uint8_t *prior, size_t size, uint32_t step, uint8_t *const *filtered
) {
    switch (step) {
    case 1: filter(line, prior, size, 1, filtered); break;
    case 2: filter(line, prior, size, 2, filtered); break;
    case 3: filter(line, prior, size, 3, filtered); break;
    default: filter(line, prior, size, 4, filtered);
    }
    uint32_t least = weight(line, size);
    uint8_t number = 0;
    for (uint8_t i = 0; i < filter_count; i++) {
        const uint32_t sum = weight(filtered[i], size);
        if (sum >= least) continue;
        least = sum;
        number = i + 1;
    }
    return number;
}

void kf_png_lines_add(kf_png_lines *lines) {
    const uint8_t number =
        lines->step ? choose(lines->line, lines->prior, lines->size, lines->step, lines->filtered) : 0;
    *lines->end++ = number;
    memcpy(lines->end, number ? lines->filtered[number - 1] : lines->line, lines->size);
    lines->end += lines->size;
    uint8_t *line = lines->line;
    lines->line = lines->prior;
    lines->prior = line;
}

// Photos of 512 × 340 pixels take 16 ms and 258 KB by zlib's level 3, 3.5 ms and 255 KB by an effort of 1, 8 ms and
// 250 KB by 4. Grey levels and what has an alpha are drawings more often, which 4 makes no larger than zlib does.
// Indices are a third or a quarter of the bytes, and as small as by zlib's 6 with the same effort, in half of the time.
static int effort(const kf_png_lines *lines) {
    switch (lines->step) {
    case 0: return 6;
    case 3: return 1;
    default: return 4;
    }
}

bool kf_png_lines_compress(const kf_png_lines *lines, kf_buffer *buffer) {
    return kf_deflate(lines->all, (size_t)(lines->end - lines->all), effort(lines), buffer);
}

void kf_png_lines_close(kf_png_lines *lines) {
    if (!lines) return;
    free(lines->all);
    free(lines->memory);
    free(lines);
}
