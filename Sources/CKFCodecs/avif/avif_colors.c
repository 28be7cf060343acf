// From the planes of an AVIF image to pixels: by our own loops, and through libavif where colours are not made of luma
// and two differences.
#include "../support/libraries.h"
#if KF_HAS_AVIF
#include "avif_support.h"

// Colours that were multiplied by alpha before they were coded come out of a lossy coder brighter than they can be.
static void clamp_to_alpha(uint8_t *rows, size_t stride, uint32_t width, uint32_t height) {
    for (uint32_t y = 0; y < height; y++) {
        uint8_t *row = rows + y * stride;
        for (size_t x = 0; x < width; x++) {
            uint8_t *pixel = row + x * 4, alpha = pixel[3];
            for (int i = 0; i < 3; i++) pixel[i] = pixel[i] < alpha ? pixel[i] : alpha;
        }
    }
}

// Rounded to the nearest, so that what was divided by alpha before it was written comes back as it was.
static void multiply_by_alpha(uint8_t *rows, size_t stride, uint32_t width, uint32_t height) {
    for (uint32_t y = 0; y < height; y++) {
        uint8_t *row = rows + y * stride;
        for (size_t x = 0; x < width; x++) {
            uint8_t *pixel = row + x * 4, alpha = pixel[3];
            for (int i = 0; i < 3; i++) pixel[i] = (uint8_t)((pixel[i] * alpha + 127) / 255);
        }
    }
}

/// Collects what our loops need. False when they cannot convert the image.
static bool describe(const avifImage *image, kf_yuv *yuv) {
    *yuv = (kf_yuv){
        .width = image->width, .height = image->height, .depth = image->depth, .alpha_depth = image->depth,
        .planes = {image->yuvPlanes[0], image->yuvPlanes[1], image->yuvPlanes[2], image->alphaPlane},
        .strides = {image->yuvRowBytes[0], image->yuvRowBytes[1], image->yuvRowBytes[2], image->alphaRowBytes},
        .is_full_range = image->yuvRange == AVIF_RANGE_FULL, .is_premultiplied = image->alphaPremultiplied,
    };
    switch (image->yuvFormat) {
    case AVIF_PIXEL_FORMAT_YUV444: break;
    case AVIF_PIXEL_FORMAT_YUV422: yuv->halves_columns = true; break;
    case AVIF_PIXEL_FORMAT_YUV420: yuv->halves_columns = yuv->halves_rows = true; break;
    case AVIF_PIXEL_FORMAT_YUV400: yuv->planes[1] = yuv->planes[2] = NULL; break;
    default: return false;
    }
    bool has_color = yuv->planes[1] && yuv->planes[2];
    if (!yuv->planes[0] || (!has_color && image->yuvFormat != AVIF_PIXEL_FORMAT_YUV400)) return false;
    double chromaticities[8];
    kf_avif_find_chromaticities(image->colorPrimaries, chromaticities);
    return kf_yuv_find_weights(image->matrixCoefficients, chromaticities, yuv);
}

static avifResult convert(const avifImage *image, uint8_t *rows, size_t stride, bool premultiplied) {
    avifRGBImage rgb;
    avifRGBImageSetDefaults(&rgb, image);
    rgb.format = AVIF_RGB_FORMAT_BGRA;
    rgb.depth = 8;
    // libavif rounds products down.
    bool is_multiplied_here = premultiplied && !image->alphaPremultiplied;
    rgb.alphaPremultiplied = premultiplied && !is_multiplied_here;
    rgb.pixels = rows;
    rgb.rowBytes = (uint32_t)stride;
    avifResult result = avifImageYUVToRGB(image, &rgb);
    if (result != AVIF_RESULT_OK || !premultiplied || !image->alphaPlane) return result;
    (is_multiplied_here ? multiply_by_alpha : clamp_to_alpha)(rows, stride, image->width, image->height);
    return result;
}

// libyuv, which libavif calls, cuts off what is beyond 8 bits: white would not be white. Where values leave out the
// ends of the range and the weight of blue is above 2, as in all colour spaces but those of old television, blue comes
// out more than a dozen levels off.
static bool is_beyond_libyuv(const avifImage *image) {
    bool is_modern = image->matrixCoefficients == AVIF_MATRIX_COEFFICIENTS_BT709
        || image->matrixCoefficients == AVIF_MATRIX_COEFFICIENTS_BT2020_NCL
        || image->matrixCoefficients == AVIF_MATRIX_COEFFICIENTS_CHROMA_DERIVED_NCL;
    return image->depth > 8 || (image->yuvRange == AVIF_RANGE_LIMITED && is_modern);
}

avifResult kf_avif_to_bgra(const avifImage *image, uint8_t *rows, size_t stride, bool premultiplied) {
    const kf_yuv_loops loops = kf_yuv_best_loops();
    kf_status status = KF_UNSUPPORTED;
    kf_yuv yuv;
    // libyuv has loops for more processors than we have.
    if ((loops != KF_YUV_PORTABLE || is_beyond_libyuv(image)) && describe(image, &yuv)) {
        status = kf_yuv_to_bgra(&yuv, loops, premultiplied, rows, stride);
    }
    if (status == KF_OK) return AVIF_RESULT_OK;
#if AVIF_VERSION >= 110000
    if (status == KF_OUT_OF_MEMORY) return AVIF_RESULT_OUT_OF_MEMORY;
#endif
    return status == KF_UNSUPPORTED ? convert(image, rows, stride, premultiplied) : AVIF_RESULT_UNKNOWN_ERROR;
}
#endif
