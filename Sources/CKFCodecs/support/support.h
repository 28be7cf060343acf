// Code that the wrappers share: reporting a failure, and a buffer that grows.
#ifndef KF_SUPPORT_H
#define KF_SUPPORT_H

#include "CKFCodecs.h"

/// Records why a call failed and returns `status`. The text is cut where the buffer ends; line ends become spaces.
kf_status kf_fail(kf_message *message, kf_status status, const char *text);

/// Bytes that are written one after another; `bytes` is to be released with `free`.
typedef struct kf_buffer {
    uint8_t *bytes;
    size_t size, capacity;
} kf_buffer;

/// Makes room for `extra` more bytes. Returns false when memory has run out; the buffer is then unchanged.
bool kf_buffer_reserve(kf_buffer *buffer, size_t extra);
/// Appends bytes. Returns false when memory has run out.
bool kf_buffer_append(kf_buffer *buffer, const void *bytes, size_t size);
/// Hands the bytes over and leaves the buffer empty.
void kf_buffer_take(kf_buffer *buffer, uint8_t **bytes, size_t *size);

#endif
