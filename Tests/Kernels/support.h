// What the checks of kernels share: numbers that are the same on every machine, and a checksum of what came out.
#ifndef KF_KERNELS_SUPPORT_H
#define KF_KERNELS_SUPPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The next of the numbers that look random (splitmix64), less than `limit`.
uint32_t number_below(uint32_t limit);
/// Fills memory with such bytes.
void fill(void *memory, size_t count);
/// Fills memory with pixels, 0xAARRGGBB, of which many are opaque and many transparent.
void fill_pixels(uint32_t *pixels, size_t count, bool premultiplied);

/// Bytes from a multiple of 64 on, zeroed, with room for 64 more, to be released with `free`.
void *memory_of(size_t count);

/// A kernel begins: what is added to its checksum, and what is compared, carries its name.
void begin(const char *kernel);
void add(const void *bytes, size_t count);
/// Reports a variant whose bytes differ from the portable ones by more than `most`.
void expect_near(const uint8_t *variant, const uint8_t *portable, size_t count, int most);
/// Prints the name and the checksum.
void end(void);
/// Whether all variants were as expected.
bool all_as_expected(void);

void check_operations(void);
void check_formats(void);

#endif
