// Weighted sums of rows and of columns, in whole numbers: the inner loops of resizing.
//
// All loops exist for any processor and for AVX2, that over rows of light for AVX-512 with VNNI as well, and give the
// same bytes.
#include "CKFCodecs.h"
#include "srgb_tables.h"

static inline int clamp16(int32_t value) { return value < -32768 ? -32768 : value > 32767 ? 32767 : value; }

static inline int clamp8(int32_t value) { return value < 0 ? 0 : value > 255 ? 255 : value; }

// ---------------------------------------------------------------------------------------------- any processor

/// Leaves out the first and the last pairs of rows that have no weight: of the rows that two lines are made of, some
/// belong to one of them only.
static inline void trim(const void *const **rows, const int16_t **weights, size_t *taps) {
    for (; *taps > 2 && !(*weights)[0] && !(*weights)[1]; *rows += 2, *weights += 2) *taps -= 2;
    while (*taps > 2 && !(*weights)[*taps - 1] && !(*weights)[*taps - 2]) *taps -= 2;
}

/// Adds weighted rows of bytes, or of light, whose numbers are words.
static inline __attribute__((always_inline)) void blend(
    bool is_light, const void *const *rows, const int16_t *weights, size_t taps, unsigned shift, size_t begin,
    size_t end, int16_t *output) {
    trim(&rows, &weights, &taps);
    // A block of sums stays in the nearest cache while all rows are added to it.
    enum { block = 256 };
    int32_t sums[block];
    for (size_t first = begin; first < end; first += block) {
        const size_t count = end - first < block ? end - first : block;
        for (size_t i = 0; i < count; i++) sums[i] = 1 << (shift - 1);
        for (size_t tap = 0; tap < taps; tap++) {
            const int32_t weight = weights[tap];
            const uint8_t *bytes = (const uint8_t *)rows[tap] + (is_light ? 0 : first);
            const int16_t *light = (const int16_t *)rows[tap] + (is_light ? first : 0);
            for (size_t i = 0; i < count; i++) sums[i] += weight * (is_light ? light[i] : bytes[i]);
        }
        for (size_t i = 0; i < count; i++) output[first + i] = (int16_t)clamp16(sums[i] >> shift);
    }
}

static inline int clamp_light(int32_t value) { return value < 0 ? 0 : value > KF_LIGHT ? KF_LIGHT : value; }

/// Stores a pixel of light, which is premultiplied and from 0 to KF_LIGHT, as encoded bytes.
static inline void store_light(const int32_t *light, const uint8_t *byte_of_light, uint8_t *output) {
    const int alpha = light[3];
    if (alpha == KF_LIGHT) {
        const uint8_t pixel[] = {byte_of_light[light[0]], byte_of_light[light[1]], byte_of_light[light[2]], 255};
        __builtin_memcpy(output, pixel, sizeof pixel);
        return;
    }
    const int opacity = (alpha * 255 + KF_LIGHT / 2) / KF_LIGHT;
    output[3] = (uint8_t)opacity;
    for (int c = 0; c < 3; c++) {
        const int color = light[c];
        const int own = color < alpha ? (color * KF_LIGHT + alpha / 2) / alpha : KF_LIGHT;
        output[c] = opacity ? (uint8_t)((byte_of_light[own] * opacity + 127) / 255) : 0;
    }
}

static inline void store_pixel(const int32_t *sums, unsigned shift, uint8_t *output) {
    const int alpha = clamp8(sums[3] >> shift);
    for (int c = 0; c < 3; c++) {
        const int color = clamp8(sums[c] >> shift);
        output[c] = (uint8_t)(color < alpha ? color : alpha);
    }
    output[3] = (uint8_t)alpha;
}

