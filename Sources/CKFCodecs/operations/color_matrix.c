// Colours mixed from colours, in linear light or as they are. Alpha is straight, and stays as it is.
#include "CKFCodecs.h"
#include "srgb_tables.h"

// So that every processor gives the same bytes: no multiplication and addition become one operation.
#pragma STDC FP_CONTRACT OFF

#define ALPHA 0xFF000000u

// Sixteen pixels at a time, in the compiler's vectors. They are macros since how vectors are passed depends on the
// processor.
typedef float floats __attribute__((vector_size(64)));
typedef int32_t integers __attribute__((vector_size(64)));

enum { lanes = 16 };

#define SELECT(mask, yes, no) ((floats)(((integers)(yes) & (mask)) | ((integers)(no) & ~(mask))))

// From bytes to light: exactly, since a large gain makes every error large, and darkness has many steps for a little
// light.
#define LINEAR_OF_BYTE(light, bytes)                                                                                 \
    do {                                                                                                             \
        const integers places = bytes;                                                                               \
        for (int lane = 0; lane < lanes; lane++) light[lane] = linear_of_byte[places[lane]];                         \
    } while (0)

// From the square root of light to bytes, by a polynomial found by minimising the largest error: within 0.038 of a
// byte's step.
#define BYTE_OF_LINEAR(bytes, light)                                                                                 \
    do {                                                                                                             \
        const floats x = __builtin_elementwise_min(__builtin_elementwise_max(light, zero), one);                     \
        const floats s = __builtin_elementwise_sqrt(x);                                                              \
        const floats curve = -10.7691797f                                                                            \
            + s * (401.694687f + s * (-484.370385f + s * (994.113594f + s * (-1275.82329f + s * (871.775292f         \
            - s * 241.658702f)))));                                                                                  \
        bytes = __builtin_convertvector(SELECT(x < 0.0031308f, x * (255 * 12.92f), curve) + 0.5f, integers);         \
    } while (0)

// The same without a curve.
#define VALUE_OF_BYTE(value, bytes) value = __builtin_convertvector(bytes, floats) * (1 / 255.0f)
#define BYTE_OF_VALUE(bytes, value)                                                                                  \
    bytes = __builtin_convertvector(                                                                                 \
        __builtin_elementwise_min(__builtin_elementwise_max(value, zero), one) * 255 + 0.5f, integers)

#define MIX_LANES(DECODE, ENCODE)                                                                                    \
    do {                                                                                                             \
        floats red, green, blue;                                                                                     \
        DECODE(blue, pixels & 255);                                                                                  \
        DECODE(green, pixels >> 8 & 255);                                                                            \
        DECODE(red, pixels >> 16 & 255);                                                                             \
        const floats shared = red * mix->red + green * mix->green + blue * mix->blue + mix->offset;                  \
        integers r, g, b;                                                                                            \
        if (mix->own == 0) {                                                                                         \
            ENCODE(r, shared);                                                                                       \
            g = b = r;                                                                                               \
        } else {                                                                                                     \
            ENCODE(r, red * mix->own + shared);                                                                      \
            ENCODE(g, green * mix->own + shared);                                                                    \
            ENCODE(b, blue * mix->own + shared);                                                                     \
        }                                                                                                            \
        pixels = (pixels & (int32_t)ALPHA) | r << 16 | g << 8 | b;                                                   \
    } while (0)

#define MIX_ALL                                                                                                      \
    const floats zero = {0}, one = zero + 1;                                                                         \
    const float *const linear_of_byte = kf_srgb_linear_of_byte();                                                    \
    for (size_t i = 0; i < count; i += lanes) {                                                                      \
        const size_t bytes = (count - i < lanes ? count - i : lanes) * sizeof *input;                                \
        integers pixels = {0};                                                                                       \
        if (bytes == sizeof pixels) __builtin_memcpy(&pixels, input + i, sizeof pixels);                             \
        else __builtin_memcpy(&pixels, input + i, bytes);                                                            \
        if (mix->linear) MIX_LANES(LINEAR_OF_BYTE, BYTE_OF_LINEAR);                                                  \
        else MIX_LANES(VALUE_OF_BYTE, BYTE_OF_VALUE);                                                                \
        if (bytes == sizeof pixels) __builtin_memcpy(output + i, &pixels, sizeof pixels);                            \
        else __builtin_memcpy(output + i, &pixels, bytes);                                                           \
    }

#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) static void mix_with_tables_avx2(
    const uint32_t *input, uint32_t *output, size_t count, const kf_color_mix *mix) {
    MIX_ALL
}
#endif

void kf_mix_colors_portably(const uint32_t *input, uint32_t *output, size_t count, const kf_color_mix *mix) {
    MIX_ALL
}

void kf_mix_colors(const uint32_t *input, uint32_t *output, size_t count, const kf_color_mix *mix) {
    if (kf_mix_colors_avx2(input, output, count, mix)) return;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return mix_with_tables_avx2(input, output, count, mix);
#endif
    kf_mix_colors_portably(input, output, count, mix);
}
