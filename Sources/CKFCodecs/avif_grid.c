// Of how many parts the pictures of an AVIF are put together, from a walk over its boxes: libavif has every part decoded by a
// decoder of its own, all of which it keeps, before it looks whether they fit together. Decodes nothing.
//
// The names are those of ISO/IEC 14496-12, sections 4.2, 8.11.1, 8.11.3 and 8.11.12.
#include "avif_grid.h"
#include <string.h>

typedef struct {
    const uint8_t *bytes;
    size_t size;
} span;

static uint64_t number(const uint8_t *bytes, unsigned count) {
    uint64_t value = 0;
    for (unsigned i = 0; i < count; i++) value = value << 8 | bytes[i];
    return value;
}

static span without(span whole, size_t count) { return (span){whole.bytes + count, whole.size - count}; }

// Takes the first box off `rest`; false at the end, and for what is no box.
static bool next_box(span *rest, const uint8_t **name, span *content) {
    if (rest->size < 8) return false;
    uint64_t size = number(rest->bytes, 4), header = 8;
    if (size == 1) {
        if (rest->size < 16) return false;
        size = number(rest->bytes + 8, 8);
        header = 16;
    } else if (size == 0) {
        size = rest->size;
    }
    if (size < header || size > rest->size) return false;
    *name = rest->bytes + 4;
    *content = (span){rest->bytes + header, (size_t)(size - header)};
    *rest = without(*rest, (size_t)size);
    return true;
}

static bool is_named(const uint8_t *name, const char *other) { return memcmp(name, other, 4) == 0; }

// ItemReferenceBox: what consists of what.
static uint64_t count_references(span references) {
    if (references.size < 4) return UINT64_MAX;
    // item_IDs are of two bytes, in a later version of four.
    size_t id_size = references.bytes[0] ? 4 : 2;
    span rest = without(references, 4), content;
    const uint8_t *name;
    uint64_t count = 0;
    while (next_box(&rest, &name, &content)) {
        if (!is_named(name, "dimg")) continue;
        if (content.size < id_size + 2) return UINT64_MAX;
        count += number(content.bytes + id_size, 2);
    }
    return rest.size ? UINT64_MAX : count;
}

// Takes a number off `rest`, of which the last eight bytes count; one that is missing is `UINT64_MAX`, as are all after it.
static uint64_t take(span *rest, unsigned count) {
    if (rest->size < count) {
        *rest = (span){rest->bytes, 0};
        return UINT64_MAX;
    }
    uint64_t value = number(rest->bytes, count);
    *rest = without(*rest, count);
    return value;
}

// ItemLocationBox: whether all that lies among the boxes (construction_method 1) is short enough for the description of a
// grid, which is too short for a picture.
static bool has_descriptions_only(span locations) {
    const uint64_t longest_description = 12;
    if (locations.size < 6 || locations.bytes[0] > 2) return false;
    unsigned version = locations.bytes[0], id_size = version < 2 ? 2 : 4;
    unsigned offset_size = locations.bytes[4] >> 4, length_size = locations.bytes[4] & 15;
    unsigned base_size = locations.bytes[5] >> 4, index_size = version ? locations.bytes[5] & 15 : 0;
    if (offset_size > 8 || length_size > 8 || base_size > 8 || index_size > 8) return false;
    span rest = without(locations, 6);
    uint64_t items = take(&rest, id_size);
    for (uint64_t item = 0; item < items; item++) {
        take(&rest, id_size);
        bool is_inside = version && take(&rest, 2) & 15;
        take(&rest, 2);
        take(&rest, base_size);
        uint64_t extents = take(&rest, 2);
        // At the end there is no number left.
        if (extents == UINT64_MAX) return false;
        uint64_t length = 0, size = extents * (index_size + offset_size + length_size);
        if (size > rest.size) return false;
        span places = {rest.bytes, (size_t)size};
        rest = without(rest, (size_t)size);
        if (!is_inside) continue;
        while (places.size && length_size) {
            take(&places, index_size + offset_size);
            uint64_t more = take(&places, length_size);
            // No length means all there is.
            if (more == 0 || more > longest_description) return false;
            length += more;
        }
        if (length == 0 || length > longest_description) return false;
    }
    return true;
}

static uint64_t count_in_meta(span meta) {
    if (meta.size < 4) return UINT64_MAX;
    span rest = without(meta, 4), content;
    const uint8_t *name;
    uint64_t count = 0;
    bool is_seen = true;
    while (next_box(&rest, &name, &content)) {
        if (is_named(name, "iloc") && !has_descriptions_only(content)) is_seen = false;
        if (!is_named(name, "iref")) continue;
        uint64_t more = count_references(content);
        if (more == UINT64_MAX) return more;
        count += more;
    }
    return rest.size || (count && !is_seen) ? UINT64_MAX : count;
}

uint64_t kf_avif_part_count(const uint8_t *bytes, size_t size) {
    span rest = {bytes, size}, content;
    const uint8_t *name;
    uint64_t count = 0;
    // What follows after the last whole box may be cut off, and is none of the container's description.
    while (next_box(&rest, &name, &content)) {
        if (!is_named(name, "meta")) continue;
        uint64_t more = count_in_meta(content);
        if (more == UINT64_MAX) return more;
        count += more;
    }
    return count;
}
