// The loops from planes to pixels, sixteen at a time.
#include "yuv.h"

#if defined(__x86_64__)
#include <immintrin.h>
#define AVX2 __attribute__((target("avx2")))
// Inlined into its caller, whose instruction set it then may use.
#define INLINE inline AVX2 __attribute__((always_inline))

/// 16 samples as words.
static INLINE __m256i samples(const uint8_t *row, size_t x, unsigned depth) {
    if (depth == 8) return _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)(row + x)));
    const __m256i largest = _mm256_set1_epi16((int16_t)((1 << depth) - 1));
    return _mm256_min_epu16(_mm256_loadu_si256((const __m256i *)(row + 2 * x)), largest);
}

static INLINE __m256i shifted(__m256i words, unsigned bits) {
    return _mm256_sll_epi16(words, _mm_cvtsi32_si128((int)bits));
}

static INLINE __m256i cut(__m256i words, unsigned bits) {
    return _mm256_srl_epi16(words, _mm_cvtsi32_si128((int)bits));
}

static AVX2 void widen(const uint8_t *row, unsigned depth, size_t begin, size_t end, int16_t *line) {
    size_t x = begin;
    for (; x + 16 <= end; x += 16) {
        const __m256i words = shifted(samples(row, x, depth), 16 - depth);
        _mm256_storeu_si256((__m256i *)(line + x), _mm256_xor_si256(words, _mm256_set1_epi16(-32768)));
    }
    kf_yuv_portable.widen(row, depth, x, end, line);
}

static AVX2 void blend(
    const uint8_t *near, const uint8_t *far, unsigned depth, size_t begin, size_t end, int16_t *line) {
    size_t x = begin;
    for (; x + 16 <= end; x += 16) {
        const __m256i word = samples(near, x, depth);
        const __m256i three = _mm256_add_epi16(word, _mm256_add_epi16(word, word));
        const __m256i sum = shifted(_mm256_add_epi16(three, samples(far, x, depth)), 12 - depth);
        _mm256_storeu_si256((__m256i *)(line + x), _mm256_sub_epi16(sum, _mm256_set1_epi16(8192)));
    }
    kf_yuv_portable.blend(near, far, depth, x, end, line);
}

/// Reads and writes beyond the ends of both lines, where there is room for it.
static AVX2 void spread(const int16_t *line, size_t begin, size_t end, int16_t *twice) {
    for (size_t x = begin; x < end; x += 16) {
        const __m256i word = _mm256_loadu_si256((const __m256i *)(line + x));
        const __m256i three = _mm256_add_epi16(word, _mm256_add_epi16(word, word));
        const __m256i even = _mm256_add_epi16(three, _mm256_loadu_si256((const __m256i *)(line + x - 1)));
        const __m256i odd = _mm256_add_epi16(three, _mm256_loadu_si256((const __m256i *)(line + x + 1)));
        const __m256i low = _mm256_unpacklo_epi16(even, odd), high = _mm256_unpackhi_epi16(even, odd);
        _mm256_storeu_si256((__m256i *)(twice + 2 * x), _mm256_permute2x128_si256(low, high, 0x20));
        _mm256_storeu_si256((__m256i *)(twice + 2 * x + 16), _mm256_permute2x128_si256(low, high, 0x31));
    }
}

static INLINE __m256i times(__m256i words, int weight) {
    return _mm256_mulhrs_epi16(words, _mm256_set1_epi16((int16_t)weight));
}

/// Colours to what packing makes bytes of.
static INLINE __m256i rounded(__m256i color) { return times(color, 32768 / KF_YUV_STEP); }

static INLINE __m256i multiplied(__m256i color, __m256i factor) {
    const __m256i positive = _mm256_max_epi16(color, _mm256_setzero_si256());
    const __m256i clamped = _mm256_min_epi16(positive, _mm256_set1_epi16(KF_YUV_WHITE));
    return _mm256_mulhrs_epi16(clamped, factor);
}