/// With a table the numbers are light.
static void blend_line(
    const uint8_t *byte_of_light, const int16_t *row, const int32_t *starts, const int16_t *weights, size_t taps,
    unsigned shift, size_t count, uint8_t *output) {
    for (size_t x = 0; x < count; x++) {
        const int16_t *pixel = row + (size_t)starts[x] * 4;
        int32_t sums[4];
        for (int c = 0; c < 4; c++) sums[c] = 1 << (shift - 1);
        for (size_t tap = 0; tap < taps; tap++, pixel += 4) {
            const int32_t weight = weights[x * taps + tap];
            for (int c = 0; c < 4; c++) sums[c] += weight * pixel[c];
        }
        if (byte_of_light) {
            for (int c = 0; c < 4; c++) sums[c] = clamp_light(sums[c] >> shift);
            store_light(sums, byte_of_light, output + x * 4);
        } else {
            store_pixel(sums, shift, output + x * 4);
        }
    }
}

// ---------------------------------------------------------------------------------------------- AVX2

#if defined(__x86_64__)
#include <immintrin.h>
#define AVX2 __attribute__((target("avx2")))
// Inlined into its caller, whose instruction set it then may use.
#define INLINE inline AVX2 __attribute__((always_inline))

/// Adds two rows' 32 bytes, each times its weight, to four sums. The order of the components is undone by `narrow`.
static INLINE void add_pair(__m256i one, __m256i two, __m256i weights, __m256i sums[4]) {
    const __m256i zero = _mm256_setzero_si256();
    const __m256i low = _mm256_unpacklo_epi8(one, two);
    const __m256i high = _mm256_unpackhi_epi8(one, two);
    sums[0] = _mm256_add_epi32(sums[0], _mm256_madd_epi16(_mm256_unpacklo_epi8(low, zero), weights));
    sums[1] = _mm256_add_epi32(sums[1], _mm256_madd_epi16(_mm256_unpackhi_epi8(low, zero), weights));
    sums[2] = _mm256_add_epi32(sums[2], _mm256_madd_epi16(_mm256_unpacklo_epi8(high, zero), weights));
    sums[3] = _mm256_add_epi32(sums[3], _mm256_madd_epi16(_mm256_unpackhi_epi8(high, zero), weights));
}

static INLINE void narrow(const __m256i sums[4], __m128i shift, int16_t *output) {
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
            int both;
            __builtin_memcpy(&both, weights + tap, sizeof both);
            const __m256i pair = _mm256_set1_epi32(both);
            const uint8_t *one = rows[tap] + i, *two = rows[tap + 1] + i;
            // Each row is read in small steps among many others, which the processor does not predict.
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
    blend(false, (const void *const *)rows, weights, taps, shift, i, count, output);
}

/// Adds numbers of two rows, each times its weight, to the sums of the pairs' lower and upper halves.
static INLINE void add_light(__m256i low, __m256i high, __m256i weights, __m256i sums[2]) {
    sums[0] = _mm256_add_epi32(sums[0], _mm256_madd_epi16(low, weights));
    sums[1] = _mm256_add_epi32(sums[1], _mm256_madd_epi16(high, weights));
}

static INLINE void narrow_light(const __m256i sums[2], __m128i shift, int16_t *output) {
    const __m256i low = _mm256_sra_epi32(sums[0], shift), high = _mm256_sra_epi32(sums[1], shift);
    _mm256_storeu_si256((__m256i *)output, _mm256_packs_epi32(low, high));
}

/// Two weights that follow each other, as one number.
static inline int pair_of(const int16_t *weights) {
    int both;
    __builtin_memcpy(&both, weights, sizeof both);
    return both;
}

