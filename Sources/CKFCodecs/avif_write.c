// Writing AVIF stills through libavif. Refuses to know animations.
#include "avif_support.h"
#include <stdlib.h>

// What AV1 can code.
enum { MAX_SIDE = 65536 };

// The picture that is to be coded, in the planes the coder wants.
static avifResult fill(avifImage *image, const uint8_t *rows, size_t stride, bool has_alpha, bool lossless) {
    image->colorPrimaries = AVIF_COLOR_PRIMARIES_BT709;
    image->transferCharacteristics = AVIF_TRANSFER_CHARACTERISTICS_SRGB;
    // Only green, blue and red as they are survive the way there and back.
    image->matrixCoefficients = lossless ? AVIF_MATRIX_COEFFICIENTS_IDENTITY : AVIF_MATRIX_COEFFICIENTS_BT601;
    image->yuvRange = AVIF_RANGE_FULL;
    avifRGBImage rgb;
    avifRGBImageSetDefaults(&rgb, image);
    rgb.format = AVIF_RGB_FORMAT_BGRA;
    rgb.depth = 8;
    rgb.ignoreAlpha = !has_alpha;
    rgb.pixels = (uint8_t *)rows;
    rgb.rowBytes = (uint32_t)stride;
    return avifImageRGBToYUV(image, &rgb);
}

static void set_quality(avifEncoder *encoder, int quality) {
    encoder->maxThreads = 1;
    encoder->speed = 8;
    int quantizer = (100 - quality) * AVIF_QUANTIZER_WORST_QUALITY / 100;
    encoder->minQuantizer = encoder->maxQuantizer = quantizer;
    encoder->minQuantizerAlpha = encoder->maxQuantizerAlpha = AVIF_QUANTIZER_LOSSLESS;
}

kf_status kf_avif_encode(
    const uint8_t *rows, size_t stride, uint32_t width, uint32_t height, bool has_alpha, int quality, bool lossless,
    uint8_t **bytes, size_t *size, kf_message *message
) {
    if (!avifCodecName(AVIF_CODEC_CHOICE_AUTO, AVIF_CODEC_FLAG_CAN_ENCODE)) {
        return kf_fail(message, KF_UNSUPPORTED, "this libavif cannot encode");
    }
    if (width > MAX_SIDE || height > MAX_SIDE) {
        return kf_fail(message, KF_UNSUPPORTED, "AVIF pictures have at most 65536 pixels a side");
    }
    avifPixelFormat format = lossless || quality >= 90 ? AVIF_PIXEL_FORMAT_YUV444 : AVIF_PIXEL_FORMAT_YUV420;
    avifImage *image = avifImageCreate(width, height, 8, format);
    avifEncoder *encoder = avifEncoderCreate();
    avifRWData output = AVIF_DATA_EMPTY;
    kf_status status = KF_OK;
    if (!image || !encoder || !kf_avif_has_room(image)) {
        status = kf_fail(message, KF_OUT_OF_MEMORY, "out of memory");
    } else {
        set_quality(encoder, lossless ? 100 : quality);
        avifResult result = fill(image, rows, stride, has_alpha, lossless);
        if (result == AVIF_RESULT_OK) result = avifEncoderWrite(encoder, image, &output);
        if (result != AVIF_RESULT_OK) status = kf_avif_fail(message, result, NULL);
    }
    if (image) avifImageDestroy(image);
    if (encoder) avifEncoderDestroy(encoder);
    // libavif has its own allocator; ours is malloc.
    kf_buffer buffer = {0};
    if (status == KF_OK && !kf_buffer_append(&buffer, output.data, output.size)) {
        status = kf_fail(message, KF_OUT_OF_MEMORY, "out of memory");
    }
    avifRWDataFree(&output);
    if (status == KF_OK) kf_buffer_take(&buffer, bytes, size);
    return status;
}
