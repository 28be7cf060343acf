// Counts the parts of an AVIF's grids in its boxes: libavif decodes every part with a decoder of its own, all of which
// it keeps, before it checks that they fit together. Decodes nothing.
//
// The names are those of ISO/IEC 14496-12, sections 8.11.1 and 8.11.12.
#include "avif_grid.h"
#include "../support/boxes.h"

// ItemReferenceBox: which items consist of which others.
static uint64_t count_references(kf_span references) {
    if (references.size < 4) return UINT64_MAX;
    // item_IDs are of two bytes, in a later version of four.
    size_t id_size = references.bytes[0] ? 4 : 2;
    kf_span rest = kf_without(references, 4), content;
    const uint8_t *name;
    uint64_t count = 0;
    while (kf_next_box(&rest, &name, &content)) {
        if (!kf_is_named(name, "dimg")) continue;
        if (content.size < id_size + 2) return UINT64_MAX;
        count += kf_number(content.bytes + id_size, 2);
    }
    return rest.size ? UINT64_MAX : count;
}

static uint64_t count_in_meta(kf_span meta) {
    if (meta.size < 4) return UINT64_MAX;
    kf_span rest = kf_without(meta, 4), content;
    const uint8_t *name;
    uint64_t count = 0;
    while (kf_next_box(&rest, &name, &content)) {
        if (!kf_is_named(name, "iref")) continue;
        uint64_t more = count_references(content);
        if (more == UINT64_MAX) return more;
        count += more;
    }
    return rest.size ? UINT64_MAX : count;
}

uint64_t kf_avif_part_count(const uint8_t *bytes, size_t size) {
    kf_span rest = {bytes, size}, content;
    const uint8_t *name;
    uint64_t count = 0;
    // Data after the last whole box may be cut off, and is no part of the container's description.
    while (kf_next_box(&rest, &name, &content)) {
        if (!kf_is_named(name, "meta")) continue;
        uint64_t more = count_in_meta(content);
        if (more == UINT64_MAX) return more;
        count += more;
    }
    return count;
}
