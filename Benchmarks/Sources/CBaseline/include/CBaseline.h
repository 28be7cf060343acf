// What the library is compared with, in the plainest C that does the same work. Knows nothing of the library.
#ifndef CBASELINE_H
#define CBASELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Decodes a JPEG at `eighths`/8 of its size to BGRA with libjpeg-turbo, as its documentation shows; answers the pixels,
/// to be released with `free`, or NULL.
uint8_t *baseline_jpeg(const uint8_t *bytes, size_t size, unsigned eighths, size_t *width, size_t *height);

/// Starts libvips once, without its cache of operations: the same picture is asked for again and again.
bool baseline_vips_start(void);
/// Decodes a picture and fits it into a square, down to pixels in memory; answers how many bytes they took, 0 on failure.
size_t baseline_vips_thumbnail(const uint8_t *bytes, size_t size, int side);

/// Reads a file the shortest way there is: open, fstat, read, close. Answers its bytes, to be released with `free`, or NULL.
uint8_t *baseline_read(const char *path, size_t *size);

#endif
