// Compressing bytes in one go. For the writer of PNG.
#ifndef KF_DEFLATE_H
#define KF_DEFLATE_H

#include "support.h"

/// Appends a zlib stream of the bytes, compressed with an effort of 1 to 12. Returns false when memory has run out, or
/// libdeflate is missing.
bool kf_deflate(const uint8_t *bytes, size_t size, int effort, kf_buffer *buffer);

#endif
