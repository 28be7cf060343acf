// The bits of a JPEG XL codestream and the kinds of numbers in it.
#ifndef KF_JXL_BITS_H
#define KF_JXL_BITS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct bits {
    const uint8_t *bytes;
    size_t size, position;  // The position is in bits.
    bool has_ended;
} bits;

static inline uint32_t take(bits *in, int count) {
    uint32_t value = 0;
    if (in->has_ended || in->size * 8 - in->position < (size_t)count) {
        in->has_ended = true;
        return 0;
    }
    for (int i = 0; i < count; i++, in->position++) {
        value |= (uint32_t)(in->bytes[in->position / 8] >> in->position % 8 & 1) << i;
    }
    return value;
}

static inline void skip(bits *in, uint64_t count) {
    if (in->has_ended || in->size * 8 - in->position < count) in->has_ended = true;
    else in->position += count;
}

// A number of one of four widths, each with the least number it stands for.
static inline uint32_t number(bits *in, const uint32_t width[4], const uint32_t least[4]) {
    uint32_t kind = take(in, 2);
    return least[kind] + take(in, (int)width[kind]);
}
#define NUMBER(in, w0, l0, w1, l1, w2, l2, w3, l3) \
    number(in, (const uint32_t[]){w0, w1, w2, w3}, (const uint32_t[]){l0, l1, l2, l3})

static inline uint64_t long_number(bits *in) {
    switch (take(in, 2)) {
    case 0: return 0;
    case 1: return 1 + take(in, 4);
    case 2: return 17 + take(in, 8);
    }
    uint64_t value = take(in, 12);
    for (int shift = 12; take(in, 1); shift += 8) {
        if (shift == 60) return value | (uint64_t)take(in, 4) << 60;
        value |= (uint64_t)take(in, 8) << shift;
    }
    return value;
}

static inline void skip_extensions(bits *in) {
    uint64_t extensions = long_number(in), length = 0;
    for (; extensions; extensions &= extensions - 1) {
        uint64_t added = long_number(in);
        length = length + added < length ? UINT64_MAX : length + added;
    }
    skip(in, length);
}
#endif
