// Decides whether a HEIF file may be handed to libheif, which follows references endlessly, decodes parts of any kind,
// and assumes without a check that transparency has the size and the depth of the image it belongs to.
//
// The names are those of ISO/IEC 23008-12, sections 6.5, 6.6 and 9.3.
#ifdef KF_HEIC
#include "heif_validate.h"
#include "heif_items.h"
#include "hevc.h"
#include <stdlib.h>
#include <string.h>

typedef struct {
    kf_heif_items items;
    /// How much may still be decoded: images, their bytes and their pixels; and pixels once more for images with many
    /// slices, each of which may claim to reach from any place to the end.
    uint64_t pictures, bytes, pixels, slice_pixels;
    /// The largest image that is decoded.
    uint32_t width, height;
    const char *reason;
    bool is_unsupported;
} validation;

/// The sizes of an item: its size as announced, which must be that of its pixels; and after it is turned, but not
/// cropped.
typedef struct {
    uint32_t width, height, turned_width, turned_height;
    bool is_cropped;
    /// Whether it is turned before its size is announced, which libheif then announces as if it was not.
    bool is_turned_early;
    uint32_t depth;
} description;

static bool refuse(validation *state, const char *reason) {
    state->reason = reason;
    return false;
}

static bool unsupported(validation *state, const char *reason) {
    state->is_unsupported = true;
    return refuse(state, reason);
}

static bool has_property(const validation *state, const kf_heif_item *item, const char *name) {
    const kf_heif_property *property;
    for (size_t i = 0; (property = kf_heif_property_of(&state->items, item, i)); i++) {
        if (kf_is_named(property->name, name)) return true;
    }
    return false;
}

// A property that an item must have once.
static const kf_heif_property *only(const validation *state, const kf_heif_item *item, const char *name) {
    const kf_heif_property *found = NULL, *property;
    for (size_t i = 0; (property = kf_heif_property_of(&state->items, item, i)); i++) {
        if (!kf_is_named(property->name, name)) continue;
        if (found) return NULL;
        found = property;
    }
    return found;
}

static bool describe(validation *state, const kf_heif_item *item, description *result) {
    *result = (description){0};
    const kf_heif_property *size = only(state, item, "ispe"), *property;
    if (!size) return refuse(state, "the size of an image is missing, or said twice");
    kf_span rest = size->content;
    kf_take(&rest, 4);
    uint64_t width = kf_take(&rest, 4), height = kf_take(&rest, 4);
    if (!width || !height || height == UINT64_MAX) return refuse(state, "an image has no size");
    result->width = result->turned_width = (uint32_t)width;
    result->height = result->turned_height = (uint32_t)height;
    bool is_announced = false;
    for (size_t i = 0; (property = kf_heif_property_of(&state->items, item, i)); i++) {
        rest = property->content;
        if (property == size) is_announced = true;
        if (kf_is_named(property->name, "clap")) result->is_cropped = true;
        if (!kf_is_named(property->name, "irot") || !(kf_take(&rest, 1) & 1)) continue;
        if (!is_announced) result->is_turned_early = true;
        uint32_t other = result->turned_width;
        result->turned_width = result->turned_height;
        result->turned_height = other;
    }
    return true;
}

static bool read_data(validation *state, const kf_heif_item *item, kf_hevc_summary *seen) {
    uint64_t size = kf_heif_data_size(&state->items, item);
    uint8_t *bytes = size <= state->bytes ? malloc((size_t)size + 1) : NULL;
    if (!bytes) return false;
    state->bytes -= size;
    kf_heif_copy_data(&state->items, item, bytes, (size_t)size);
    // libheif assumes that sizes have four bytes.
    bool is_valid = kf_hevc_read_units((kf_span){bytes, (size_t)size}, 4, seen);
    free(bytes);
    return is_valid;
}