/// Two lines at once: most of their rows are the same, and are read once.
static AVX2 void blend_light_avx2(
    const int16_t *const *rows, kf_row_weights weights, unsigned shift, size_t begin, size_t count, int16_t *upper,
    int16_t *lower) {
    const __m128i shifts = _mm_cvtsi32_si128((int)shift);
    const __m256i half = _mm256_set1_epi32(1 << (shift - 1));
    size_t i = begin;
    for (; i + 32 <= count; i += 32) {
        __m256i sums[2][4] = {{half, half, half, half}, {half, half, half, half}};
        for (size_t tap = 0; tap < weights.taps; tap += 2) {
            const __m256i above = _mm256_set1_epi32(pair_of(weights.upper + tap));
            const __m256i below = _mm256_set1_epi32(pair_of(weights.lower + tap));
            const int16_t *first = rows[tap] + i, *second = rows[tap + 1] + i;
            // As for bytes.
            _mm_prefetch((const char *)(first + 128), _MM_HINT_T0);
            _mm_prefetch((const char *)(second + 128), _MM_HINT_T0);
            for (int part = 0; part < 2; part++) {
                const __m256i one = _mm256_loadu_si256((const __m256i *)(first + part * 16));
                const __m256i two = _mm256_loadu_si256((const __m256i *)(second + part * 16));
                const __m256i low = _mm256_unpacklo_epi16(one, two), high = _mm256_unpackhi_epi16(one, two);
                add_light(low, high, above, sums[0] + part * 2);
                add_light(low, high, below, sums[1] + part * 2);
            }
        }
        for (int part = 0; part < 2; part++) {
            narrow_light(sums[0] + part * 2, shifts, upper + i + part * 16);
            narrow_light(sums[1] + part * 2, shifts, lower + i + part * 16);
        }
    }
    blend(true, (const void *const *)rows, weights.upper, weights.taps, shift, i, count, upper);
    blend(true, (const void *const *)rows, weights.lower, weights.taps, shift, i, count, lower);
}

#define VNNI __attribute__((target("avx2,avx512bw,avx512vnni")))

static inline VNNI __attribute__((always_inline)) void narrow_light_vnni(
    const __m512i sums[2], __m128i shift, int16_t *output) {
    const __m512i low = _mm512_sra_epi32(sums[0], shift), high = _mm512_sra_epi32(sums[1], shift);
    _mm512_storeu_si512(output, _mm512_packs_epi32(low, high));
}

/// The same with twice as many numbers at a time, and products that are added as they are made.
static VNNI void blend_light_vnni(
    const int16_t *const *rows, kf_row_weights weights, unsigned shift, size_t count, int16_t *upper, int16_t *lower) {
    const __m128i shifts = _mm_cvtsi32_si128((int)shift);
    const __m512i half = _mm512_set1_epi32(1 << (shift - 1));
    size_t i = 0;
    for (; i + 64 <= count; i += 64) {
        __m512i sums[2][4] = {{half, half, half, half}, {half, half, half, half}};
        for (size_t tap = 0; tap < weights.taps; tap += 2) {
            const __m512i above = _mm512_set1_epi32(pair_of(weights.upper + tap));
            const __m512i below = _mm512_set1_epi32(pair_of(weights.lower + tap));
            const int16_t *first = rows[tap] + i, *second = rows[tap + 1] + i;
            for (int part = 0; part < 2; part++) {
                _mm_prefetch((const char *)(first + 128 + part * 32), _MM_HINT_T0);
                _mm_prefetch((const char *)(second + 128 + part * 32), _MM_HINT_T0);
                const __m512i one = _mm512_loadu_si512(first + part * 32);
                const __m512i two = _mm512_loadu_si512(second + part * 32);
                const __m512i low = _mm512_unpacklo_epi16(one, two), high = _mm512_unpackhi_epi16(one, two);
                sums[0][part * 2] = _mm512_dpwssd_epi32(sums[0][part * 2], low, above);
                sums[0][part * 2 + 1] = _mm512_dpwssd_epi32(sums[0][part * 2 + 1], high, above);
                sums[1][part * 2] = _mm512_dpwssd_epi32(sums[1][part * 2], low, below);
                sums[1][part * 2 + 1] = _mm512_dpwssd_epi32(sums[1][part * 2 + 1], high, below);
            }
        }
        for (int part = 0; part < 2; part++) {
            narrow_light_vnni(sums[0] + part * 2, shifts, upper + i + part * 32);
            narrow_light_vnni(sums[1] + part * 2, shifts, lower + i + part * 32);
        }
    }
    blend_light_avx2(rows, weights, shift, i, count, upper, lower);
}

