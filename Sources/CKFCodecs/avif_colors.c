// From the planes of an AVIF picture to pixels, through libavif. Knows neither files nor decoders.
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

// libyuv is fast, and cuts off what is beyond 8 bits: white would not be white. Where values leave out the ends of the range
// and the weight of blue is above 2, which is so but for the colours of old television, blue comes out up to 12 levels off.
static bool is_beyond_libyuv(const avifImage *image) {
    bool is_modern = image->matrixCoefficients == AVIF_MATRIX_COEFFICIENTS_BT709
        || image->matrixCoefficients == AVIF_MATRIX_COEFFICIENTS_BT2020_NCL;
    return image->depth > 8 || (image->yuvRange == AVIF_RANGE_LIMITED && is_modern);
}

avifResult kf_avif_to_bgra(const avifImage *image, uint8_t *rows, size_t stride, bool premultiplied) {
    avifRGBImage rgb;
    avifRGBImageSetDefaults(&rgb, image);
    rgb.format = AVIF_RGB_FORMAT_BGRA;
    rgb.depth = 8;
    rgb.alphaPremultiplied = premultiplied;
    rgb.pixels = rows;
    rgb.rowBytes = (uint32_t)stride;
    rgb.avoidLibYUV = is_beyond_libyuv(image);
    avifResult result = avifImageYUVToRGB(image, &rgb);
    if (result == AVIF_RESULT_OK && premultiplied && image->alphaPremultiplied && image->alphaPlane) {
        clamp_to_alpha(rows, stride, image->width, image->height);
    }
    return result;
}
