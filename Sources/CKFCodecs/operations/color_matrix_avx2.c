// Colours mixed in linear light by polynomials instead of tables, for processors with AVX2. Alpha is straight, and
// stays as it is.
//
// sRGB's curve is a straight line in the dark and a power above it. Here both ways are the sum of two things: the line,
// which stays as it is where the power begins, and a polynomial, which begins to change there. So there is no branch.
// Light is counted so that the line's slope is 1: its unit, one of 255 · 12.92, is what a byte's step in the dark is.
#include "CKFCodecs.h"

#if defined(__x86_64__)
#include <immintrin.h>
#include <math.h>

#define AVX2 __attribute__((target("avx2,fma"), always_inline)) static inline

/// Pixels that are mixed before they become bytes. A processor looks ahead only so far: when all that has to be done
/// for eight pixels is one long chain, it waits. Two passes over a few pixels took three quarters of the time of one.
enum { PASS = 64, LANES = 8 };

static const float unit = 255 * 12.92f;

typedef struct factors { __m256 own, red, green, blue, offset; } factors;

/// The constant that the polynomial below leaves out, since adding it once is enough.
static const float constant = -7.00495259f;

/// Light of bytes, less `constant`: within 0.02 of a unit, by minimising the largest error over all bytes.
AVX2 __m256 linear_of(__m256i bytes) {
    // Floats compare like integers with a sign, unless both are negative; and that, any pipe of the processor does.
    const __m256i value = (__m256i)_mm256_cvtepi32_ps(bytes), kink = (__m256i)_mm256_set1_ps(10);
    const __m256 x = (__m256)_mm256_max_epi32(value, kink), dark = (__m256)_mm256_min_epi32(value, kink);
    __m256 curve = _mm256_fmadd_ps(x, _mm256_set1_ps(-6.67686101e-13f), _mm256_set1_ps(7.03467035e-10f));
    curve = _mm256_fmadd_ps(x, curve, _mm256_set1_ps(-3.42098111e-7f));
    curve = _mm256_fmadd_ps(x, curve, _mm256_set1_ps(1.43013827e-4f));
    curve = _mm256_fmadd_ps(x, curve, _mm256_set1_ps(2.58703791e-2f));
    curve = _mm256_fmadd_ps(x, curve, _mm256_set1_ps(4.29684942e-1f));
    return _mm256_fmadd_ps(x, curve, dark);
}

/// Bytes of light, which may be more than 255 or less than 0: a polynomial of the fourth root of light, which is what
/// two approximate reciprocal roots are. With the largest errors those may have within 0.3 of a byte's step, by
/// minimising the polynomial's largest error.
AVX2 __m256i bytes_of(__m256 light) {
    const __m256i kink = (__m256i)_mm256_set1_ps(unit * 0.0031308f);
    const __m256 bright = (__m256)_mm256_max_epi32((__m256i)light, kink);
    const __m256 dark = (__m256)_mm256_min_epi32((__m256i)light, kink);
    const __m256 root = _mm256_rsqrt_ps(_mm256_rsqrt_ps(bright));
    __m256 curve = _mm256_fmadd_ps(root, _mm256_set1_ps(-0.0802320012f), _mm256_set1_ps(4.23190666f));
    curve = _mm256_fmadd_ps(root, curve, _mm256_set1_ps(8.60971485f));
    curve = _mm256_fmadd_ps(root, curve, _mm256_add_ps(dark, _mm256_set1_ps(-28.6139547f)));
    return _mm256_cvtps_epi32(curve);
}

AVX2 __m256i bytes_at(__m256i pixels, int place) {
    return _mm256_and_si256(_mm256_srli_epi32(pixels, place * 8), _mm256_set1_epi32(255));
}

/// Writes the light of eight pixels: blue, green and red; of greys, one of them.
AVX2 void mix_eight(__m256i pixels, float *linear, const factors *f, bool is_grey) {
    const __m256 blue = linear_of(bytes_at(pixels, 0)), green = linear_of(bytes_at(pixels, 1));
    const __m256 red = linear_of(bytes_at(pixels, 2));
    __m256 shared = _mm256_fmadd_ps(blue, f->blue, f->offset);
    shared = _mm256_fmadd_ps(red, f->red, _mm256_fmadd_ps(green, f->green, shared));
    if (is_grey) return _mm256_store_ps(linear, shared);
    _mm256_store_ps(linear, _mm256_fmadd_ps(blue, f->own, shared));
    _mm256_store_ps(linear + LANES, _mm256_fmadd_ps(green, f->own, shared));
    _mm256_store_ps(linear + LANES * 2, _mm256_fmadd_ps(red, f->own, shared));
}

