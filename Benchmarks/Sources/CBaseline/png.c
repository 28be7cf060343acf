// libpng's simplified API, and libspng.
#include "CBaseline.h"
#include <stdlib.h>
#include <string.h>
#include <png.h>
#include <spng.h>

uint8_t *baseline_png(const uint8_t *bytes, size_t size, size_t *width, size_t *height) {
    png_image image;
    memset(&image, 0, sizeof image);
    image.version = PNG_IMAGE_VERSION;
    if (!png_image_begin_read_from_memory(&image, bytes, size)) return NULL;
    image.format = PNG_FORMAT_BGRA;
    uint8_t *pixels = malloc(PNG_IMAGE_SIZE(image));
    if (!pixels || !png_image_finish_read(&image, NULL, pixels, 0, NULL)) {
        png_image_free(&image);
        free(pixels);
        return NULL;
    }
    *width = image.width;
    *height = image.height;
    return pixels;
}

uint8_t *baseline_png_encode(const uint8_t *pixels, size_t width, size_t height, size_t *size) {
    png_image image;
    memset(&image, 0, sizeof image);
    image.version = PNG_IMAGE_VERSION;
    image.width = (png_uint_32)width;
    image.height = (png_uint_32)height;
    image.format = PNG_FORMAT_RGB;
    png_alloc_size_t length = PNG_IMAGE_PNG_SIZE_MAX(image);
    uint8_t *bytes = malloc(length);
    if (!bytes || !png_image_write_to_memory(&image, bytes, &length, 0, pixels, 0, NULL)) {
        free(bytes);
        return NULL;
    }
    *size = length;
    return bytes;
}

uint8_t *baseline_spng(const uint8_t *bytes, size_t size, size_t *width, size_t *height) {
    spng_ctx *context = spng_ctx_new(0);
    struct spng_ihdr header;
    size_t length;
    uint8_t *pixels = NULL;
    if (context && spng_set_png_buffer(context, bytes, size) == 0 && spng_get_ihdr(context, &header) == 0
        && spng_decoded_image_size(context, SPNG_FMT_RGBA8, &length) == 0 && (pixels = malloc(length))) {
        *width = header.width;
        *height = header.height;
        if (spng_decode_image(context, pixels, length, SPNG_FMT_RGBA8, SPNG_DECODE_TRNS) != 0) {
            free(pixels);
            pixels = NULL;
        }
    }
    spng_ctx_free(context);
    return pixels;
}
