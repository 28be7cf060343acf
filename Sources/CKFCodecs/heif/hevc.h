// Reads what HEVC data announce before a decoder gets them. Knows of sizes, depths and the number of pictures only.
#ifndef KF_HEVC_H
#define KF_HEVC_H

#include "../support/boxes.h"

/// What the units of one picture announce of it.
typedef struct kf_hevc_summary {
    /// What is shown, in pixels; 0 as long as no unit has announced it.
    uint32_t width, height;
    /// What a decoder makes, which reaches beyond what is shown: the most that is announced.
    uint64_t pixel_count;
    /// Bits of a sample of brightness.
    uint32_t depth;
    uint32_t picture_count, unit_count;
    /// Slices, and sets of parameters: each may cost as much as the picture.
    uint32_t costly_count;
    /// Whether a picture may be built on others; decoders make up those that are missing.
    bool may_have_references;
} kf_hevc_summary;

/// Reads units, each behind its size of so many bytes. False if one is broken, or contradicts those before; or if there
/// are more than a picture needs, as decoders keep them all.
bool kf_hevc_read_units(kf_span data, unsigned size_size, kf_hevc_summary *summary);
/// Reads the units of an HEVCDecoderConfigurationRecord.
bool kf_hevc_read_configuration(kf_span record, kf_hevc_summary *summary);

#endif
