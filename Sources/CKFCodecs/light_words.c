// Colours mixed in linear light by whole numbers, with tables that stay in registers. Knows pixels with straight alpha, which
// stays as it is, and no rows.
#include "light.h"

#if defined(__x86_64__)
#include <immintrin.h>
#include <math.h>

#define WORDS __attribute__((target("avx512f,avx512bw,avx512vbmi,avx512vnni"), always_inline)) static inline

/// What the loop keeps in registers.
typedef struct mixer {
    /// The tables of `kf_light_tables`.
    __m512i light[8], start[4], slope[4];
    /// Factors, in pairs as they are multiplied: blue with green, red with alpha, which counts for nothing.
    __m512i blue_green, red_alpha, own_first, own_second;
    __m512i offset, shift;
} mixer;

/// How far the factors are shifted to become whole numbers, or 0: they, or the sums, might not fit, or would be too coarse.
///
/// Darkness has 13 of a byte's steps for every 256th of the light. With 13 bits behind the point the factors' own rounding
/// comes to 0.4 of a step there at worst, the light's to 0.2, and the way back to less than 0.1, so that no byte is wrong by
/// more than one; larger gains leave fewer bits.
static int shift_for(const kf_color_mix *mix) {
    const double factors[4] = {mix->own, mix->red, mix->green, mix->blue};
    double largest = 0, sum = 0, sizes = 0;
    for (int k = 0; k < 4; k++) {
        largest = fmax(largest, fabs(factors[k]));
        sum += factors[k];
        sizes += fabs(factors[k]);
    }
    // Light goes from -1/2 to 1/2 here. What is not a number compares with nothing.
    const double reach = sizes / 2 + fabs(mix->offset + sum / 2);
    for (int shift = 15; shift >= 13; shift--)
        if (largest * (1 << shift) < 32767 && reach * (1 << shift) < 32760) return shift;
    return 0;
}

WORDS __m512i pair(double first, double second, double scale) {
    const uint32_t low = (uint32_t)lrint(first * scale), high = (uint32_t)lrint(second * scale);
    return _mm512_set1_epi32((int)((low & 0xFFFF) | high << 16));
}

WORDS mixer make_mixer(const kf_color_mix *mix, int shift) {
    const kf_light_tables *tables = kf_light();
    const double own = mix->own, red = mix->red, green = mix->green, blue = mix->blue, scale = 1 << shift;
    // Rounds when it is shifted back, and gives back the half that all light lacks.
    const double offset = mix->offset * 65535.0 + (own + red + green + blue) * 32768 + 0.5;
    mixer m = {
        .blue_green = pair(blue, green, scale), .red_alpha = pair(red, 0, scale),
        .own_first = pair(own, 0, scale), .own_second = pair(0, own, scale),
        .offset = _mm512_set1_epi32((int)lrint(offset * scale)), .shift = _mm512_set1_epi32(shift),
    };
    for (int k = 0; k < 8; k++) m.light[k] = _mm512_loadu_si512(tables->word_of_byte[k / 4] + k % 4 * 64);
    for (int k = 0; k < 4; k++) {
        m.start[k] = _mm512_loadu_si512(tables->start[k / 2] + k % 2 * 32);
        m.slope[k] = _mm512_loadu_si512(tables->slope[k / 2] + k % 2 * 32);
    }
    return m;
}

/// Looks every byte up in 256 bytes: an instruction does half of them.
WORDS __m512i look_up(const __m512i table[4], __m512i bytes, __mmask64 upper) {
    const __m512i low = _mm512_permutex2var_epi8(table[0], bytes, table[1]);
    const __m512i high = _mm512_permutex2var_epi8(table[2], bytes, table[3]);
    return _mm512_mask_blend_epi8(upper, low, high);
}

/// The colours of sixteen pixels in 65535ths of light, not yet kept between 0 and 1.
typedef struct lights { __m512i blue, green, red; } lights;

WORDS lights mix_lights(const mixer *m, __m512i pixels, bool is_grey) {
    const __mmask64 upper = _mm512_movepi8_mask(pixels);
    const __m512i low = look_up(m->light, pixels, upper), high = look_up(m->light + 4, pixels, upper);
    const __m512 front = (__m512)_mm512_unpacklo_epi8(low, high), back = (__m512)_mm512_unpackhi_epi8(low, high);
    const __m512i blue_green = (__m512i)_mm512_shuffle_ps(front, back, 0x88);
    const __m512i red_alpha = (__m512i)_mm512_shuffle_ps(front, back, 0xDD);
    __m512i shared = _mm512_dpwssd_epi32(m->offset, blue_green, m->blue_green);
    shared = _mm512_dpwssd_epi32(shared, red_alpha, m->red_alpha);
    if (is_grey) {
        const __m512i light = _mm512_srav_epi32(shared, m->shift);
        return (lights){light, light, light};
    }
    return (lights){
        .blue = _mm512_srav_epi32(_mm512_dpwssd_epi32(shared, blue_green, m->own_first), m->shift),
        .green = _mm512_srav_epi32(_mm512_dpwssd_epi32(shared, blue_green, m->own_second), m->shift),
        .red = _mm512_srav_epi32(_mm512_dpwssd_epi32(shared, red_alpha, m->own_first), m->shift),
    };
}