static bool check_coded(validation *state, const kf_heif_item *item, description *result) {
    // Decoders make up as many as sixteen missing images for one that refers to them.
    const uint64_t most_with_references = 1 << 24;
    const kf_heif_property *configuration = only(state, item, "hvcC");
    kf_hevc_summary seen = {0};
    if (!configuration || !kf_hevc_read_configuration(configuration->content, &seen)
        || !read_data(state, item, &seen)) {
        return refuse(state, "a coded image is broken, or is built on others");
    }
    if (seen.width != result->width || seen.height != result->height) {
        return refuse(state, "a coded image has another size than announced");
    }
    if (seen.pixel_count > ((uint64_t)seen.width + 256) * ((uint64_t)seen.height + 256)) {
        return refuse(state, "a coded image is larger than announced");
    }
    if (seen.picture_count > 1) return refuse(state, "a coded image consists of several");
    if (seen.may_have_references && seen.pixel_count > most_with_references) {
        return refuse(state, "a coded image of this size may not be built on others");
    }
    if (state->pictures == 0 || state->pixels < seen.pixel_count) {
        return refuse(state, "the image has more or larger parts than an image of its size needs");
    }
    const uint64_t plain_count = 8, costs = seen.costly_count > plain_count ? seen.costly_count - plain_count : 0;
    if (state->slice_pixels < costs * seen.pixel_count) return refuse(state, "coded images have too many slices");
    if ((uint64_t)state->width * state->height < (uint64_t)seen.width * seen.height) {
        state->width = seen.width;
        state->height = seen.height;
    }
    state->pictures--;
    state->pixels -= seen.pixel_count;
    state->slice_pixels -= costs * seen.pixel_count;
    result->depth = seen.depth;
    return true;
}

// The kinds of item: coded; a grid of coded items; or made of one or several of these.
typedef enum { CODED, GRID, MADE } kind;

static bool check(validation *state, const kf_heif_item *item, kind most, description *result);

// The next part of an item, whose kind is `most` at most, and of the same depth as all others.
static bool check_part(validation *state, kf_span *parts, kind most, description *whole, description *part) {
    const kf_heif_item *item = kf_heif_find(&state->items, kf_take(parts, state->items.reference_size));
    if (!item) return refuse(state, "a part of the image is missing");
    if (!check(state, item, most, part)) return false;
    if (whole->depth && whole->depth != part->depth) return refuse(state, "parts of the image differ in depth");
    whole->depth = part->depth;
    return true;
}

// Whether an item has so many parts by its references.
static bool has_parts(validation *state, const kf_heif_item *item, uint64_t count) {
    if (count && item->parts.size == count * state->items.reference_size) return true;
    return refuse(state, "an image has another number of parts than announced");
}

// ImageGrid
static bool check_grid(validation *state, const kf_heif_item *item, description *result) {
    uint8_t bytes[12];
    uint64_t size = kf_heif_data_size(&state->items, item);
    kf_span rest = {bytes, size < sizeof bytes ? (size_t)size : sizeof bytes};
    if (rest.size < 8) return refuse(state, "the description of a grid is broken");
    kf_heif_copy_data(&state->items, item, bytes, rest.size);
    unsigned number_size = bytes[1] & 1 ? 4 : 2;
    kf_take(&rest, 2);
    uint64_t rows = kf_take(&rest, 1) + 1, columns = kf_take(&rest, 1) + 1;
    uint64_t width = kf_take(&rest, number_size), height = kf_take(&rest, number_size);
    if (width != result->width || height != result->height) {
        return refuse(state, "a grid has another size than announced");
    }
    if (!has_parts(state, item, rows * columns)) return false;
    description part;
    for (kf_span parts = item->parts; parts.size;) {
        if (!check_part(state, &parts, CODED, result, &part)) return false;
    }
    return true;
}

// ImageOverlay, `bytes` being its data. libheif lays images of eight bits over one another, and is not to be trusted
// with those that reach beyond the image.
static bool check_layers(validation *state, const kf_heif_item *item, kf_span bytes, description *result) {
    if (bytes.size < 10) return refuse(state, "the description of layers is broken");
    unsigned number_size = bytes.bytes[1] & 1 ? 4 : 2;
    kf_span rest = kf_without(bytes, 10);
    uint64_t width = kf_take(&rest, number_size), height = kf_take(&rest, number_size);
    if (width != result->width || height != result->height) {
        return refuse(state, "layers have another size than announced");
    }
    if (!has_parts(state, item, rest.size / number_size / 2)) return false;
    description part;
    for (kf_span parts = item->parts; parts.size;) {
        uint64_t x = kf_take(&rest, number_size), y = kf_take(&rest, number_size);
        if (!check_part(state, &parts, GRID, result, &part)) return false;
        bool is_inside = x + part.turned_width <= width && y + part.turned_height <= height;
        if (part.is_cropped || !is_inside || part.depth != 8) {
            return unsupported(state, "layers that are cropped, deep, or reach beyond the image are not read");
        }
    }
    return true;
}

