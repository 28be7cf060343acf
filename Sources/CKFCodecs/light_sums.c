// Colours mixed in linear light by adding up what each byte of a pixel contributes, out of tables made for the mixture. Knows
// pixels with straight alpha, which stays as it is, and no rows.
//
// For processors with AVX2 and no tables in registers: there, what costs is the way from light back to bytes.
#include "light.h"
#include <stdlib.h>

struct kf_color_sums {
    /// What a byte of blue, green or red adds to blue, green and red, in light from 0 to 1; blue's has the offset besides.
    float parts[3][256][4];
    bool is_grey;
};

#if defined(__x86_64__)
#include <immintrin.h>
#define AVX2 __attribute__((target("avx2,fma"), always_inline)) static inline

/// Light of one colour as bytes. Two roots of an approximate reciprocal root are its fourth root, from which a polynomial leads
/// to the bytes that was found by minimising the largest error: with the roots' own errors within 0.25 of a byte's step.
AVX2 __m256i bytes_of(__m256 light) {
    // What is not a number becomes the least. That is not 0, whose root has no reciprocal.
    const __m256 x = _mm256_min_ps(_mm256_max_ps(light, _mm256_set1_ps(1e-9f)), _mm256_set1_ps(1));
    const __m256 root = _mm256_rsqrt_ps(_mm256_rsqrt_ps(x)), half = _mm256_set1_ps(0.5f);
    __m256 curve = _mm256_fmadd_ps(root, _mm256_set1_ps(-34.8900126f), _mm256_set1_ps(242.905797f));
    curve = _mm256_fmadd_ps(root, curve, _mm256_set1_ps(65.2286584f));
    curve = _mm256_fmadd_ps(root, curve, _mm256_set1_ps(-18.2992002f + 0.5f));
    const __m256 line = _mm256_fmadd_ps(x, _mm256_set1_ps(255 * 12.92f), half);
    const __m256 is_dark = _mm256_cmp_ps(x, _mm256_set1_ps(0.0031308f), _CMP_LT_OQ);
    return _mm256_cvttps_epi32(_mm256_blendv_ps(curve, line, is_dark));
}

/// The light of one pixel's colours, and something fourth.
AVX2 __m128 light_of(const kf_color_sums *sums, uint32_t pixel) {
    const __m128 blue = _mm_loadu_ps(sums->parts[0][pixel & 255]);
    const __m128 green = _mm_loadu_ps(sums->parts[1][pixel >> 8 & 255]);
    return _mm_add_ps(_mm_add_ps(blue, green), _mm_loadu_ps(sums->parts[2][pixel >> 16 & 255]));
}

AVX2 __m256 lights_of(const kf_color_sums *sums, uint32_t first, uint32_t fifth) {
    return _mm256_set_m128(light_of(sums, fifth), light_of(sums, first));
}

AVX2 void mix_eight(const uint32_t *input, uint32_t *output, const kf_color_sums *sums, bool is_grey) {
    uint64_t pairs[4];
    __builtin_memcpy(pairs, input, sizeof pairs);
    const __m256 a = lights_of(sums, (uint32_t)pairs[0], (uint32_t)pairs[2]);
    const __m256 b = lights_of(sums, pairs[0] >> 32, pairs[2] >> 32);
    const __m256 c = lights_of(sums, (uint32_t)pairs[1], (uint32_t)pairs[3]);
    const __m256 d = lights_of(sums, pairs[1] >> 32, pairs[3] >> 32);
    // Eight pixels of three colours become three colours of eight pixels.
    const __m256 ab = _mm256_unpacklo_ps(a, b), cd = _mm256_unpacklo_ps(c, d);
    const __m256i blue = bytes_of(_mm256_shuffle_ps(ab, cd, 0x44));
    __m256i green = blue, red = blue;
    if (!is_grey) {
        green = bytes_of(_mm256_shuffle_ps(ab, cd, 0xEE));
        red = bytes_of(_mm256_shuffle_ps(_mm256_unpackhi_ps(a, b), _mm256_unpackhi_ps(c, d), 0x44));
    }
    const __m256i pixels = _mm256_loadu_si256((const __m256i *)input);
    const __m256i alpha = _mm256_and_si256(pixels, _mm256_set1_epi32((int)0xFF000000u));
    const __m256i upper = _mm256_or_si256(_mm256_slli_epi32(green, 8), _mm256_slli_epi32(red, 16));
    _mm256_storeu_si256((__m256i *)output, _mm256_or_si256(_mm256_or_si256(alpha, blue), upper));
}

AVX2 void mix_all(const uint32_t *input, uint32_t *output, size_t count, const kf_color_sums *sums, bool is_grey) {
    size_t i = 0;
    for (; i + 8 <= count; i += 8) mix_eight(input + i, output + i, sums, is_grey);
    if (i == count) return;
    uint32_t rest[8] = {0};
    const size_t bytes = (count - i) * sizeof *rest;
    __builtin_memcpy(rest, input + i, bytes);
    mix_eight(rest, rest, sums, is_grey);
    __builtin_memcpy(output + i, rest, bytes);
}

__attribute__((target("avx2,fma"))) static void mix_by_sums(
    const uint32_t *input, uint32_t *output, size_t count, const kf_color_sums *sums) {
    if (sums->is_grey) mix_all(input, output, count, sums, true);
    else mix_all(input, output, count, sums, false);
}
#endif

bool kf_color_sums_help(const kf_color_mix *mix) {
    uint32_t nothing = 0;
    return !kf_mix_in_words(&nothing, &nothing, 0, mix);
}

kf_color_sums *kf_color_sums_make(const kf_color_mix *mix) {
#if defined(__x86_64__)
    if (!mix->linear || !__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return NULL;
    kf_color_sums *sums = malloc(sizeof *sums);
    if (!sums) return NULL;
    const kf_light_tables *tables = kf_light();
    const float factors[3] = {mix->blue, mix->green, mix->red};
    for (int color = 0; color < 3; color++)
        for (int byte = 0; byte < 256; byte++)
            for (int other = 0; other < 4; other++)
                sums->parts[color][byte][other]
                    = tables->of_byte[byte] * (factors[color] + (other == color ? mix->own : 0))
                    + (color == 0 ? mix->offset : 0);
    sums->is_grey = mix->own == 0;
    return sums;
#else
    (void)mix;
    return NULL;
#endif
}

void kf_mix_colors_by_sums(const uint32_t *input, uint32_t *output, size_t count, const kf_color_sums *sums) {
#if defined(__x86_64__)
    mix_by_sums(input, output, count, sums);
#else
    (void)input, (void)output, (void)count, (void)sums;
#endif
}
