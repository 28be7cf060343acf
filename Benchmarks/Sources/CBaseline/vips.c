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
