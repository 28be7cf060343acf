// A look at HEVC data before a decoder gets it. Knows of sizes, depths and the number of pictures only.
#ifndef KF_HEVC_H
#define KF_HEVC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// What the units of one picture say of it.
typedef struct kf_hevc_look {
    /// What is shown, in pixels; 0 as long as no unit has announced it.
    uint32_t width, height;
    /// What a decoder makes, which reaches beyond what is shown: the most that is announced.
    uint64_t pixel_count;
    /// Bits of a sample of brightness.
    uint32_t depth;
    uint32_t picture_count;
    /// Whether a picture may be built on others; decoders make up those that are missing.
    bool may_have_references;
} kf_hevc_look;

/// Looks at one unit. False if it is broken, or contradicts the units before.
bool kf_hevc_look_at(const uint8_t *unit, size_t size, kf_hevc_look *look);

#endif
