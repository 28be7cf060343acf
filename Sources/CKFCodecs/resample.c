// Weighted sums of rows and of columns, in whole numbers: the inner loops of resizing. Knows no kernel and no picture.
//
// Both loops exist twice, for any processor and for AVX2, and give the same bytes.
#include "CKFCodecs.h"

static inline int clamp16(int32_t value) { return value < -32768 ? -32768 : value > 32767 ? 32767 : value; }

static inline int clamp8(int32_t value) { return value < 0 ? 0 : value > 255 ? 255 : value; }

// ---------------------------------------------------------------------------------------------- any processor

static void blend_bytes(
    const uint8_t *const *rows, const int16_t *weights, size_t taps, unsigned shift, size_t begin, size_t end,
    int16_t *output) {
    // A block of sums stays in the nearest cache while all rows are added to it.
    enum { block = 256 };
    int32_t sums[block];
    for (size_t first = begin; first < end; first += block) {
        const size_t count = end - first < block ? end - first : block;
        for (size_t i = 0; i < count; i++) sums[i] = 1 << (shift - 1);
        for (size_t tap = 0; tap < taps; tap++) {
            const int32_t weight = weights[tap];
            const uint8_t *row = rows[tap] + first;
            for (size_t i = 0; i < count; i++) sums[i] += weight * row[i];
        }
        for (size_t i = 0; i < count; i++) output[first + i] = (int16_t)clamp16(sums[i] >> shift);
    }
}

void kf_blend_rows_portably(
    const uint8_t *const *rows, const int16_t *weights, size_t taps, unsigned precision, size_t count,
    int16_t *output) {
    blend_bytes(rows, weights, taps, precision - KF_BLEND_FRACTION, 0, count, output);
}

static inline void store_pixel(const int32_t *sums, unsigned shift, uint8_t *output) {
    const int alpha = clamp8(sums[3] >> shift);
    for (int c = 0; c < 3; c++) {
        const int color = clamp8(sums[c] >> shift);
        output[c] = (uint8_t)(color < alpha ? color : alpha);
    }
    output[3] = (uint8_t)alpha;
}

void kf_blend_columns_portably(
    const int16_t *row, const int32_t *starts, const int16_t *weights, size_t taps, unsigned precision, size_t count,
    uint8_t *output) {
    const unsigned shift = precision + KF_BLEND_FRACTION;
    for (size_t x = 0; x < count; x++) {
        const int16_t *pixel = row + (size_t)starts[x] * 4;
        int32_t sums[4];
        for (int c = 0; c < 4; c++) sums[c] = 1 << (shift - 1);
        for (size_t tap = 0; tap < taps; tap++, pixel += 4) {
            const int32_t weight = weights[x * taps + tap];
            for (int c = 0; c < 4; c++) sums[c] += weight * pixel[c];
        }
        store_pixel(sums, shift, output + x * 4);
    }
}

// ---------------------------------------------------------------------------------------------- AVX2

#if defined(__x86_64__)
#include <immintrin.h>
#define AVX2 __attribute__((target("avx2")))

/// Adds two rows' 32 bytes, each times its weight, to four sums. The order of the components is undone by `narrow`.
static inline AVX2 void add_pair(__m256i one, __m256i two, __m256i weights, __m256i sums[4]) {
    const __m256i zero = _mm256_setzero_si256();
    const __m256i low = _mm256_unpacklo_epi8(one, two);
    const __m256i high = _mm256_unpackhi_epi8(one, two);
    sums[0] = _mm256_add_epi32(sums[0], _mm256_madd_epi16(_mm256_unpacklo_epi8(low, zero), weights));
    sums[1] = _mm256_add_epi32(sums[1], _mm256_madd_epi16(_mm256_unpackhi_epi8(low, zero), weights));
    sums[2] = _mm256_add_epi32(sums[2], _mm256_madd_epi16(_mm256_unpacklo_epi8(high, zero), weights));
    sums[3] = _mm256_add_epi32(sums[3], _mm256_madd_epi16(_mm256_unpackhi_epi8(high, zero), weights));
}

static inline AVX2 void narrow(const __m256i sums[4], __m128i shift, int16_t *output) {
    const __m256i low = _mm256_packs_epi32(_mm256_sra_epi32(sums[0], shift), _mm256_sra_epi32(sums[1], shift));
    const __m256i high = _mm256_packs_epi32(_mm256_sra_epi32(sums[2], shift), _mm256_sra_epi32(sums[3], shift));
    _mm256_storeu_si256((__m256i *)output, _mm256_permute2x128_si256(low, high, 0x20));
    _mm256_storeu_si256((__m256i *)(output + 16), _mm256_permute2x128_si256(low, high, 0x31));
}

