// The lists of a HEIF file, taken as strictly as the standard has them, so that libheif cannot read them in another
// way.
//
// The names are those of ISO/IEC 14496-12, section 8.11, and ISO/IEC 23008-12, section 9.3.
#ifdef KF_HEIC
#define _GNU_SOURCE // memmem
#include "heif_items.h"
#include <stdlib.h>
#include <string.h>

// More make no sense in a file of images; libheif goes through the longer lists again and again.
enum { MOST_ITEMS = 20000, MOST_PROPERTIES = 20000, LONGEST_LIST = 1 << 20 };

static const char *const broken = "the description of the file is broken";
static const char *const too_long = "the lists of the file are longer than an image needs";

// The contents of the boxes of a `meta` box that matter here.
typedef struct {
    kf_span primary, locations, kinds, references, properties, among_boxes;
} lists;

static bool find_lists(kf_span file, lists *found) {
    kf_span rest = file, content, meta = {NULL, 0};
    const uint8_t *name;
    // Data after the last whole box may be cut off.
    while (kf_next_box(&rest, &name, &content)) {
        if (!kf_is_named(name, "meta")) continue;
        if (meta.bytes || content.size < 4) return false;
        meta = content;
    }
    if (!meta.bytes) return false;
    const char *const names[] = {"pitm", "iloc", "iinf", "iref", "iprp", "idat"};
    kf_span *const places[] = {
        &found->primary, &found->locations, &found->kinds, &found->references, &found->properties, &found->among_boxes,
    };
    rest = kf_without(meta, 4);
    while (kf_next_box(&rest, &name, &content)) {
        for (int i = 0; i < 6; i++) {
            if (!kf_is_named(name, names[i])) continue;
            if (places[i]->bytes) return false;
            *places[i] = content;
        }
    }
    return !rest.size;
}

static int compare(const void *a, const void *b) {
    uint32_t left = ((const kf_heif_item *)a)->id, right = ((const kf_heif_item *)b)->id;
    return left < right ? -1 : left > right;
}

const kf_heif_item *kf_heif_find(const kf_heif_items *items, uint64_t id) {
    kf_heif_item wanted = {.id = (uint32_t)id};
    return id > UINT32_MAX ? NULL : bsearch(&wanted, items->items, items->count, sizeof wanted, compare);
}

static kf_heif_item *find(const kf_heif_items *items, uint64_t id) { return (kf_heif_item *)kf_heif_find(items, id); }

// ItemInfoEntry. Those of the first two versions are no images.
static bool read_kind(kf_span entry, kf_heif_item *item) {
    if (entry.size < 4) return false;
    unsigned version = entry.bytes[0];
    kf_span rest = kf_without(entry, 4);
    uint64_t id = kf_take(&rest, version > 2 ? 4 : 2);
    kf_take(&rest, 2); // item_protection_index
    *item = (kf_heif_item){.id = (uint32_t)id, .type = (const uint8_t *)"    "};
    if (version < 2) return id != UINT64_MAX;
    item->type = rest.bytes;
    if (kf_take(&rest, 4) == UINT64_MAX) return false;
    // content_encoding is one of the texts that follow.
    item->is_packed = kf_is_named(item->type, "mime") && memmem(rest.bytes, rest.size, "deflate", 7);
    return true;
}

// ItemInfoBox. Makes the table, which the other lists fill in.
static const char *read_kinds(kf_span list, kf_heif_items *items) {
    if (list.size < 4) return broken;
    kf_span entries = kf_without(list, 4), content;
    if (kf_take(&entries, list.bytes[0] ? 4 : 2) == UINT64_MAX) return broken;
    const uint8_t *name;
    size_t count = 0;
    for (kf_span rest = entries; kf_next_box(&rest, &name, &content);) count++;
    if (count > MOST_ITEMS) return too_long;
    items->items = calloc(count + 1, sizeof *items->items);
    if (!items->items) return "out of memory";
    kf_span rest = entries;
    while (kf_next_box(&rest, &name, &content)) {
        if (!kf_is_named(name, "infe")) continue;
        if (!read_kind(content, &items->items[items->count++])) return broken;
    }
    if (rest.size) return broken;
    qsort(items->items, items->count, sizeof *items->items, compare);
    for (size_t i = 1; i < items->count; i++) {
        if (items->items[i - 1].id == items->items[i].id) return "two items of the file have one name";
    }
    return NULL;
}

