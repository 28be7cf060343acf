// Taking boxes, and numbers, off a span of bytes. Never looks beyond its end.
#include "boxes.h"
#include <string.h>

uint64_t kf_number(const uint8_t *bytes, unsigned count) {
    uint64_t value = 0;
    for (unsigned i = 0; i < count; i++) value = value << 8 | bytes[i];
    return value;
}

kf_span kf_without(kf_span whole, size_t count) { return (kf_span){whole.bytes + count, whole.size - count}; }

uint64_t kf_take(kf_span *rest, unsigned count) {
    if (rest->size < count) {
        *rest = (kf_span){rest->bytes, 0};
        return UINT64_MAX;
    }
    uint64_t value = kf_number(rest->bytes, count);
    *rest = kf_without(*rest, count);
    return value;
}

bool kf_next_box(kf_span *rest, const uint8_t **name, kf_span *content) {
    if (rest->size < 8) return false;
    uint64_t size = kf_number(rest->bytes, 4), header = 8;
    if (size == 1) {
        if (rest->size < 16) return false;
        size = kf_number(rest->bytes + 8, 8);
        header = 16;
    } else if (size == 0) {
        size = rest->size;
    }
    if (size < header || size > rest->size) return false;
    *name = rest->bytes + 4;
    *content = (kf_span){rest->bytes + header, (size_t)(size - header)};
    *rest = kf_without(*rest, (size_t)size);
    return true;
}

bool kf_is_named(const uint8_t *name, const char *other) { return memcmp(name, other, 4) == 0; }
