// Resizing and blurring by libvips, in this process, of pixels that are in memory already.
#include "CBaseline.h"
#include <stdlib.h>
#include <vips/vips.h>

/// Calculates the image; returns its pixels, to be released with `free`, and how many bytes they take.
static uint8_t *finish(VipsImage *source, VipsImage *result, size_t *count) {
    uint8_t *pixels = NULL;
    *count = 0;
    if (result) {
        pixels = vips_image_write_to_memory(result, count);
        g_object_unref(result);
    }
    g_object_unref(source);
    return pixels;
}

static VipsImage *image_of(const uint8_t *rgb, size_t width, size_t height) {
    return vips_image_new_from_memory(rgb, width * height * 3, (int)width, (int)height, 3, VIPS_FORMAT_UCHAR);
}

uint8_t *baseline_vips_resize(const uint8_t *rgb, size_t width, size_t height, double scale, size_t *count) {
    VipsImage *source = image_of(rgb, width, height), *result = NULL;
    if (!source) return NULL;
    if (vips_resize(source, &result, scale, "kernel", VIPS_KERNEL_LANCZOS3, NULL) != 0) result = NULL;
    return finish(source, result, count);
}

size_t baseline_vips_blur(const uint8_t *rgb, size_t width, size_t height, double sigma) {
    VipsImage *source = image_of(rgb, width, height), *result = NULL;
    if (!source) return 0;
    if (vips_gaussblur(source, &result, sigma, NULL) != 0) result = NULL;
    size_t count;
    free(finish(source, result, &count));
    return count;
}
