// Colours looked up in tables, byte by byte. Alpha is straight, and stays as it is.
#include "CKFCodecs.h"
#include <string.h>

#define ALPHA 0xFF000000u

static void map_bytes(const uint32_t *input, uint32_t *output, size_t count, const uint8_t *tables) {
    for (size_t i = 0; i < count; i++) {
        const uint32_t pixel = input[i];
        output[i] = (pixel & ALPHA) | (uint32_t)tables[512 + (pixel >> 16 & 255)] << 16
                  | (uint32_t)tables[256 + (pixel >> 8 & 255)] << 8 | tables[pixel & 255];
    }
}

#if defined(__x86_64__)
#include <immintrin.h>
#define AVX2 __attribute__((target("avx2")))

/// One table for all three colours. An instruction looks up sixteen of its bytes, by the lower four bits, and gives 0
/// where the highest is set. So after every sixteenth, subtracting 16 removes the bytes whose entry was in it, and the
/// result of all others is replaced through the differences of two sixteenths.
static AVX2 void map_bytes_avx2(const uint32_t *input, uint32_t *output, size_t count, const uint8_t *tables) {
    __m256i lower[8], upper[8];
    for (int k = 0; k < 8; k++) {
        lower[k] = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(tables + k * 16)));
        upper[k] = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(tables + k * 16 + 128)));
    }
    for (int k = 7; k > 0; k--) {
        lower[k] = _mm256_xor_si256(lower[k], lower[k - 1]);
        upper[k] = _mm256_xor_si256(upper[k], upper[k - 1]);
    }
    const __m256i sixteen = _mm256_set1_epi8(16), highest = _mm256_set1_epi8((char)128);
    size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        const __m256i pixels = _mm256_loadu_si256((const __m256i *)(input + i));
        __m256i low = pixels, high = _mm256_xor_si256(pixels, highest), result = _mm256_setzero_si256();
        for (int k = 0; k < 8; k++) {
            result = _mm256_xor_si256(result, _mm256_shuffle_epi8(lower[k], low));
            result = _mm256_xor_si256(result, _mm256_shuffle_epi8(upper[k], high));
            low = _mm256_subs_epi8(low, sixteen);
            high = _mm256_subs_epi8(high, sixteen);
        }
        result = _mm256_blendv_epi8(result, pixels, _mm256_set1_epi32((int)ALPHA));
        _mm256_storeu_si256((__m256i *)(output + i), result);
    }
    map_bytes(input + i, output + i, count - i, tables);
}
#endif

bool kf_map_bytes_avx2(const uint32_t *input, uint32_t *output, size_t count, const uint8_t *tables) {
#if defined(__x86_64__)
    // For few pixels, comparing tables takes longer than it saves.
    if (count < 64 || !__builtin_cpu_supports("avx2")) return false;
    if (memcmp(tables, tables + 256, 256) || memcmp(tables, tables + 512, 256)) return false;
    map_bytes_avx2(input, output, count, tables);
    return true;
#else
    (void)input, (void)output, (void)count, (void)tables;
    return false;
#endif
}

void kf_map_bytes(const uint32_t *input, uint32_t *output, size_t count, const uint8_t *tables) {
    if (!kf_map_bytes_avx2(input, output, count, tables)) map_bytes(input, output, count, tables);
}

void kf_map_bytes_portably(const uint32_t *input, uint32_t *output, size_t count, const uint8_t *tables) {
    map_bytes(input, output, count, tables);
}
