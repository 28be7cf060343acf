// Bare libjpeg-turbo.
#include "CBaseline.h"
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <jpeglib.h>

struct escape {
    struct jpeg_error_mgr errors;
    jmp_buf place;
};

static void on_error(j_common_ptr info) { longjmp(((struct escape *)info->err)->place, 1); }

uint8_t *baseline_jpeg(const uint8_t *bytes, size_t size, unsigned eighths, size_t *width, size_t *height) {
    struct jpeg_decompress_struct info;
    struct escape escape;
    uint8_t *volatile pixels = NULL;
    info.err = jpeg_std_error(&escape.errors);
    escape.errors.error_exit = on_error;
    if (setjmp(escape.place)) {
        jpeg_destroy_decompress(&info);
        free(pixels);
        return NULL;
    }
    jpeg_create_decompress(&info);
    jpeg_mem_src(&info, bytes, size);
    jpeg_read_header(&info, TRUE);
    info.out_color_space = JCS_EXT_BGRA;
    info.scale_num = eighths;
    info.scale_denom = 8;
    jpeg_start_decompress(&info);
    size_t stride = (size_t)info.output_width * 4;
    pixels = malloc(stride * info.output_height);
    if (!pixels) longjmp(escape.place, 1);
    while (info.output_scanline < info.output_height) {
        JSAMPROW row = pixels + stride * info.output_scanline;
        jpeg_read_scanlines(&info, &row, 1);
    }
    *width = info.output_width;
    *height = info.output_height;
    jpeg_finish_decompress(&info);
    jpeg_destroy_decompress(&info);
    return pixels;
}
