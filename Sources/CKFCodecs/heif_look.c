// Whether a HEIF file may be handed to libheif, which follows references for ever, decodes whatever a part turns out to be, and
// takes it on trust that transparency has the size and the depth of what it belongs to.
//
// The names are those of ISO/IEC 23008-12, sections 6.5, 6.6 and 9.3.
#ifdef KF_HEIC
#include "heif_look.h"
#include "heif_items.h"
#include "hevc.h"
#include <stdlib.h>
#include <string.h>

typedef struct {
    kf_heif_items items;
    /// What may still be decoded: pictures, their bytes and their pixels; and pixels once more for pictures with many slices,
    /// each of which may claim to reach from wherever it likes to the end.
    uint64_t pictures, bytes, pixels, slice_pixels;
    /// The largest picture that is decoded.
    uint32_t width, height;
    const char *reason;
    bool is_unsupported;
} inspection;

/// What is known of an item: its size as announced, which must be that of its pixels; and after it is turned, but not cropped.
typedef struct {
    uint32_t width, height, turned_width, turned_height;
    bool is_cropped;
    /// Whether it is turned before its size is announced, which libheif then announces as if it was not.
    bool is_turned_early;
    uint32_t depth;
} description;

static bool refuse(inspection *look, const char *reason) {
    look->reason = reason;
    return false;
}

static bool leave_out(inspection *look, const char *reason) {
    look->is_unsupported = true;
    return refuse(look, reason);
}

static bool has_property(const inspection *look, const kf_heif_item *item, const char *name) {
    const kf_heif_property *property;
    for (size_t i = 0; (property = kf_heif_property_of(&look->items, item, i)); i++) {
        if (kf_is_named(property->name, name)) return true;
    }
    return false;
}

// A property that an item must have once.
static const kf_heif_property *only(const inspection *look, const kf_heif_item *item, const char *name) {
    const kf_heif_property *found = NULL, *property;
    for (size_t i = 0; (property = kf_heif_property_of(&look->items, item, i)); i++) {
        if (!kf_is_named(property->name, name)) continue;
        if (found) return NULL;
        found = property;
    }
    return found;
}