static bool is_whole_number(unsigned size) { return size == 0 || size == 4 || size == 8; }

// ItemLocationBox.
static const char *read_locations(kf_span list, kf_heif_items *items) {
    if (list.size < 6 || list.bytes[0] > 2) return broken;
    unsigned version = list.bytes[0], id_size = version < 2 ? 2 : 4, base_size = list.bytes[5] >> 4;
    items->offset_size = list.bytes[4] >> 4;
    items->length_size = list.bytes[4] & 15;
    bool has_indices = version && list.bytes[5] & 15;
    if (!is_whole_number(items->offset_size) || !is_whole_number(items->length_size) || !is_whole_number(base_size)
        || has_indices) return broken;
    kf_span rest = kf_without(list, 6);
    uint64_t count = kf_take(&rest, id_size);
    if (count == UINT64_MAX) return broken;
    for (uint64_t i = 0; i < count; i++) {
        kf_heif_item place = {.is_located = true};
        uint64_t id = kf_take(&rest, id_size), method = version ? kf_take(&rest, 2) & 15 : 0;
        kf_take(&rest, 2); // data_reference_index
        place.base = kf_take(&rest, base_size);
        uint64_t extents = kf_take(&rest, 2);
        if (extents == UINT64_MAX) return broken;
        uint64_t size = extents * (items->offset_size + items->length_size);
        if (size > rest.size) return broken;
        place.extents = (kf_span){rest.bytes, (size_t)size};
        rest = kf_without(rest, (size_t)size);
        items->place_count += 1 + extents;
        if (method > 1) return "some of the data are neither in the file nor among its boxes";
        kf_heif_item *item = find(items, id);
        if (!item) continue;
        if (item->is_located) return broken;
        item->is_located = true;
        item->is_among_boxes = method == 1;
        item->base = place.base;
        item->extents = place.extents;
    }
    return NULL;
}

// ItemReferenceBox: which items consist of which others, and which belong to which.
static const char *read_references(kf_span list, kf_heif_items *items) {
    if (!list.bytes) return NULL;
    if (list.size < 4) return broken;
    if (list.size > LONGEST_LIST) return too_long;
    items->reference_size = list.bytes[0] ? 4 : 2;
    kf_span rest = kf_without(list, 4), content;
    const uint8_t *name;
    while (kf_next_box(&rest, &name, &content)) {
        // libheif takes sixteen more bytes off such a box, and then reads on whatever its size is.
        if (kf_is_named(name, "uuid")) return broken;
        kf_heif_item *item = find(items, kf_take(&content, items->reference_size));
        uint64_t count = kf_take(&content, 2);
        if (count == UINT64_MAX || content.size != count * items->reference_size) return broken;
        bool are_parts = kf_is_named(name, "dimg");
        if (!item || (!are_parts && !kf_is_named(name, "auxl"))) continue;
        kf_span *place = are_parts ? &item->parts : &item->master;
        if (place->bytes) return broken;
        *place = content;
    }
    return rest.size ? broken : NULL;
}

// ItemPropertyContainerBox.
static const char *read_container(kf_span list, kf_heif_items *items) {
    if (items->properties) return broken;
    kf_span rest = list, content;
    const uint8_t *name;
    size_t count = 0;
    while (kf_next_box(&rest, &name, &content)) count++;
    if (rest.size || count > MOST_PROPERTIES) return broken;
    items->properties = calloc(count + 1, sizeof *items->properties);
    if (!items->properties) return "out of memory";
    rest = list;
    while (kf_next_box(&rest, &name, &content)) {
        items->properties[items->property_count++] = (kf_heif_property){name, content};
    }
    return NULL;
}

