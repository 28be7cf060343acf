// Of how many parts the pictures of an AVIF are put together, from a walk over its boxes: libavif has every part decoded by a
// decoder of its own, all of which it keeps, before it looks whether they fit together. Decodes nothing.
//
// The names are those of ISO/IEC 14496-12, sections 8.11.1, 8.11.3 and 8.11.12.
#include "avif_grid.h"
#include "boxes.h"

// ItemReferenceBox: what consists of what.
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

// ItemLocationBox: whether all that lies among the boxes (construction_method 1) is short enough for the description of a
// grid, which is too short for a picture.
static bool has_descriptions_only(kf_span locations) {
    const uint64_t longest_description = 12;
    if (locations.size < 6 || locations.bytes[0] > 2) return false;
    unsigned version = locations.bytes[0], id_size = version < 2 ? 2 : 4;
    unsigned offset_size = locations.bytes[4] >> 4, length_size = locations.bytes[4] & 15;
    unsigned base_size = locations.bytes[5] >> 4, index_size = version ? locations.bytes[5] & 15 : 0;
    if (offset_size > 8 || length_size > 8 || base_size > 8 || index_size > 8) return false;
    kf_span rest = kf_without(locations, 6);
    uint64_t items = kf_take(&rest, id_size);
    for (uint64_t item = 0; item < items; item++) {
        kf_take(&rest, id_size);
        bool is_inside = version && kf_take(&rest, 2) & 15;
        kf_take(&rest, 2);
        kf_take(&rest, base_size);
        uint64_t extents = kf_take(&rest, 2);
        // At the end there is no number left.
        if (extents == UINT64_MAX) return false;
        uint64_t length = 0, size = extents * (index_size + offset_size + length_size);
        if (size > rest.size) return false;
        kf_span places = {rest.bytes, (size_t)size};
        rest = kf_without(rest, (size_t)size);
        if (!is_inside) continue;
        while (places.size && length_size) {
            kf_take(&places, index_size + offset_size);
            uint64_t more = kf_take(&places, length_size);
            // No length means all there is.
            if (more == 0 || more > longest_description) return false;
            length += more;
        }
        if (length == 0 || length > longest_description) return false;
    }
    return true;
}

static uint64_t count_in_meta(kf_span meta) {
    if (meta.size < 4) return UINT64_MAX;
    kf_span rest = kf_without(meta, 4), content;
    const uint8_t *name;
    uint64_t count = 0;
    bool is_seen = true;
    while (kf_next_box(&rest, &name, &content)) {
        if (kf_is_named(name, "iloc") && !has_descriptions_only(content)) is_seen = false;
        if (!kf_is_named(name, "iref")) continue;
        uint64_t more = count_references(content);
        if (more == UINT64_MAX) return more;
        count += more;
    }
    return rest.size || (count && !is_seen) ? UINT64_MAX : count;
}

uint64_t kf_avif_part_count(const uint8_t *bytes, size_t size) {
    kf_span rest = {bytes, size}, content;
    const uint8_t *name;
    uint64_t count = 0;
    // What follows after the last whole box may be cut off, and is none of the container's description.
    while (kf_next_box(&rest, &name, &content)) {
        if (!kf_is_named(name, "meta")) continue;
        uint64_t more = count_in_meta(content);
        if (more == UINT64_MAX) return more;
        count += more;
    }
    return count;
}
