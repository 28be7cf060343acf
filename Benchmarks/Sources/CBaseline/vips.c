// libvips, in this process, with its default number of threads.
#include "CBaseline.h"
#include <vips/vips.h>

bool baseline_vips_start(void) {
    if (vips_init("kf-bench") != 0) return false;
    vips_cache_set_max(0);
    return true;
}

uint8_t *baseline_vips_thumbnail(const uint8_t *bytes, size_t size, int side, size_t *count) {
    VipsImage *image = NULL;
    *count = 0;
    // The buffer is only read; the parameter merely lacks its const.
    if (vips_thumbnail_buffer((void *)(uintptr_t)bytes, size, &image, side, "height", side, NULL) != 0) return NULL;
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
