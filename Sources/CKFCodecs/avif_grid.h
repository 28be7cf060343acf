// Of how many parts the pictures of an AVIF are put together. Knows nothing of what is in them.
#ifndef KF_AVIF_GRID_H
#define KF_AVIF_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// How many parts all grids of a file have together; 0 without a grid, `UINT64_MAX` if that cannot be told, or if parts lie
/// among the boxes, where nobody looks at them before a decoder does.
uint64_t kf_avif_part_count(const uint8_t *bytes, size_t size);

#endif
