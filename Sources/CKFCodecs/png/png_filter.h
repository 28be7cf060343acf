// Undoing the filters of PNG, line by line.
#ifndef KF_PNG_FILTER_H
#define KF_PNG_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Undoes a line of `size` bytes with 1 to 4 of them from pixel to pixel. False when there is no such filter. Up to 4
/// bytes behind each of the three lines are read or written.
bool kf_png_undo_filter(
    uint8_t *line, const uint8_t *raw, const uint8_t *prior, size_t size, uint32_t step, uint8_t filter);

#endif
