// The loops behind a conversion of planes to pixels, row by row.
//
// They exist for any processor and for AVX2, and give the same bytes. What they count in:
//  * Chroma is a signed word: 0 is grey, and the ends of what a sample can be are near the ends of what a word can be.
//  * Colours are words, too, 32 for a step of the 256 there are. Luma and chroma are each rounded to that, and their
//    weights to 1/32768: before it is rounded to a byte, a colour is within a tenth of a step of the formula.
#ifndef KF_YUV_H
#define KF_YUV_H

#include "CKFCodecs.h"

enum { KF_YUV_STEP = 32, KF_YUV_WHITE = 255 * KF_YUV_STEP };

/// The numbers of an image, the same for all of its rows.
typedef struct kf_yuv_numbers {
    unsigned depth, alpha_depth;
    int black;
    /// Of luma moved to 15 bits, and of chroma, in 1/32768.
    int16_t luma, red, green_cb, green_cr, blue;
    /// The formula itself, for luma as it is and for chroma as a word.
    float exact_luma, exact_red, exact_green_cb, exact_green_cr, exact_blue;
    /// alpha · 255 / largest is a 2^(depth - 8)th of what is left of alpha without a 341st (10 bits) or 273rd
    /// (12 bits) of it. That part, rounded up, is (alpha + `alpha_excess`) · `alpha_share` / 2^24.
    uint16_t alpha_excess, alpha_share;
    /// Whether colours are to be multiplied by alpha, and whether they may not exceed it.
    bool multiplies, limits;
} kf_yuv_numbers;

/// The samples that a row of pixels is made of. `alpha` is NULL when the image is opaque.
typedef struct kf_yuv_row {
    const uint8_t *luma, *alpha;
    const int16_t *cb, *cr;
} kf_yuv_row;

/// Loops from one sample or pixel up to another.
typedef struct kf_yuv_rows {
    /// A row of chroma to words.
    void (*widen)(const uint8_t *row, unsigned depth, size_t begin, size_t end, int16_t *line);
    /// Quarters of words, for three shares of one row and one of another.
    void (*blend)(const uint8_t *near, const uint8_t *far, unsigned depth, size_t begin, size_t end, int16_t *line);
    /// Two words for each quarter: three shares of it, and one of its neighbour on either side. May read and write 16
    /// words beyond either end.
    void (*spread)(const int16_t *line, size_t begin, size_t end, int16_t *twice);
    void (*convert)(const kf_yuv_row *row, const kf_yuv_numbers *numbers, size_t begin, size_t end, uint8_t *pixels);
} kf_yuv_rows;

extern const kf_yuv_rows kf_yuv_portable;
#if defined(__x86_64__)
extern const kf_yuv_rows kf_yuv_avx2;
#endif

/// `convert` for colours that were multiplied by alpha and become straight. That makes every error larger, so this
/// is the formula itself.
void kf_yuv_divide(const kf_yuv_row *row, const kf_yuv_numbers *numbers, size_t begin, size_t end, uint8_t *pixels);

#endif
