// A look at AV1 data before a decoder gets it. Knows sizes only.
#ifndef KF_OBU_H
#define KF_OBU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Headerless: whole units, none of which announces a size.
typedef enum kf_obu_verdict { KF_OBU_SOUND, KF_OBU_HEADERLESS, KF_OBU_BROKEN, KF_OBU_TOO_LARGE } kf_obu_verdict;

/// Whether AV1 data is a run of whole units, and no picture in it is announced larger than this.
kf_obu_verdict kf_obu_check(const uint8_t *bytes, size_t size, uint32_t max_width, uint32_t max_height);

/// Whether AV1 data is a run of whole units with one picture, in one layer, and nothing that comes before or after it.
bool kf_obu_is_one_picture(const uint8_t *bytes, size_t size);

#endif
