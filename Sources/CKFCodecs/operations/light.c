// The light of pixels, looked up byte by byte: what resizing in linear light adds up.
//
// The loop exists for any processor and for AVX-512 with VBMI, and gives the same numbers.
#include "CKFCodecs.h"
#include "../support/vectors.h"
#include "srgb_tables.h"

/// The light of a pixel that is partly or wholly see-through.
static void light_of_transparent(const uint8_t *pixel, const int16_t *light_of_byte, int16_t *output) {
    const int opacity = pixel[3];
    for (int c = 0; c < 3; c++) {
        const int own = pixel[c] < opacity ? (pixel[c] * 255 + opacity / 2) / opacity : 255;
        output[c] = (int16_t)((light_of_byte[own] * opacity + 127) / 255);
    }
    output[3] = (int16_t)((opacity * KF_LIGHT + 127) / 255);
}

static void light_of_pixels(const int16_t *light_of_byte, const uint8_t *pixels, size_t count, int16_t *output) {
    for (size_t x = 0; x < count; x++, pixels += 4, output += 4) {
        if (__builtin_expect(pixels[3] == 255, 1)) {
            // Stored at once: four stores would take twice as long.
            const i16x4 light = {
                light_of_byte[pixels[0]], light_of_byte[pixels[1]], light_of_byte[pixels[2]], KF_LIGHT};
            __builtin_memcpy(output, &light, sizeof light);
        } else {
            light_of_transparent(pixels, light_of_byte, output);
        }
    }
}

#if defined(__x86_64__)
#include <immintrin.h>
#define VBMI __attribute__((target("avx512bw,avx512vbmi")))

/// The lower eight bits of 64 words, in their order.
static inline VBMI __attribute__((always_inline)) __m512i low_bytes(__m512i first, __m512i second) {
    const __m256i low = _mm512_cvtepi16_epi8(first), high = _mm512_cvtepi16_epi8(second);
    return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

/// The entries of 64 bytes in a table of 256: one instruction looks all of them up in a half of it.
static inline VBMI __attribute__((always_inline)) __m512i entries(const __m512i table[4], __m512i bytes) {
    const __m512i lower = _mm512_permutex2var_epi8(table[0], bytes, table[1]);
    const __m512i upper = _mm512_permutex2var_epi8(table[2], bytes, table[3]);
    return _mm512_mask_blend_epi8(_mm512_movepi8_mask(bytes), lower, upper);
}

/// Sixteen opaque pixels at a time: their alpha is looked up like the colours, since 255 is KF_LIGHT there as well.
static VBMI void light_of_pixels_vbmi(
    const int16_t *light_of_byte, const uint8_t *pixels, size_t count, int16_t *output) {
    // The lower and the upper bytes of the light are tables of their own.
    __m512i lower[4], upper[4];
    for (int k = 0; k < 4; k++) {
        const __m512i first = _mm512_loadu_si512(light_of_byte + k * 64);
        const __m512i second = _mm512_loadu_si512(light_of_byte + k * 64 + 32);
        lower[k] = low_bytes(first, second);
        upper[k] = low_bytes(_mm512_srli_epi16(first, 8), _mm512_srli_epi16(second, 8));
    }
    // Such that the halves of 16 bytes, which are unpacked one after the other, come out in the order of the pixels.
    const __m512i order = _mm512_setr_epi64(0, 4, 1, 5, 2, 6, 3, 7);
    const __m512i least_opaque = _mm512_set1_epi32((int)0xFF000000);
    size_t x = 0;
    for (; x + 16 <= count; x += 16) {
        const __m512i bytes = _mm512_loadu_si512(pixels + x * 4);
        // Rows are read in turn with the sums of others: the processor by itself begins too late.
        _mm_prefetch((const char *)(pixels + x * 4 + 2048), _MM_HINT_T0);
        if (_mm512_cmpge_epu32_mask(bytes, least_opaque) != 0xFFFF) {
            light_of_pixels(light_of_byte, pixels + x * 4, 16, output + x * 4);
            continue;
        }
        const __m512i ordered = _mm512_permutexvar_epi64(order, bytes);
        const __m512i low = entries(lower, ordered), high = entries(upper, ordered);
        _mm512_storeu_si512(output + x * 4, _mm512_unpacklo_epi8(low, high));
        _mm512_storeu_si512(output + x * 4 + 32, _mm512_unpackhi_epi8(low, high));
    }
    light_of_pixels(light_of_byte, pixels + x * 4, count - x, output + x * 4);
}
#endif

void kf_light_of_pixels(const uint8_t *pixels, size_t count, int16_t *output) {
#if defined(__x86_64__)
    // For few pixels, making the tables takes longer than it saves.
    if (count >= 64 && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vbmi"))
        return light_of_pixels_vbmi(kf_srgb_light_of_byte(), pixels, count, output);
#endif
    light_of_pixels(kf_srgb_light_of_byte(), pixels, count, output);
}

void kf_light_of_pixels_portably(const uint8_t *pixels, size_t count, int16_t *output) {
    light_of_pixels(kf_srgb_light_of_byte(), pixels, count, output);
}
