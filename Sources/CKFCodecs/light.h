// sRGB's curve between the bytes of a colour and the light they stand for, as tables. Knows no pixels.
#ifndef KF_LIGHT_H
#define KF_LIGHT_H

#include "CKFCodecs.h"

/// The tables; light goes from 0 to 1.
typedef struct kf_light_tables {
    /// The light of every byte.
    float of_byte[256];
    /// The same in 65535ths, less 32768 so that it fits into 16 bits with a sign: the lower halves, then the upper ones.
    uint8_t word_of_byte[2][256];
    /// The way back, by straight lines: those of the lowest sixteenth of light, which is stretched to the whole range, and
    /// those of the whole. In 64 equal parts of its range a light of x 65535ths is start + slope · x / 65536, in 64ths of a
    /// byte's step, with what makes cutting the fraction off the same as rounding. Within 0.05 of a byte's step.
    uint16_t start[2][64], slope[2][64];
} kf_light_tables;

/// The tables, made by the first who asks. Any thread.
const kf_light_tables *kf_light(void);

#endif