/// The bytes for two vectors of light, as words.
WORDS __m512i bytes_of(const mixer *m, __m512i some, __m512i others) {
    // This keeps them between 0 and 1.
    __m512i light = _mm512_packus_epi32(some, others);
    const __mmask32 dark = _mm512_cmplt_epu16_mask(light, _mm512_set1_epi16(65536 / 16));
    light = _mm512_mask_slli_epi16(light, dark, light, 4);
    const __m512i part = _mm512_srli_epi16(light, 10);
    const __m512i start = _mm512_mask_blend_epi16(
        dark, _mm512_permutex2var_epi16(m->start[2], part, m->start[3]),
        _mm512_permutex2var_epi16(m->start[0], part, m->start[1]));
    const __m512i slope = _mm512_mask_blend_epi16(
        dark, _mm512_permutex2var_epi16(m->slope[2], part, m->slope[3]),
        _mm512_permutex2var_epi16(m->slope[0], part, m->slope[1]));
    return _mm512_srli_epi16(_mm512_add_epi16(start, _mm512_mulhi_epu16(light, slope)), 6);
}

WORDS void mix_two_vectors(const mixer *m, __m512i pixels[2], bool is_grey) {
    const lights one = mix_lights(m, pixels[0], is_grey), two = mix_lights(m, pixels[1], is_grey);
    const __m512i blue = bytes_of(m, one.blue, two.blue);
    const __m512i green = is_grey ? blue : bytes_of(m, one.green, two.green);
    const __m512i red = is_grey ? blue : bytes_of(m, one.red, two.red);
    const __m512i blue_green = _mm512_or_si512(blue, _mm512_slli_epi16(green, 8));
    const __m512i alpha = _mm512_set1_epi32((int)0xFF000000u);
    // Alpha's bits from the pixels, all others from the colours.
    pixels[0] = _mm512_ternarylogic_epi32(alpha, pixels[0], _mm512_unpacklo_epi16(blue_green, red), 0xCA);
    pixels[1] = _mm512_ternarylogic_epi32(alpha, pixels[1], _mm512_unpackhi_epi16(blue_green, red), 0xCA);
}

WORDS void mix_all(const uint32_t *input, uint32_t *output, size_t count, mixer m, bool is_grey) {
    size_t i = 0;
    for (; i + 32 <= count; i += 32) {
        __m512i pixels[2] = {_mm512_loadu_si512(input + i), _mm512_loadu_si512(input + i + 16)};
        mix_two_vectors(&m, pixels, is_grey);
        _mm512_storeu_si512(output + i, pixels[0]);
        _mm512_storeu_si512(output + i + 16, pixels[1]);
    }
    if (i == count) return;
    // Nothing is read or written behind the end.
    const uint32_t there = (1u << (count - i)) - 1;
    const __mmask16 first = (__mmask16)there, second = (__mmask16)(there >> 16);
    __m512i pixels[2] = {_mm512_maskz_loadu_epi32(first, input + i), _mm512_maskz_loadu_epi32(second, input + i + 16)};
    mix_two_vectors(&m, pixels, is_grey);
    _mm512_mask_storeu_epi32(output + i, first, pixels[0]);
    _mm512_mask_storeu_epi32(output + i + 16, second, pixels[1]);
}

__attribute__((target("avx512f,avx512bw,avx512vbmi,avx512vnni"))) static void mix_words(
    const uint32_t *input, uint32_t *output, size_t count, const kf_color_mix *mix, int shift) {
    const mixer m = make_mixer(mix, shift);
    if (mix->own == 0) mix_all(input, output, count, m, true);
    else mix_all(input, output, count, m, false);
}
#endif

bool kf_mix_in_words(const uint32_t *input, uint32_t *output, size_t count, const kf_color_mix *mix) {
#if defined(__x86_64__)
    if (!mix->linear || !__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw")) return false;
    if (!__builtin_cpu_supports("avx512vbmi") || !__builtin_cpu_supports("avx512vnni")) return false;
    const int shift = shift_for(mix);
    if (shift == 0) return false;
    mix_words(input, output, count, mix, shift);
    return true;
#else
    (void)input, (void)output, (void)count, (void)mix;
    return false;
#endif
}
