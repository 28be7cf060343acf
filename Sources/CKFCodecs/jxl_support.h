// What the two files about JPEG XL know of each other.
#ifndef KF_JXL_SUPPORT_H
#define KF_JXL_SUPPORT_H

#include "support.h"
#ifdef KF_JXL
#include <jxl/decode.h>

/// Adds up what the frames up to the first shown one announce; the bytes begin with the first frame, and may end early.
/// Answers false when it can't be known.
bool kf_jxl_weigh_frames(const uint8_t *bytes, size_t size, const JxlBasicInfo *info, kf_jxl_cost *cost);
#endif
#endif