static bool describe(inspection *look, const kf_heif_item *item, description *result) {
    *result = (description){0};
    const kf_heif_property *size = only(look, item, "ispe"), *property;
    if (!size) return refuse(look, "the size of a picture is missing, or said twice");
    kf_span rest = size->content;
    kf_take(&rest, 4);
    uint64_t width = kf_take(&rest, 4), height = kf_take(&rest, 4);
    if (!width || !height || height == UINT64_MAX) return refuse(look, "a picture has no size");
    result->width = result->turned_width = (uint32_t)width;
    result->height = result->turned_height = (uint32_t)height;
    bool is_announced = false;
    for (size_t i = 0; (property = kf_heif_property_of(&look->items, item, i)); i++) {
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

static bool look_at_data(inspection *look, const kf_heif_item *item, kf_hevc_look *seen) {
    uint64_t size = kf_heif_data_size(&look->items, item);
    uint8_t *bytes = size <= look->bytes ? malloc((size_t)size + 1) : NULL;
    if (!bytes) return false;
    look->bytes -= size;
    kf_heif_copy_data(&look->items, item, bytes, (size_t)size);
    // libheif takes it that sizes have four bytes.
    bool is_sound = kf_hevc_look_at_units((kf_span){bytes, (size_t)size}, 4, seen);
    free(bytes);
    return is_sound;
}

static bool check_coded(inspection *look, const kf_heif_item *item, description *result) {
    // Decoders make up as many as sixteen pictures for one that asks for them.
    const uint64_t most_with_references = 1 << 24;
    const kf_heif_property *configuration = only(look, item, "hvcC");
    kf_hevc_look seen = {0};
    if (!configuration || !kf_hevc_look_at_record(configuration->content, &seen) || !look_at_data(look, item, &seen)) {
        return refuse(look, "a coded picture is broken, or is built on others");
    }
    if (seen.width != result->width || seen.height != result->height) {
        return refuse(look, "a coded picture has another size than announced");
    }
    if (seen.pixel_count > ((uint64_t)seen.width + 256) * ((uint64_t)seen.height + 256)) {
        return refuse(look, "a coded picture is larger than announced");
    }
    if (seen.picture_count > 1) return refuse(look, "a coded picture consists of several");
    if (seen.may_have_references && seen.pixel_count > most_with_references) {
        return refuse(look, "a coded picture of this size may not be built on others");
    }
    if (look->pictures == 0 || look->pixels < seen.pixel_count) {
        return refuse(look, "the picture has more or larger parts than a picture of its size needs");
    }
    const uint64_t plain_count = 8, costs = seen.costly_count > plain_count ? seen.costly_count - plain_count : 0;
    if (look->slice_pixels < costs * seen.pixel_count) return refuse(look, "coded pictures have too many slices");
    if ((uint64_t)look->width * look->height < (uint64_t)seen.width * seen.height) {
        look->width = seen.width;
        look->height = seen.height;
    }
    look->pictures--;
    look->pixels -= seen.pixel_count;
    look->slice_pixels -= costs * seen.pixel_count;
    result->depth = seen.depth;
    return true;
}

// What an item may be: coded; or a grid of what is coded; or made of one or several of these.
typedef enum { CODED, GRID, MADE } kind;

static bool check(inspection *look, const kf_heif_item *item, kind most, description *result);

// The next part of an item, which is `most`, and of the same depth as all others.
static bool check_part(inspection *look, kf_span *parts, kind most, description *whole, description *part) {
    const kf_heif_item *item = kf_heif_find(&look->items, kf_take(parts, look->items.reference_size));
    if (!item) return refuse(look, "a part of the picture is missing");
    if (!check(look, item, most, part)) return false;
    if (whole->depth && whole->depth != part->depth) return refuse(look, "parts of the picture differ in depth");
    whole->depth = part->depth;
    return true;
}

// How many parts an item is said to have.
static bool has_parts(inspection *look, const kf_heif_item *item, uint64_t count) {
    if (count && item->parts.size == count * look->items.reference_size) return true;
    return refuse(look, "a picture has another number of parts than announced");
}

// ImageGrid
static bool check_grid(inspection *look, const kf_heif_item *item, description *result) {
    uint8_t bytes[12];
    uint64_t size = kf_heif_data_size(&look->items, item);
    kf_span rest = {bytes, size < sizeof bytes ? (size_t)size : sizeof bytes};
    if (rest.size < 8) return refuse(look, "the description of a grid is broken");
    kf_heif_copy_data(&look->items, item, bytes, rest.size);
    unsigned number_size = bytes[1] & 1 ? 4 : 2;
    kf_take(&rest, 2);
    uint64_t rows = kf_take(&rest, 1) + 1, columns = kf_take(&rest, 1) + 1;
    uint64_t width = kf_take(&rest, number_size), height = kf_take(&rest, number_size);
    if (width != result->width || height != result->height) return refuse(look, "a grid has another size than announced");
    if (!has_parts(look, item, rows * columns)) return false;
    description part;
    for (kf_span parts = item->parts; parts.size;) {
        if (!check_part(look, &parts, CODED, result, &part)) return false;
    }
    return true;
}

// ImageOverlay, `bytes` being its data. libheif lays pictures of eight bits over one another, and is not to be trusted with
// those that reach beyond the picture.
static bool check_layers(inspection *look, const kf_heif_item *item, kf_span bytes, description *result) {
    if (bytes.size < 10) return refuse(look, "the description of layers is broken");
    unsigned number_size = bytes.bytes[1] & 1 ? 4 : 2;
    kf_span rest = kf_without(bytes, 10);
    uint64_t width = kf_take(&rest, number_size), height = kf_take(&rest, number_size);
    if (width != result->width || height != result->height) return refuse(look, "layers have another size than announced");
    if (!has_parts(look, item, rest.size / number_size / 2)) return false;
    description part;
    for (kf_span parts = item->parts; parts.size;) {
        uint64_t x = kf_take(&rest, number_size), y = kf_take(&rest, number_size);
        if (!check_part(look, &parts, GRID, result, &part)) return false;
        bool is_inside = x + part.turned_width <= width && y + part.turned_height <= height;
        if (part.is_cropped || !is_inside || part.depth != 8) {
            return leave_out(look, "layers that are cropped, deep, or reach beyond the picture are not read");
        }
    }
    return true;
}

static bool check_overlay(inspection *look, const kf_heif_item *item, description *result) {
    uint64_t size = kf_heif_data_size(&look->items, item);
    uint8_t *bytes = size < SIZE_MAX ? malloc((size_t)size + 1) : NULL;
    if (!bytes) return refuse(look, "the description of layers is broken");
    kf_heif_copy_data(&look->items, item, bytes, (size_t)size);
    bool is_sound = check_layers(look, item, (kf_span){bytes, (size_t)size}, result);
    free(bytes);
    return is_sound;
}

// A picture under another name.
static bool check_identity(inspection *look, const kf_heif_item *item, description *result) {
    kf_span parts = item->parts;
    description part;
    if (!has_parts(look, item, 1) || !check_part(look, &parts, GRID, result, &part)) return false;
    if (part.is_cropped) return leave_out(look, "a cropped picture under another name");
    bool is_alike = part.turned_width == result->width && part.turned_height == result->height;
    return is_alike || refuse(look, "a picture under another name has another size");
}

static bool is_alpha(const inspection *look, const kf_heif_item *item) {
    static const char *const names[] = {
        "urn:mpeg:hevc:2015:auxid:1", "urn:mpeg:avc:2015:auxid:1", "urn:mpeg:mpegB:cicp:systems:auxiliary:alpha",
    };
    const kf_heif_property *property;
    for (size_t i = 0; (property = kf_heif_property_of(&look->items, item, i)); i++) {
        if (!kf_is_named(property->name, "auxC") || property->content.size < 4) continue;
        kf_span text = kf_without(property->content, 4);
        for (int name = 0; name < 3; name++) {
            size_t length = strlen(names[name]);
            if (text.size >= length && memcmp(text.bytes, names[name], length) == 0) return true;
        }
    }
    return false;
}

// Notes which items are the transparency of which.
static bool find_alphas(inspection *look) {
    for (size_t i = 0; i < look->items.count; i++) {
        const kf_heif_item *alpha = &look->items.items[i];
        // libheif leaves out what has no size.
        if (!alpha->master.size || !is_alpha(look, alpha) || !has_property(look, alpha, "ispe")) continue;
        kf_span masters = alpha->master;
        const kf_heif_item *master = kf_heif_find(&look->items, kf_take(&masters, look->items.reference_size));
        if (!master) continue;
        if (master->alpha) return refuse(look, "a picture has two transparencies");
        look->items.items[master - look->items.items].alpha = alpha;
    }
    return true;
}

// Whether two items are cropped and turned in the same way.
static bool are_cropped_alike(const inspection *look, const kf_heif_item *a, const kf_heif_item *b) {
    for (size_t i = 0, j = 0;; i++, j++) {
        const kf_heif_property *left, *right;
        while ((left = kf_heif_property_of(&look->items, a, i)) && !kf_is_named(left->name, "clap")
               && !kf_is_named(left->name, "irot")) i++;
        while ((right = kf_heif_property_of(&look->items, b, j)) && !kf_is_named(right->name, "clap")
               && !kf_is_named(right->name, "irot")) j++;
        if (!left || !right) return left == right;
        if (!kf_is_named(left->name, (const char *)right->name) || left->content.size != right->content.size
            || memcmp(left->content.bytes, right->content.bytes, left->content.size) != 0) return false;
    }
}

static bool check_alpha(inspection *look, const kf_heif_item *item, const description *colors) {
    const kf_heif_item *alpha = item->alpha;
    description other;
    if (!alpha) return true;
    if (!describe(look, alpha, &other)) return false;
    if (colors->is_cropped || colors->is_turned_early || other.is_cropped || other.is_turned_early) {
        bool is_alike = colors->width == other.width && colors->height == other.height;
        if (!is_alike || !are_cropped_alike(look, item, alpha)) {
            return refuse(look, "the transparency is cropped or turned in another way than the colours");
        }
    } else if (colors->turned_width != other.turned_width || colors->turned_height != other.turned_height) {
        // libheif leaves out what has another size.
        return true;
    }
    if (kf_is_named(item->type, "iden")) return leave_out(look, "transparency of a picture under another name");
    if (alpha->alpha) return refuse(look, "transparency has transparency");
    if (!check(look, alpha, kf_is_named(item->type, "hvc1") ? CODED : GRID, &other)) return false;
    if (other.depth != colors->depth) return leave_out(look, "transparency of another depth than the colours");
    return true;
}

static bool check(inspection *look, const kf_heif_item *item, kind most, description *result) {
    if (!describe(look, item, result)) return false;
    bool is_sound;
    if (kf_is_named(item->type, "hvc1")) {
        is_sound = check_coded(look, item, result);
    } else if (most >= GRID && kf_is_named(item->type, "grid")) {
        is_sound = check_grid(look, item, result);
    } else if (most >= MADE && kf_is_named(item->type, "iden")) {
        is_sound = check_identity(look, item, result);
    } else if (most >= MADE && kf_is_named(item->type, "iovl")) {
        is_sound = check_overlay(look, item, result);
    } else {
        return leave_out(look, "only pictures coded as HEVC are read, grids of them, and layers of both");
    }
    return is_sound && check_alpha(look, item, result);
}

// Files with many items cost libheif time that grows with their square; data that are shared among items are copied for each.
static bool check_list(inspection *look) {
    // Some seconds of copying.
    const uint64_t most_copies = 1 << 26, most_packed = 1 << 16;
    if (look->items.count * look->items.place_count > most_copies) {
        return refuse(look, "the file has more items than a picture needs");
    }
    uint64_t all = 0, packed = 0;
    for (size_t i = 0; i < look->items.count; i++) {
        const kf_heif_item *item = &look->items.items[i];
        uint64_t size = kf_heif_data_size(&look->items, item);
        if (size == UINT64_MAX) return refuse(look, "the data end too early");
        all += size;
        if (item->is_packed) packed += size;
        if (all > look->bytes || packed > most_packed) return refuse(look, "items have more data than the file");
    }
    return true;
}

static bool check_primary(inspection *look, kf_heif_size *size) {
    const kf_heif_item *primary = kf_heif_find(&look->items, look->items.primary);
    if (!primary) return refuse(look, "there is no picture");
    description result;
    if (!describe(look, primary, &result)) return false;
    uint64_t pixel_count = (uint64_t)result.width * result.height, pictures = pixel_count >> 16;
    // As with AVIF: much larger parts than needed must not be decoded, some that are too large may be.
    look->pictures = 2 * (pictures < 64 ? 64 : pictures);
    look->pixels = pixel_count * 8 < 1 << 23 ? 1 << 23 : pixel_count * 8;
    look->slice_pixels = pixel_count * 8 + (1 << 28);
    look->bytes = (uint64_t)look->items.file.size * 8 + (1 << 16);
    look->width = result.width;
    look->height = result.height;
    if (!check_list(look) || !find_alphas(look) || !check(look, primary, MADE, &result)) return false;
    *size = (kf_heif_size){look->width, look->height, result.turned_width, result.turned_height, result.is_cropped};
    return true;
}

kf_status kf_heif_look(const uint8_t *bytes, size_t size, kf_heif_size *primary, kf_message *message) {
    inspection look = {.reason = NULL};
    *primary = (kf_heif_size){0};
    look.reason = kf_heif_items_read((kf_span){bytes, size}, &look.items);
    bool is_sound = !look.reason && check_primary(&look, primary);
    kf_heif_items_release(&look.items);
    if (is_sound) return KF_OK;
    return kf_fail(message, look.is_unsupported ? KF_UNSUPPORTED : KF_MALFORMED, look.reason);
}
#endif
