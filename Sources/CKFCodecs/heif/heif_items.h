// The items of a HEIF file: of what kind they are, where their data lie, of which others they consist. Decodes nothing.
#ifndef KF_HEIF_ITEMS_H
#define KF_HEIF_ITEMS_H

#include "../support/boxes.h"

typedef struct kf_heif_item {
    uint32_t id;
    /// Four letters.
    const uint8_t *type;
    /// Whether its data are packed, and grow when they are read.
    bool is_packed;
    /// Where the data lie, by the list of locations; `is_located` is whether that lists the item at all.
    bool is_located, is_among_boxes;
    uint64_t base;
    kf_span extents;
    /// Which properties it has.
    kf_span properties;
    /// Of which items it is put together, and whose transparency or depth it is.
    kf_span parts, master;
    /// Its transparency, found by `kf_heif_validate`.
    const struct kf_heif_item *alpha;
} kf_heif_item;

typedef struct kf_heif_property {
    const uint8_t *name;
    kf_span content;
} kf_heif_property;

typedef struct kf_heif_items {
    kf_span file, among_boxes;
    uint32_t primary;
    /// In order of their identifiers.
    kf_heif_item *items;
    size_t count;
    kf_heif_property *properties;
    size_t property_count;
    /// How many entries the list of locations has, and pieces in them.
    uint64_t place_count;
    /// How many bytes numbers take in the lists.
    unsigned offset_size, length_size, property_size, reference_size;
} kf_heif_items;

/// Reads the lists. Returns why it cannot, or NULL; in both cases the items are to be released.
const char *kf_heif_items_read(kf_span file, kf_heif_items *items);
void kf_heif_items_release(kf_heif_items *items);

/// An item by its identifier, or NULL.
const kf_heif_item *kf_heif_find(const kf_heif_items *items, uint64_t id);
/// The property of an item after the first `position` ones, or NULL.
const kf_heif_property *kf_heif_property_of(const kf_heif_items *items, const kf_heif_item *item, size_t position);
/// How many bytes an item has; `UINT64_MAX` if some lie outside the file.
uint64_t kf_heif_data_size(const kf_heif_items *items, const kf_heif_item *item);
/// Copies the first `size` bytes of an item, which are there.
void kf_heif_copy_data(const kf_heif_items *items, const kf_heif_item *item, uint8_t *to, size_t size);

#endif
