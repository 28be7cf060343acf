// Boxes, of which AVIF and HEIC files consist: taking them, and numbers, off a span of bytes.
//
// The names are those of ISO/IEC 14496-12, section 4.2.
#ifndef KF_BOXES_H
#define KF_BOXES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct kf_span {
    const uint8_t *bytes;
    size_t size;
} kf_span;

/// A number of `count` bytes, which are there.
uint64_t kf_number(const uint8_t *bytes, unsigned count);
/// The bytes that follow after the first `count`, which are there.
kf_span kf_without(kf_span whole, size_t count);
/// Takes a number off `rest`, of which the last eight bytes count; one that is missing is `UINT64_MAX`, as are all
/// after it.
uint64_t kf_take(kf_span *rest, unsigned count);
/// Takes the first box off `rest`; false at the end, and for bytes that are no box.
bool kf_next_box(kf_span *rest, const uint8_t **name, kf_span *content);
/// Whether four bytes are the letters of `other`.
bool kf_is_named(const uint8_t *name, const char *other);

#endif