/// The sums of four pixels, as pairs of one component: (0, 1) in the lower half and (2, 3) in the upper one.
static INLINE __m256i add_four(const int16_t *pixels, __m256i factors, __m256i sums) {
    const __m256i pairs = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15));
    const __m256i values = _mm256_shuffle_epi8(_mm256_loadu_si256((const __m256i *)pixels), pairs);
    return _mm256_add_epi32(sums, _mm256_madd_epi16(values, factors));
}

/// With a table the numbers are light.
static INLINE void blend_columns_with(
    const uint8_t *byte_of_light, const int16_t *upper, const int16_t *lower, const int32_t *starts,
    const int16_t *weights, size_t taps, unsigned shift, size_t count, uint8_t *upper_output, uint8_t *lower_output) {
    const __m256i shares = _mm256_setr_epi8(
        0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 4, 5, 6, 7, 4, 5, 6, 7, 4, 5, 6, 7, 4, 5, 6, 7);
    const __m128i shifts = _mm_cvtsi32_si128((int)shift);
    const __m256i half = _mm256_set1_epi32(1 << (shift - 1));
    for (size_t x = 0; x < count; x++) {
        const size_t start = (size_t)starts[x] * 4;
        __m256i upper_sums = _mm256_setzero_si256(), lower_sums = upper_sums;
        for (size_t tap = 0; tap < taps; tap += 4, weights += 4) {
            int64_t four;
            __builtin_memcpy(&four, weights, sizeof four);
            const __m256i factors = _mm256_shuffle_epi8(_mm256_set1_epi64x(four), shares);
            upper_sums = add_four(upper + start + tap * 4, factors, upper_sums);
            lower_sums = add_four(lower + start + tap * 4, factors, lower_sums);
        }
        // From here on each half is a line.
        const __m256i sum = _mm256_add_epi32(
            _mm256_permute2x128_si256(upper_sums, lower_sums, 0x20),
            _mm256_permute2x128_si256(upper_sums, lower_sums, 0x31));
        const __m256i words = _mm256_sra_epi32(_mm256_add_epi32(sum, half), shifts);
        if (byte_of_light) {
            const __m256i zero = _mm256_setzero_si256(), most = _mm256_set1_epi32(KF_LIGHT);
            int32_t light[8];
            _mm256_storeu_si256((__m256i *)light, _mm256_min_epi32(_mm256_max_epi32(words, zero), most));
            store_light(light, byte_of_light, upper_output + x * 4);
            store_light(light + 4, byte_of_light, lower_output + x * 4);
            continue;
        }
        const __m256i bytes = _mm256_packus_epi16(_mm256_packs_epi32(words, words), words);
        const __m256i pixels = _mm256_min_epu8(bytes, _mm256_shuffle_epi8(bytes, _mm256_set1_epi8(3)));
        const int above = _mm_cvtsi128_si32(_mm256_castsi256_si128(pixels)), below = _mm256_extract_epi32(pixels, 4);
        __builtin_memcpy(upper_output + x * 4, &above, sizeof above);
        __builtin_memcpy(lower_output + x * 4, &below, sizeof below);
    }
}

static AVX2 void blend_columns_avx2(
    const int16_t *upper, const int16_t *lower, const int32_t *starts, const int16_t *weights, size_t taps,
    unsigned shift, size_t count, uint8_t *upper_output, uint8_t *lower_output) {
    blend_columns_with(NULL, upper, lower, starts, weights, taps, shift, count, upper_output, lower_output);
}