static bool check_overlay(validation *state, const kf_heif_item *item, description *result) {
    uint64_t size = kf_heif_data_size(&state->items, item);
    uint8_t *bytes = size < SIZE_MAX ? malloc((size_t)size + 1) : NULL;
    if (!bytes) return refuse(state, "the description of layers is broken");
    kf_heif_copy_data(&state->items, item, bytes, (size_t)size);
    bool is_valid = check_layers(state, item, (kf_span){bytes, (size_t)size}, result);
    free(bytes);
    return is_valid;
}

// An image under another name.
static bool check_identity(validation *state, const kf_heif_item *item, description *result) {
    kf_span parts = item->parts;
    description part;
    if (!has_parts(state, item, 1) || !check_part(state, &parts, GRID, result, &part)) return false;
    if (part.is_cropped) return unsupported(state, "a cropped image under another name");
    bool is_alike = part.turned_width == result->width && part.turned_height == result->height;
    return is_alike || refuse(state, "an image under another name has another size");
}

static bool is_alpha(const validation *state, const kf_heif_item *item) {
    static const char *const names[] = {
        "urn:mpeg:hevc:2015:auxid:1", "urn:mpeg:avc:2015:auxid:1", "urn:mpeg:mpegB:cicp:systems:auxiliary:alpha",
    };
    const kf_heif_property *property;
    for (size_t i = 0; (property = kf_heif_property_of(&state->items, item, i)); i++) {
        if (!kf_is_named(property->name, "auxC") || property->content.size < 4) continue;
        kf_span text = kf_without(property->content, 4);
        for (int name = 0; name < 3; name++) {
            size_t length = strlen(names[name]);
            if (text.size >= length && memcmp(text.bytes, names[name], length) == 0) return true;
        }
    }
    return false;
}

// Records which items are the transparency of which.
static bool find_alphas(validation *state) {
    for (size_t i = 0; i < state->items.count; i++) {
        const kf_heif_item *alpha = &state->items.items[i];
        // libheif ignores an item without a size.
        if (!alpha->master.size || !is_alpha(state, alpha) || !has_property(state, alpha, "ispe")) continue;
        kf_span masters = alpha->master;
        const kf_heif_item *master = kf_heif_find(&state->items, kf_take(&masters, state->items.reference_size));
        if (!master) continue;
        if (master->alpha) return refuse(state, "an image has two transparencies");
        state->items.items[master - state->items.items].alpha = alpha;
    }
    return true;
}

// Whether two items are cropped and turned in the same way.
static bool are_cropped_alike(const validation *state, const kf_heif_item *a, const kf_heif_item *b) {
    for (size_t i = 0, j = 0;; i++, j++) {
        const kf_heif_property *left, *right;
        while ((left = kf_heif_property_of(&state->items, a, i)) && !kf_is_named(left->name, "clap")
               && !kf_is_named(left->name, "irot")) i++;
        while ((right = kf_heif_property_of(&state->items, b, j)) && !kf_is_named(right->name, "clap")
               && !kf_is_named(right->name, "irot")) j++;
        if (!left || !right) return left == right;
        if (!kf_is_named(left->name, (const char *)right->name) || left->content.size != right->content.size
            || memcmp(left->content.bytes, right->content.bytes, left->content.size) != 0) return false;
    }
}