// ItemPropertyAssociationBox. There may be several, with numbers of the same size.
static const char *read_associations(kf_span list, kf_heif_items *items) {
    if (list.size < 4) return broken;
    if (list.size > LONGEST_LIST) return too_long;
    unsigned id_size = list.bytes[0] ? 4 : 2, property_size = list.bytes[3] & 1 ? 2 : 1;
    if (items->property_size && items->property_size != property_size) return broken;
    items->property_size = property_size;
    kf_span rest = kf_without(list, 4);
    uint64_t count = kf_take(&rest, 4);
    if (count == UINT64_MAX) return broken;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t id = kf_take(&rest, id_size), size = kf_take(&rest, 1);
        if (size == UINT64_MAX || size * property_size > rest.size) return broken;
        kf_span properties = {rest.bytes, (size_t)size * property_size};
        rest = kf_without(rest, properties.size);
        kf_heif_item *item = find(items, id);
        if (!item) continue;
        if (item->properties.bytes) return broken;
        item->properties = properties;
    }
    return NULL;
}

// ItemPropertiesBox.
static const char *read_properties(kf_span list, kf_heif_items *items) {
    kf_span rest = list, content;
    const uint8_t *name;
    const char *reason = NULL;
    while (!reason && kf_next_box(&rest, &name, &content)) {
        if (kf_is_named(name, "ipco")) reason = read_container(content, items);
        if (kf_is_named(name, "ipma")) reason = read_associations(content, items);
    }
    return reason ? reason : rest.size ? broken : NULL;
}

const char *kf_heif_items_read(kf_span file, kf_heif_items *items) {
    *items = (kf_heif_items){.file = file};
    lists found = {0};
    if (!find_lists(file, &found) || found.primary.size < 4) return broken;
    items->among_boxes = found.among_boxes;
    kf_span rest = kf_without(found.primary, 4);
    uint64_t primary = kf_take(&rest, found.primary.bytes[0] ? 4 : 2);
    items->primary = (uint32_t)primary;
    const char *reason = primary == UINT64_MAX ? broken : read_kinds(found.kinds, items);
    if (!reason) reason = read_locations(found.locations, items);
    if (!reason) reason = read_references(found.references, items);
    if (!reason) reason = read_properties(found.properties, items);
    return reason;
}

void kf_heif_items_release(kf_heif_items *items) {
    free(items->items);
    free(items->properties);
    *items = (kf_heif_items){0};
}

const kf_heif_property *kf_heif_property_of(const kf_heif_items *items, const kf_heif_item *item, size_t position) {
    unsigned size = items->property_size;
    if (!size || position >= item->properties.size / size) return NULL;
    uint64_t index = kf_number(item->properties.bytes + position * size, size) & (size == 2 ? 0x7FFF : 0x7F);
    // Number 0 means none: one without a name.
    static const kf_heif_property none = {(const uint8_t *)"    ", {NULL, 0}};
    return index == 0 || index > items->property_count ? &none : &items->properties[index - 1];
}

// Takes the next piece of an item off `extents`; false if it lies outside.
static bool next_piece(const kf_heif_items *items, const kf_heif_item *item, kf_span *extents, kf_span *piece) {
    kf_span whole = item->is_among_boxes ? items->among_boxes : items->file;
    uint64_t offset = kf_take(extents, items->offset_size), length = kf_take(extents, items->length_size);
    if (item->base > whole.size || offset > whole.size - item->base) return false;
    offset += item->base;
    if (length > whole.size - offset) return false;
    *piece = (kf_span){whole.bytes + offset, (size_t)length};
    return true;
}

uint64_t kf_heif_data_size(const kf_heif_items *items, const kf_heif_item *item) {
    kf_span extents = item->extents, piece;
    uint64_t size = 0;
    while (extents.size) {
        if (!next_piece(items, item, &extents, &piece)) return UINT64_MAX;
        size += piece.size;
    }
    return size;
}

void kf_heif_copy_data(const kf_heif_items *items, const kf_heif_item *item, uint8_t *to, size_t size) {
    kf_span extents = item->extents, piece;
    while (size && extents.size && next_piece(items, item, &extents, &piece)) {
        size_t count = piece.size < size ? piece.size : size;
        memcpy(to, piece.bytes, count);
        to += count;
        size -= count;
    }
}
#endif
