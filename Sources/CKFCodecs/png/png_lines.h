// The lines of a PNG that is written: filtered one after another, then compressed in one go. Used by the writer.
#ifndef KF_PNG_LINES_H
#define KF_PNG_LINES_H

#include "../support/support.h"

typedef struct kf_png_lines kf_png_lines;

/// Takes memory for `count` lines of `size` bytes, with 1 to 4 of them from pixel to pixel; 0 means that lines are not
/// filtered, as those with palettes or with pixels below a byte are best. NULL when that is more than 32 MiB, when
/// memory has run out, or without libdeflate: then libpng has to write the lines.
kf_png_lines *kf_png_lines_open(size_t size, uint32_t count, uint32_t step);
/// Where the bytes of the next line belong.
uint8_t *kf_png_lines_next(kf_png_lines *lines);
/// Adds the line, which has been written there.
void kf_png_lines_add(kf_png_lines *lines);
/// Compresses all lines. Returns false when memory has run out.
bool kf_png_lines_compress(const kf_png_lines *lines, kf_buffer *buffer);
void kf_png_lines_close(kf_png_lines *lines);

#endif