static INLINE __m256i bytes_of_alpha(__m256i alpha, const kf_yuv_numbers *n) {
    const __m256i whole = _mm256_add_epi16(alpha, _mm256_set1_epi16((int16_t)n->alpha_excess));
    const __m256i excess = _mm256_srli_epi16(_mm256_mulhi_epu16(whole, _mm256_set1_epi16((int16_t)n->alpha_share)), 8);
    const __m256i half = _mm256_set1_epi16((int16_t)(1 << n->alpha_depth >> 9));
    return cut(_mm256_sub_epi16(_mm256_add_epi16(alpha, half), excess), n->alpha_depth - 8);
}

/// Transparency in 15 bits, where 32767 changes nothing.
static INLINE __m256i factors_of_alpha(__m256i alpha, unsigned depth) {
    return _mm256_or_si256(shifted(alpha, 15 - depth), cut(alpha, 2 * depth - 15));
}

static INLINE void store(__m256i blue, __m256i green, __m256i red, __m256i alpha, bool limits, uint8_t *pixels) {
    __m256i br = _mm256_packus_epi16(blue, red), ga = _mm256_packus_epi16(green, alpha);
    if (limits) {
        const __m256i aa = _mm256_unpackhi_epi64(ga, ga);
        br = _mm256_min_epu8(br, aa);
        ga = _mm256_min_epu8(ga, aa);
    }
    const __m256i bg = _mm256_unpacklo_epi8(br, ga), ra = _mm256_unpackhi_epi8(br, ga);
    const __m256i low = _mm256_unpacklo_epi16(bg, ra), high = _mm256_unpackhi_epi16(bg, ra);
    _mm256_storeu_si256((__m256i *)pixels, _mm256_permute2x128_si256(low, high, 0x20));
    _mm256_storeu_si256((__m256i *)(pixels + 32), _mm256_permute2x128_si256(low, high, 0x31));
}

/// `convert` with values that the compiler may treat as constants.
static INLINE void convert_samples(
    const kf_yuv_row *row, const kf_yuv_numbers *n, unsigned depth, bool has_alpha, size_t begin, size_t end,
    uint8_t *pixels) {
    size_t x = begin;
    for (; x + 16 <= end; x += 16) {
        const __m256i light = _mm256_sub_epi16(samples(row->luma, x, depth), _mm256_set1_epi16((int16_t)n->black));
        const __m256i luma = times(shifted(light, 15 - depth), n->luma);
        const __m256i cb = _mm256_loadu_si256((const __m256i *)(row->cb + x));
        const __m256i cr = _mm256_loadu_si256((const __m256i *)(row->cr + x));
        __m256i blue = _mm256_add_epi16(luma, times(cb, n->blue));
        __m256i green = _mm256_sub_epi16(_mm256_sub_epi16(luma, times(cb, n->green_cb)), times(cr, n->green_cr));
        __m256i red = _mm256_add_epi16(luma, times(cr, n->red));
        __m256i alpha = _mm256_set1_epi16(255);
        if (has_alpha) {
            const __m256i exact = samples(row->alpha, x, n->alpha_depth);
            alpha = bytes_of_alpha(exact, n);
            if (n->multiplies) {
                const __m256i factor = factors_of_alpha(exact, n->alpha_depth);
                blue = multiplied(blue, factor);
                green = multiplied(green, factor);
                red = multiplied(red, factor);
            }
        }
        store(rounded(blue), rounded(green), rounded(red), alpha, has_alpha && n->limits, pixels + 4 * x);
    }
    kf_yuv_portable.convert(row, n, x, end, pixels);
}

static AVX2 void convert(
    const kf_yuv_row *row, const kf_yuv_numbers *numbers, size_t begin, size_t end, uint8_t *pixels) {
    // Copies, which no pixel that is written can change.
    const kf_yuv_numbers n = *numbers;
    const kf_yuv_row own = *row;
    if (own.alpha) convert_samples(&own, &n, n.depth, true, begin, end, pixels);
    else if (n.depth == 8) convert_samples(&own, &n, 8, false, begin, end, pixels);
    else convert_samples(&own, &n, n.depth, false, begin, end, pixels);
}

const kf_yuv_rows kf_yuv_avx2 = {widen, blend, spread, convert};
#endif
