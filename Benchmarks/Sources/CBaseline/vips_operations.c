// Resizing and blurring by libvips, in this process, of pixels that are in memory already.
#include "CBaseline.h"
#include <vips/vips.h>

/// Calculates the picture; answers how many bytes its pixels took.
static size_t finish(VipsImage *source, VipsImage *result) {
    size_t length = 0;
    if (result) {
        void *pixels = vips_image_write_to_memory(result, &length);
        if (!pixels) length = 0;
        g_free(pixels);
        g_object_unref(result);
    }
    g_object_unref(source);
    return length;
}

static VipsImage *picture(const uint8_t *rgb, size_t width, size_t height) {
    return vips_image_new_from_memory(rgb, width * height * 3, (int)width, (int)height, 3, VIPS_FORMAT_UCHAR);
}

size_t baseline_vips_resize(const uint8_t *rgb, size_t width, size_t height, double scale, bool lanczos) {
    VipsImage *source = picture(rgb, width, height), *result = NULL;
    if (!source) return 0;
    const VipsKernel kernel = lanczos ? VIPS_KERNEL_LANCZOS3 : VIPS_KERNEL_LINEAR;
    if (vips_resize(source, &result, scale, "kernel", kernel, NULL) != 0) result = NULL;
    return finish(source, result);
}

size_t baseline_vips_blur(const uint8_t *rgb, size_t width, size_t height, double sigma) {
    VipsImage *source = picture(rgb, width, height), *result = NULL;
    if (!source) return 0;
    if (vips_gaussblur(source, &result, sigma, NULL) != 0) result = NULL;
    return finish(source, result);
}
