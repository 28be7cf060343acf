// Reads sizes, depths and the number of images from HEVC data before a decoder gets them.
#ifndef KF_HEVC_H
#define KF_HEVC_H

#include "../support/boxes.h"

/// The values that the units of one image announce.
typedef struct kf_hevc_summary {
    /// The size that is shown, in pixels; 0 as long as no unit has announced it.
    uint32_t width, height;
    /// The number of pixels that a decoder makes, some of which are not shown: the largest that is announced.
    uint64_t pixel_count;
    /// Bits of a sample of brightness.
    uint32_t depth;
    uint32_t picture_count, unit_count;
    /// Slices, and sets of parameters: each may cost as much as the image.
    uint32_t costly_count;
    /// Whether an image may be built on others; decoders make up those that are missing.
    bool may_have_references;
} kf_hevc_summary;

/// Reads units, each behind its size of so many bytes. False if one is broken, or contradicts those before; or if there
/// are more than an image needs, as decoders keep them all.
bool kf_hevc_read_units(kf_span data, unsigned size_size, kf_hevc_summary *summary);
/// Reads the units of an HEVCDecoderConfigurationRecord.
bool kf_hevc_read_configuration(kf_span record, kf_hevc_summary *summary);

#endif
