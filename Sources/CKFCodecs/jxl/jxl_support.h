// Functions that the files about JPEG XL share.
#ifndef KF_JXL_SUPPORT_H
#define KF_JXL_SUPPORT_H

#include "../support/support.h"
#ifdef KF_JXL
#if !__has_include(<jxl/decode.h>)
#error "libjxl is missing: apt-get install libjxl-dev"
#endif
#include <jxl/decode.h>

/// The size in bytes of the colour profile as it is coded in a codestream; 0 when it has none, or ends before.
uint64_t kf_jxl_coded_profile_size(const uint8_t *bytes, size_t size);

/// Adds up what the frames up to the first shown one announce; the bytes begin with the first frame, and may end early.
/// `profile_size` is that of the colour profile, unpacked. Returns false when it cannot be found out.
bool kf_jxl_estimate_frames(
    const uint8_t *bytes, size_t size, const JxlBasicInfo *info, uint64_t profile_size, kf_jxl_cost *cost);
#endif
#endif
