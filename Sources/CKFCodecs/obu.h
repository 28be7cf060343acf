// A look at AV1 data before a decoder gets it. Knows of sizes and film grain only.
#ifndef KF_OBU_H
#define KF_OBU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Headerless: whole units, none of which announces a size.
typedef enum kf_obu_verdict { KF_OBU_SOUND, KF_OBU_HEADERLESS, KF_OBU_BROKEN, KF_OBU_TOO_LARGE } kf_obu_verdict;

/// What is looked for: how large pictures may be, and then whether some of them have film grain.
typedef struct kf_obu_look {
    uint32_t max_width, max_height;
    uint64_t max_pixel_count;
    /// Set as soon as pictures are announced that may have some.
    bool has_grain;
} kf_obu_look;

/// Whether AV1 data is a run of whole units, and no picture in it is announced larger than it may be.
kf_obu_verdict kf_obu_check(const uint8_t *bytes, size_t size, kf_obu_look *look);

/// Whether AV1 data is a run of whole units with one picture, in one layer, and nothing that comes before or after it.
bool kf_obu_is_one_picture(const uint8_t *bytes, size_t size);

#endif