static AVX2 void blend_light_columns_avx2(
    const int16_t *upper, const int16_t *lower, const int32_t *starts, const int16_t *weights, size_t taps,
    unsigned shift, size_t count, uint8_t *upper_output, uint8_t *lower_output) {
    blend_columns_with(
        kf_srgb_byte_of_light(), upper, lower, starts, weights, taps, shift, count, upper_output, lower_output);
}
#endif

// ---------------------------------------------------------------------------------------------- choosing

kf_blending kf_best_blending(void) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vnni")) return KF_BLENDING_VNNI;
    return __builtin_cpu_supports("avx2") ? KF_BLENDING_AVX2 : KF_BLENDING_PORTABLE;
#else
    return KF_BLENDING_PORTABLE;
#endif
}

/// A line of the rows that have a weight in it.
static void blend_bytes(
    kf_blending blending, const uint8_t *const *rows, const int16_t *weights, size_t taps, unsigned shift,
    size_t count, int16_t *output) {
    const void *const *used = (const void *const *)rows;
    trim(&used, &weights, &taps);
#if defined(__x86_64__)
    if (blending >= KF_BLENDING_AVX2)
        return blend_rows_avx2((const uint8_t *const *)used, weights, taps, shift, count, output);
#else
    (void)blending;
#endif
    blend(false, used, weights, taps, shift, 0, count, output);
}

void kf_blend_rows(
    kf_blending blending, const uint8_t *const *rows, kf_row_weights weights, unsigned precision, size_t count,
    int16_t *upper, int16_t *lower) {
    const unsigned shift = precision - KF_BLEND_FRACTION;
    blend_bytes(blending, rows, weights.upper, weights.taps, shift, count, upper);
    if (lower != upper) blend_bytes(blending, rows, weights.lower, weights.taps, shift, count, lower);
}

void kf_blend_columns(
    kf_blending blending, const int16_t *upper, const int16_t *lower, const int32_t *starts, const int16_t *weights,
    size_t taps, unsigned precision, size_t count, uint8_t *upper_output, uint8_t *lower_output) {
    const unsigned shift = precision + KF_BLEND_FRACTION;
#if defined(__x86_64__)
    if (blending >= KF_BLENDING_AVX2)
        return blend_columns_avx2(upper, lower, starts, weights, taps, shift, count, upper_output, lower_output);
#else
    (void)blending;
#endif
    blend_line(NULL, upper, starts, weights, taps, shift, count, upper_output);
    blend_line(NULL, lower, starts, weights, taps, shift, count, lower_output);
}

// ---------------------------------------------------------------------------------------------- light

void kf_blend_light_rows(
    kf_blending blending, const int16_t *const *rows, kf_row_weights weights, unsigned precision, size_t count,
    int16_t *upper, int16_t *lower) {
#if defined(__x86_64__)
    if (blending == KF_BLENDING_VNNI) return blend_light_vnni(rows, weights, precision, count, upper, lower);
    if (blending == KF_BLENDING_AVX2) return blend_light_avx2(rows, weights, precision, 0, count, upper, lower);
#else
    (void)blending;
#endif
    blend(true, (const void *const *)rows, weights.upper, weights.taps, precision, 0, count, upper);
    if (lower != upper) blend(true, (const void *const *)rows, weights.lower, weights.taps, precision, 0, count, lower);
}

void kf_blend_light_columns(
    kf_blending blending, const int16_t *upper, const int16_t *lower, const int32_t *starts, const int16_t *weights,
    size_t taps, unsigned precision, size_t count, uint8_t *upper_output, uint8_t *lower_output) {
#if defined(__x86_64__)
    if (blending >= KF_BLENDING_AVX2)
        return blend_light_columns_avx2(
            upper, lower, starts, weights, taps, precision, count, upper_output, lower_output);
#else
    (void)blending;
#endif
    const uint8_t *byte_of_light = kf_srgb_byte_of_light();
    blend_line(byte_of_light, upper, starts, weights, taps, precision, count, upper_output);
    blend_line(byte_of_light, lower, starts, weights, taps, precision, count, lower_output);
}
