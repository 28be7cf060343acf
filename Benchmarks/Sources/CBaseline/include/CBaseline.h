// The baselines in C: the simplest code that does the same work with other libraries.
#ifndef CBASELINE_H
#define CBASELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Decodes a JPEG at `eighths`/8 of its size to BGRA with libjpeg-turbo, as its documentation shows; returns the
/// pixels, to be released with `free`, or NULL.
uint8_t *baseline_jpeg(const uint8_t *bytes, size_t size, unsigned eighths, size_t *width, size_t *height);

/// Starts libvips once, without its cache of operations: the same image is requested again and again.
bool baseline_vips_start(void);
/// Decodes an image and fits it into a square, in linear light if wanted; returns its pixels, to be released with
/// `free`, and how many bytes they take, or NULL.
uint8_t *baseline_vips_thumbnail(const uint8_t *bytes, size_t size, int side, bool linear, size_t *count);
/// Encodes rows of red, green and blue as the suffix of a file's name says, with its options; returns the bytes, to be
/// released with `free`, or NULL.
uint8_t *baseline_vips_encode(const uint8_t *pixels, int width, int height, const char *suffix, size_t *count);

/// Cuts 100 pixels off each side of an image in a file, makes it nine tenths as long, sharpens it by its neighbours and
/// writes it as JPEG of quality 85, as libvips' own benchmark does.
bool baseline_vips_benchmark(const char *source, const char *target);

/// Reads a file in the shortest way: open, fstat, read, close. Returns its bytes, to be released with `free`, or
/// NULL.
uint8_t *baseline_read(const char *path, size_t *size);
/// Downloads URLs through libcurl's multi interface on this thread, a number of them in flight at a time; returns
/// how many bytes all bodies have together, 0 when one is not received.
size_t baseline_curl(const char *const *urls, size_t count, size_t in_flight);

/// Counts the allocations of all threads from now on; false if they do not come to the functions that count.
bool baseline_start_counting_allocations(void);
/// Counts no longer; returns how many allocations there were.
size_t baseline_stop_counting_allocations(void);

#endif
