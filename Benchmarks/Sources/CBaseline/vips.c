// libvips, in this process, with its default number of threads.
#include "CBaseline.h"
#include <vips/vips.h>

bool baseline_vips_start(void) {
    if (vips_init("kf-bench") != 0) return false;
    vips_cache_set_max(0);
    return true;
}

uint8_t *baseline_vips_thumbnail(const uint8_t *bytes, size_t size, int side, bool linear, size_t *count) {
    VipsImage *image = NULL;
    *count = 0;
    // The buffer is only read; the parameter merely lacks its const.
    void *buffer = (void *)(uintptr_t)bytes;
    if (vips_thumbnail_buffer(buffer, size, &image, side, "height", side, "linear", linear, NULL) != 0) return NULL;
    // GLib allocates with `malloc`.
    uint8_t *pixels = vips_image_write_to_memory(image, count);
    g_object_unref(image);
    return pixels;
}

bool baseline_vips_benchmark(const char *source, const char *target) {
    VipsImage *image = vips_image_new_from_file(source, "access", VIPS_ACCESS_SEQUENTIAL, NULL);
    if (!image) return false;
    VipsImage *results[3] = {NULL};
    VipsImage *mask = vips_image_new_matrixv(3, 3, -1.0, -1.0, -1.0, -1.0, 16.0, -1.0, -1.0, -1.0, -1.0);
    vips_image_set_double(mask, "scale", 8);
    const bool done =
        vips_extract_area(image, &results[0], 100, 100, image->Xsize - 200, image->Ysize - 200, NULL) == 0
        && vips_reduce(results[0], &results[1], 1 / 0.9, 1 / 0.9, "kernel", VIPS_KERNEL_LINEAR, NULL) == 0
        && vips_conv(results[1], &results[2], mask, "precision", VIPS_PRECISION_INTEGER, NULL) == 0
        && vips_jpegsave(results[2], target, "Q", 85, NULL) == 0;
    for (int i = 0; i < 3; i++) {
        if (results[i]) g_object_unref(results[i]);
    }
    g_object_unref(mask);
    g_object_unref(image);
    return done;
}

uint8_t *baseline_vips_encode(const uint8_t *pixels, int width, int height, const char *suffix, size_t *count) {
    const size_t size = (size_t)width * (size_t)height * 3;
    VipsImage *bare = vips_image_new_from_memory(pixels, size, width, height, 3, VIPS_FORMAT_UCHAR), *image = NULL;
    void *bytes = NULL;
    *count = 0;
    if (!bare) return NULL;
    if (vips_copy(bare, &image, "interpretation", VIPS_INTERPRETATION_sRGB, NULL) == 0) {
        if (vips_image_write_to_buffer(image, suffix, &bytes, count, NULL) != 0) bytes = NULL;
        g_object_unref(image);
    }
    g_object_unref(bare);
    return bytes;
}