/// These pixels in the colours of that light.
AVX2 __m256i recolor(__m256i pixels, const float *linear, bool is_grey) {
    const __m256i blue = bytes_of(_mm256_load_ps(linear));
    const __m256i green = is_grey ? blue : bytes_of(_mm256_load_ps(linear + LANES));
    const __m256i red = is_grey ? blue : bytes_of(_mm256_load_ps(linear + LANES * 2));
    // Packing keeps them between 0 and 255; then the bytes of four pixels lie colour by colour.
    const __m256i bytes = _mm256_packus_epi16(_mm256_packs_epi32(blue, green), _mm256_packs_epi32(red, red));
    const __m128i order = _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    const __m256i colors = _mm256_shuffle_epi8(bytes, _mm256_broadcastsi128_si256(order));
    return _mm256_blendv_epi8(colors, pixels, _mm256_set1_epi32((int)0xFF000000u));
}

/// A multiple of eight pixels, `PASS` at most.
AVX2 void mix_pass(const uint32_t *input, uint32_t *output, size_t count, const factors *f, bool is_grey) {
    _Alignas(32) float linear[PASS * 3];
    const size_t step = is_grey ? 1 : 3;
    for (size_t i = 0; i < count; i += LANES)
        mix_eight(_mm256_loadu_si256((const __m256i *)(input + i)), linear + i * step, f, is_grey);
    for (size_t i = 0; i < count; i += LANES) {
        const __m256i pixels = _mm256_loadu_si256((const __m256i *)(input + i));
        _mm256_storeu_si256((__m256i *)(output + i), recolor(pixels, linear + i * step, is_grey));
    }
}

AVX2 void mix_all(const uint32_t *input, uint32_t *output, size_t count, const factors *f, bool is_grey) {
    size_t i = 0;
    for (; i + PASS <= count; i += PASS) mix_pass(input + i, output + i, PASS, f, is_grey);
    const size_t whole = (count - i) / LANES * LANES;
    mix_pass(input + i, output + i, whole, f, is_grey);
    i += whole;
    if (i == count) return;
    uint32_t rest[LANES] = {0};
    const size_t bytes = (count - i) * sizeof *rest;
    __builtin_memcpy(rest, input + i, bytes);
    mix_pass(rest, rest, LANES, f, is_grey);
    __builtin_memcpy(output + i, rest, bytes);
}

__attribute__((target("avx2,fma"))) static void mix_vectors(
    const uint32_t *input, uint32_t *output, size_t count, const kf_color_mix *mix) {
    const float lacking = constant * (mix->own + mix->red + mix->green + mix->blue);
    const factors f = {
        .own = _mm256_set1_ps(mix->own), .red = _mm256_set1_ps(mix->red), .green = _mm256_set1_ps(mix->green),
        .blue = _mm256_set1_ps(mix->blue), .offset = _mm256_set1_ps(unit * mix->offset + lacking),
    };
    if (mix->own == 0) mix_all(input, output, count, &f, true);
    else mix_all(input, output, count, &f, false);
}

/// Gains multiply the errors of light, and the polynomial back falls again from some 500 times the whole light on. What
/// is not a number compares with nothing.
static bool is_exact_enough(const kf_color_mix *mix) {
    const float gain = fabsf(mix->own) + fabsf(mix->red) + fabsf(mix->green) + fabsf(mix->blue);
    return gain <= 8 && fabsf(mix->offset) <= 100;
}
#endif

bool kf_mix_colors_avx2(const uint32_t *input, uint32_t *output, size_t count, const kf_color_mix *mix) {
#if defined(__x86_64__)
    if (!mix->linear || !__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return false;
    if (!is_exact_enough(mix)) return false;
    mix_vectors(input, output, count, mix);
    return true;
#else
    (void)input, (void)output, (void)count, (void)mix;
    return false;
#endif
}
