// From planes of luma and chroma to pixels of 8 bits. Colours are described only by the weights of red and blue in
// luma.
//
// libyuv, which libavif asks, is as fast, but of more than 8 bits it cuts the rest off, and with BT.709 or BT.2020 in
// video's range blue is more than a dozen levels off; libavif's own loops follow the formula and take several times as
// long. What is not luma with two differences (GBR, YCgCo and the like) is left to libavif, and so is what libyuv has
// right where there is no AVX2.
#include "yuv.h"
#include <stdlib.h>

// ---------------------------------------------------------------------------------------------- weights

/// The volume that the three vectors span.
static double volume(const double a[3], const double b[3], const double c[3]) {
    return a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) + a[2] * (b[0] * c[1] - b[1] * c[0]);
}

/// Red, green and blue, each as much as makes white of them, have these shares in its luminance.
static void derive_weights(const double chromaticities[8], double *kr, double *kb) {
    double colors[4][3];
    for (int i = 0; i < 4; i++) {
        const double x = chromaticities[2 * i], y = chromaticities[2 * i + 1];
        colors[i][0] = x;
        colors[i][1] = y;
        colors[i][2] = 1 - x - y;
    }
    const double *white = colors[0], *red = colors[1], *green = colors[2], *blue = colors[3];
    const double all = white[1] * volume(red, green, blue);
    *kr = red[1] * volume(white, green, blue) / all;
    *kb = blue[1] * volume(red, green, white) / all;
}

bool kf_yuv_find_weights(uint32_t matrix, const double chromaticities[8], kf_yuv *image) {
    enum { derived = 12, count = 10 };
    static const double weights[count][2] = {
        [1] = {0.2126, 0.0722}, [2] = {0.299, 0.114}, [4] = {0.3, 0.11}, [5] = {0.299, 0.114}, [6] = {0.299, 0.114},
        [7] = {0.212, 0.087}, [9] = {0.2627, 0.0593},
    };
    if (matrix == derived) {
        derive_weights(chromaticities, &image->kr, &image->kb);
        return true;
    }
    if (matrix >= count || weights[matrix][0] == 0) return false;
    image->kr = weights[matrix][0];
    image->kb = weights[matrix][1];
    return true;
}

// ---------------------------------------------------------------------------------------------- images

static kf_yuv_rows loops_of(kf_yuv_loops kind, bool divides) {
    kf_yuv_rows chosen = kf_yuv_portable;
#if defined(__x86_64__)
    if (kind == KF_YUV_AVX2) chosen = kf_yuv_avx2;
#else
    (void)kind;
#endif
    if (divides) chosen.convert = kf_yuv_divide;
    return chosen;
}

static bool is_known(uint32_t depth) { return depth == 8 || depth == 10 || depth == 12; }

/// False when the words cannot hold what the numbers of the image call for.
static bool find_numbers(const kf_yuv *image, bool premultiplied, kf_yuv_numbers *n) {
    const double kr = image->kr, kb = image->kb, kg = 1 - kr - kb;
    if (!is_known(image->depth) || !(kr >= 0 && kb >= 0 && kg > 0)) return false;
    const int one = 1 << (image->depth - 8), largest = 256 * one - 1;
    const double luma = 255.0 / (image->is_full_range ? largest : 219 * one);
    // A word of chroma is 2^(16 - depth) for a step.
    const double chroma =
        255.0 / ((image->is_full_range ? largest : 224 * one) * (double)(1 << (16 - image->depth)));
    const double red = 2 * (1 - kr) * chroma, blue = 2 * (1 - kb) * chroma;
    const double green_cb = blue * kb / kg, green_cr = red * kr / kg;
    // The sum of the words that make green has to be a word; no other can be as large.
    const double words = KF_YUV_STEP * 32768.0;
    if (green_cb * words > 10000 || green_cr * words > 10000) return false;
    *n = (kf_yuv_numbers){
        .depth = image->depth, .black = image->is_full_range ? 0 : 16 * one,
        .luma = (int16_t)(luma / (1 << (15 - image->depth)) * words + 0.5),
        .red = (int16_t)(red * words + 0.5), .green_cb = (int16_t)(green_cb * words + 0.5),
        .green_cr = (int16_t)(green_cr * words + 0.5), .blue = (int16_t)(blue * words + 0.5),
        .exact_luma = (float)luma, .exact_red = (float)red, .exact_green_cb = (float)green_cb,
        .exact_green_cr = (float)green_cr, .exact_blue = (float)blue,
    };
    if (!image->planes[3]) return true;
    if (!is_known(image->alpha_depth)) return false;
    n->alpha_depth = image->alpha_depth;
    // 1/341 or 1/273 of 2^24, rounded up.
    n->alpha_excess = n->alpha_depth == 10 ? 340 : n->alpha_depth == 12 ? 272 : 0;
    n->alpha_share = n->alpha_depth == 10 ? 49201 : n->alpha_depth == 12 ? 61456 : 0;
    n->multiplies = premultiplied && !image->is_premultiplied;
    n->limits = premultiplied;
    return true;
}

/// Makes a line of chroma as wide as the image; `between` is memory for half of one.
static void find_chroma(
    const kf_yuv *image, int plane, uint32_t y, const kf_yuv_rows *loops, int16_t *between, int16_t *line) {
    const uint8_t *rows = image->planes[plane];
    const size_t stride = image->strides[plane];
    if (!image->halves_columns) return loops->widen(rows + y * stride, image->depth, 0, image->width, line);
    const size_t count = ((size_t)image->width + 1) / 2;
    size_t near = y, far = y;
    if (image->halves_rows) {
        const size_t last = ((size_t)image->height + 1) / 2 - 1;
        near = y / 2;
        far = y % 2 ? (near < last ? near + 1 : last) : (near ? near - 1 : 0);
    }
    loops->blend(rows + near * stride, rows + far * stride, image->depth, 0, count, between);
    between[-1] = between[0];
    between[count] = between[count - 1];
    loops->spread(between, 0, count, line);
}

kf_yuv_loops kf_yuv_best_loops(void) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) return KF_YUV_AVX2;
#endif
    return KF_YUV_PORTABLE;
}

kf_status kf_yuv_to_bgra(
    const kf_yuv *image, kf_yuv_loops kind, bool premultiplied, uint8_t *rows, size_t stride) {
    kf_yuv_numbers numbers;
    if (!find_numbers(image, premultiplied, &numbers)) return KF_UNSUPPORTED;
    const bool has_alpha = image->planes[3] != NULL, has_chroma = image->planes[1] && image->planes[2];
    const kf_yuv_rows loops = loops_of(kind, has_alpha && image->is_premultiplied && !premultiplied);
    // Three lines, with room for what is read and written beyond their ends. Without chroma they stay grey.
    const size_t room = (size_t)image->width + 64;
    int16_t *memory = calloc(room * 3, sizeof *memory);
    if (!memory) return KF_OUT_OF_MEMORY;
    int16_t *between = memory + 16, *cb = memory + room, *cr = cb + room;
    for (uint32_t y = 0; y < image->height; y++) {
        if (has_chroma) {
            find_chroma(image, 1, y, &loops, between, cb);
            find_chroma(image, 2, y, &loops, between, cr);
        }
        const kf_yuv_row row = {
            image->planes[0] + y * image->strides[0],
            has_alpha ? image->planes[3] + y * image->strides[3] : NULL, cb, cr,
        };
        loops.convert(&row, &numbers, 0, image->width, rows + y * stride);
    }
    free(memory);
    return KF_OK;
}