static AVX2 void blend_rows_avx2(
    const uint8_t *const *rows, const int16_t *weights, size_t taps, unsigned shift, size_t count, int16_t *output) {
    const __m128i shifts = _mm_cvtsi32_si128((int)shift);
    const __m256i half = _mm256_set1_epi32(1 << (shift - 1));
    size_t i = 0;
    // A cache line of every row at a time: rows whose distance is a power of two push each other out of the cache.
    for (; i + 64 <= count; i += 64) {
        __m256i left[4] = {half, half, half, half};
        __m256i right[4] = {half, half, half, half};
        for (size_t tap = 0; tap < taps; tap += 2) {
            // An odd last row is paired with itself and no weight.
            const size_t next = tap + 1 < taps ? tap + 1 : tap;
            const uint32_t second = tap + 1 < taps ? (uint16_t)weights[next] : 0;
            const __m256i pair = _mm256_set1_epi32((int)((uint32_t)(uint16_t)weights[tap] | second << 16));
            const uint8_t *one = rows[tap] + i, *two = rows[next] + i;
            // Each row is read in small steps among many others, which the processor does not foresee.
            _mm_prefetch((const char *)(one + 256), _MM_HINT_T0);
            _mm_prefetch((const char *)(two + 256), _MM_HINT_T0);
            add_pair(
                _mm256_loadu_si256((const __m256i *)one), _mm256_loadu_si256((const __m256i *)two), pair, left);
            add_pair(
                _mm256_loadu_si256((const __m256i *)(one + 32)), _mm256_loadu_si256((const __m256i *)(two + 32)), pair,
                right);
        }
        narrow(left, shifts, output + i);
        narrow(right, shifts, output + i + 32);
    }
    blend_bytes(rows, weights, taps, shift, i, count, output);
}

static AVX2 void blend_columns_avx2(
    const int16_t *row, const int32_t *starts, const int16_t *weights, size_t taps, unsigned shift, size_t count,
    uint8_t *output) {
    // Four pixels at a time, as pairs of one component: (0, 1) in the lower half and (2, 3) in the upper one.
    const __m256i pairs = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15));
    const __m256i shares = _mm256_setr_epi8(
        0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 4, 5, 6, 7, 4, 5, 6, 7, 4, 5, 6, 7, 4, 5, 6, 7);
    const __m128i shifts = _mm_cvtsi32_si128((int)shift);
    const __m128i half = _mm_set1_epi32(1 << (shift - 1));
    for (size_t x = 0; x < count; x++) {
        const int16_t *pixel = row + (size_t)starts[x] * 4;
        __m256i sums = _mm256_setzero_si256();
        for (size_t tap = 0; tap < taps; tap += 4, pixel += 16, weights += 4) {
            int64_t four;
            __builtin_memcpy(&four, weights, sizeof four);
            const __m256i values = _mm256_shuffle_epi8(_mm256_loadu_si256((const __m256i *)pixel), pairs);
            const __m256i factors = _mm256_shuffle_epi8(_mm256_set1_epi64x(four), shares);
            sums = _mm256_add_epi32(sums, _mm256_madd_epi16(values, factors));
        }
        const __m128i sum = _mm_add_epi32(
            half, _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1)));
        const __m128i words = _mm_sra_epi32(sum, shifts);
        const __m128i bytes = _mm_packus_epi16(_mm_packs_epi32(words, words), words);
        const __m128i alpha = _mm_shuffle_epi8(bytes, _mm_setr_epi8(3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3));
        const int word = _mm_cvtsi128_si32(_mm_min_epu8(bytes, alpha));
        __builtin_memcpy(output + x * 4, &word, sizeof word);
    }
}
#endif

// ---------------------------------------------------------------------------------------------- whichever fits

void kf_blend_rows(
    const uint8_t *const *rows, const int16_t *weights, size_t taps, unsigned precision, size_t count,
    int16_t *output) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2"))
        return blend_rows_avx2(rows, weights, taps, precision - KF_BLEND_FRACTION, count, output);
#endif
    kf_blend_rows_portably(rows, weights, taps, precision, count, output);
}

void kf_blend_columns(
    const int16_t *row, const int32_t *starts, const int16_t *weights, size_t taps, unsigned precision, size_t count,
    uint8_t *output) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2"))
        return blend_columns_avx2(row, starts, weights, taps, precision + KF_BLEND_FRACTION, count, output);
#endif
    kf_blend_columns_portably(row, starts, weights, taps, precision, count, output);
}
