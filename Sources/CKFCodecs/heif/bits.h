// Reading numbers of some bits each, as headers of coded images have them. Never looks beyond the end.
#ifndef KF_BITS_H
#define KF_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct kf_bits {
    const uint8_t *bytes;
    size_t bits, position;
    /// More was read than there is; all that is read from then on is 0.
    bool failed;
} kf_bits;

static inline uint32_t kf_read_bits(kf_bits *reader, unsigned count) {
    uint32_t value = 0;
    for (unsigned i = 0; i < count; i++, reader->position++) {
        if (reader->position >= reader->bits) {
            reader->failed = true;
            return 0;
        }
        value = value << 1 | (reader->bytes[reader->position / 8] >> (7 - reader->position % 8) & 1);
    }
    return value;
}

#endif
