// Bare libwebp and libavif.
#include "CBaseline.h"
#include <stdlib.h>
#include <string.h>
#include <avif/avif.h>
#include <webp/decode.h>

uint8_t *baseline_webp(const uint8_t *bytes, size_t size, size_t *width, size_t *height) {
    WebPDecoderConfig config;
    if (!WebPInitDecoderConfig(&config) || WebPGetFeatures(bytes, size, &config.input) != VP8_STATUS_OK) return NULL;
    *width = (size_t)config.input.width;
    *height = (size_t)config.input.height;
    size_t stride = *width * 4;
    uint8_t *pixels = malloc(stride * *height);
    if (!pixels) return NULL;
    config.output.colorspace = MODE_bgrA;
    config.output.is_external_memory = 1;
    config.output.u.RGBA.rgba = pixels;
    config.output.u.RGBA.stride = (int)stride;
    config.output.u.RGBA.size = stride * *height;
    if (WebPDecode(bytes, size, &config) == VP8_STATUS_OK) return pixels;
    free(pixels);
    return NULL;
}

static avifResult convert(avifDecoder *decoder, const uint8_t *bytes, size_t size, uint8_t **pixels) {
    avifResult result = avifDecoderSetIOMemory(decoder, bytes, size);
    if (result == AVIF_RESULT_OK) result = avifDecoderParse(decoder);
    if (result == AVIF_RESULT_OK) result = avifDecoderNextImage(decoder);
    if (result != AVIF_RESULT_OK) return result;
    avifRGBImage rgb;
    avifRGBImageSetDefaults(&rgb, decoder->image);
    rgb.format = AVIF_RGB_FORMAT_BGRA;
    rgb.depth = 8;
    rgb.alphaPremultiplied = AVIF_TRUE;
    rgb.rowBytes = decoder->image->width * 4;
    rgb.pixels = *pixels = malloc((size_t)rgb.rowBytes * decoder->image->height);
    return rgb.pixels ? avifImageYUVToRGB(decoder->image, &rgb) : AVIF_RESULT_UNKNOWN_ERROR;
}

uint8_t *baseline_avif(const uint8_t *bytes, size_t size, bool aom, size_t *width, size_t *height) {
    avifDecoder *decoder = avifDecoderCreate();
    if (!decoder) return NULL;
    decoder->maxThreads = 1;
    decoder->codecChoice = aom ? AVIF_CODEC_CHOICE_AOM : AVIF_CODEC_CHOICE_AUTO;
    uint8_t *pixels = NULL;
    if (convert(decoder, bytes, size, &pixels) == AVIF_RESULT_OK) {
        *width = decoder->image->width;
        *height = decoder->image->height;
    } else {
        free(pixels);
        pixels = NULL;
    }
    avifDecoderDestroy(decoder);
    return pixels;
}

static avifResult encode(
    avifEncoder *encoder, avifImage *image, const uint8_t *bgra, size_t stride, avifRWData *output) {
    avifRGBImage rgb;
    avifRGBImageSetDefaults(&rgb, image);
    rgb.format = AVIF_RGB_FORMAT_BGRA;
    rgb.depth = 8;
    rgb.ignoreAlpha = AVIF_TRUE;
    rgb.pixels = (uint8_t *)bgra;
    rgb.rowBytes = (uint32_t)stride;
    avifResult result = avifImageRGBToYUV(image, &rgb);
    return result == AVIF_RESULT_OK ? avifEncoderWrite(encoder, image, output) : result;
}

uint8_t *baseline_avif_encode(
    const uint8_t *bgra, size_t stride, size_t width, size_t height, baseline_avif_kind kind, size_t *size) {
    const avifPixelFormat format = kind.halves_chroma ? AVIF_PIXEL_FORMAT_YUV420 : AVIF_PIXEL_FORMAT_YUV444;
    avifImage *image = avifImageCreate((uint32_t)width, (uint32_t)height, kind.depth, format);
    avifEncoder *encoder = avifEncoderCreate();
    avifRWData output = AVIF_DATA_EMPTY;
    uint8_t *bytes = NULL;
    if (image && encoder) {
        image->yuvRange = kind.is_full_range ? AVIF_RANGE_FULL : AVIF_RANGE_LIMITED;
        image->colorPrimaries = AVIF_COLOR_PRIMARIES_BT709;
        image->transferCharacteristics = AVIF_TRANSFER_CHARACTERISTICS_SRGB;
        image->matrixCoefficients = kind.matrix;
        encoder->maxThreads = 1;
        encoder->speed = 8;
        encoder->minQuantizer = encoder->maxQuantizer = 13;
        if (encode(encoder, image, bgra, stride, &output) == AVIF_RESULT_OK) bytes = malloc(output.size);
    }
    if (bytes) memcpy(bytes, output.data, *size = output.size);
    avifRWDataFree(&output);
    if (image) avifImageDestroy(image);
    if (encoder) avifEncoderDestroy(encoder);
    return bytes;
}
