// Counts the parts of an AVIF's grids, without decoding them.
#ifndef KF_AVIF_GRID_H
#define KF_AVIF_GRID_H

#include <stddef.h>
#include <stdint.h>

/// How many parts all grids of a file have together; 0 without a grid, `UINT64_MAX` when the boxes are broken.
uint64_t kf_avif_part_count(const uint8_t *bytes, size_t size);

#endif