static bool check_alpha(validation *state, const kf_heif_item *item, const description *colors) {
    const kf_heif_item *alpha = item->alpha;
    description other;
    if (!alpha) return true;
    if (!describe(state, alpha, &other)) return false;
    if (colors->is_cropped || colors->is_turned_early || other.is_cropped || other.is_turned_early) {
        bool is_alike = colors->width == other.width && colors->height == other.height;
        if (!is_alike || !are_cropped_alike(state, item, alpha)) {
            return refuse(state, "the transparency is cropped or turned in another way than the colours");
        }
    } else if (colors->turned_width != other.turned_width || colors->turned_height != other.turned_height) {
        // libheif ignores an item of another size.
        return true;
    }
    if (kf_is_named(item->type, "iden")) return unsupported(state, "transparency of an image under another name");
    if (alpha->alpha) return refuse(state, "transparency has transparency");
    if (!check(state, alpha, kf_is_named(item->type, "hvc1") ? CODED : GRID, &other)) return false;
    if (other.depth != colors->depth) return unsupported(state, "transparency of another depth than the colours");
    return true;
}

static bool check(validation *state, const kf_heif_item *item, kind most, description *result) {
    if (!describe(state, item, result)) return false;
    bool is_valid;
    if (kf_is_named(item->type, "hvc1")) {
        is_valid = check_coded(state, item, result);
    } else if (most >= GRID && kf_is_named(item->type, "grid")) {
        is_valid = check_grid(state, item, result);
    } else if (most >= MADE && kf_is_named(item->type, "iden")) {
        is_valid = check_identity(state, item, result);
    } else if (most >= MADE && kf_is_named(item->type, "iovl")) {
        is_valid = check_overlay(state, item, result);
    } else {
        return unsupported(state, "only images coded as HEVC are read, grids of them, and layers of both");
    }
    return is_valid && check_alpha(state, item, result);
}

// Files with many items cost libheif time that grows with their square; data that are shared among items are copied for
// each.
static bool check_list(validation *state) {
    // Some seconds of copying.
    const uint64_t most_copies = 1 << 26, most_packed = 1 << 16;
    if (state->items.count * state->items.place_count > most_copies) {
        return refuse(state, "the file has more items than an image needs");
    }
    uint64_t all = 0, packed = 0;
    for (size_t i = 0; i < state->items.count; i++) {
        const kf_heif_item *item = &state->items.items[i];
        uint64_t size = kf_heif_data_size(&state->items, item);
        if (size == UINT64_MAX) return refuse(state, "the data end too early");
        all += size;
        if (item->is_packed) packed += size;
        if (all > state->bytes || packed > most_packed) return refuse(state, "items have more data than the file");
    }
    return true;
}

static bool check_primary(validation *state, kf_heif_size *size) {
    const kf_heif_item *primary = kf_heif_find(&state->items, state->items.primary);
    if (!primary) return refuse(state, "there is no image");
    description result;
    if (!describe(state, primary, &result)) return false;
    uint64_t pixel_count = (uint64_t)result.width * result.height, pictures = pixel_count >> 16;
    // As with AVIF: much larger parts than needed must not be decoded, some that are too large may be.
    state->pictures = 2 * (pictures < 64 ? 64 : pictures);
    state->pixels = pixel_count * 8 < 1 << 23 ? 1 << 23 : pixel_count * 8;
    state->slice_pixels = pixel_count * 8 + (1 << 28);
    state->bytes = (uint64_t)state->items.file.size * 8 + (1 << 16);
    state->width = result.width;
    state->height = result.height;
    if (!check_list(state) || !find_alphas(state) || !check(state, primary, MADE, &result)) return false;
    *size = (kf_heif_size){state->width, state->height, result.turned_width, result.turned_height, result.is_cropped};
    return true;
}

kf_status kf_heif_validate(const uint8_t *bytes, size_t size, kf_heif_size *primary, kf_message *message) {
    validation state = {.reason = NULL};
    *primary = (kf_heif_size){0};
    state.reason = kf_heif_items_read((kf_span){bytes, size}, &state.items);
    bool is_valid = !state.reason && check_primary(&state, primary);
    kf_heif_items_release(&state.items);
    if (is_valid) return KF_OK;
    return kf_fail(message, state.is_unsupported ? KF_UNSUPPORTED : KF_MALFORMED, state.reason);
}
#endif
