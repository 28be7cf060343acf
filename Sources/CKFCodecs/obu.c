// A look at AV1 data before a decoder gets it: libaom allocates what the data announces, whatever the container said.
//
// The names are those of the AV1 specification, sections 5.3 and 5.5.
#include "obu.h"
#include "bits.h"

static void skip_variable_length(kf_bits *reader) {
    unsigned zeros = 0;
    while (!reader->failed && zeros < 32 && !kf_read_bits(reader, 1)) zeros++;
    kf_read_bits(reader, zeros < 32 ? zeros : 0);
}

static void skip_operating_points(kf_bits *reader) {
    unsigned delay_length = 0;
    if (kf_read_bits(reader, 1)) { // timing_info_present_flag
        kf_read_bits(reader, 32);
        kf_read_bits(reader, 32);
        if (kf_read_bits(reader, 1)) skip_variable_length(reader);
        if (kf_read_bits(reader, 1)) { // decoder_model_info_present_flag
            delay_length = kf_read_bits(reader, 5) + 1;
            kf_read_bits(reader, 32);
            kf_read_bits(reader, 10);
        }
    }
    bool has_display_delay = kf_read_bits(reader, 1);
    unsigned points = kf_read_bits(reader, 5) + 1;
    for (unsigned i = 0; i < points && !reader->failed; i++) {
        kf_read_bits(reader, 12);
        if (kf_read_bits(reader, 5) > 7) kf_read_bits(reader, 1);
        if (delay_length && kf_read_bits(reader, 1)) {
            kf_read_bits(reader, delay_length);
            kf_read_bits(reader, delay_length);
            kf_read_bits(reader, 1);
        }
        if (has_display_delay && kf_read_bits(reader, 1)) kf_read_bits(reader, 4);
    }
}

// film_grain_params_present is the last bit before a one and the zeros that fill up the unit; decoders refuse others.
static bool may_have_grain(const uint8_t *bytes, size_t size) {
    while (size && !bytes[size - 1]) size--;
    if (!size) return true;
    size_t end = size * 8 - 1;
    while (!(bytes[end / 8] >> (7 - end % 8) & 1)) end--;
    return end > 0 && (bytes[(end - 1) / 8] >> (7 - (end - 1) % 8) & 1);
}

static kf_obu_verdict check_sequence_header(const uint8_t *bytes, size_t size, kf_obu_look *look) {
    kf_bits reader = {bytes, size * 8, 0, false};
    kf_read_bits(&reader, 3); // seq_profile
    kf_read_bits(&reader, 1); // still_picture
    if (kf_read_bits(&reader, 1)) { // reduced_still_picture_header
        kf_read_bits(&reader, 5);
    } else {
        skip_operating_points(&reader);
    }
    uint32_t width_bits = kf_read_bits(&reader, 4) + 1, height_bits = kf_read_bits(&reader, 4) + 1;
    uint32_t width = kf_read_bits(&reader, width_bits) + 1, height = kf_read_bits(&reader, height_bits) + 1;
    if (reader.failed) return KF_OBU_BROKEN;
    if (may_have_grain(bytes, size)) look->has_grain = true;
    bool is_large = width > look->max_width || height > look->max_height
        || (uint64_t)width * height > look->max_pixel_count;
    return is_large ? KF_OBU_TOO_LARGE : KF_OBU_SOUND;
}

/// A unit of AV1 data, without its header.
typedef struct {
    unsigned type;
    bool is_layer;
    const uint8_t *bytes;
    size_t size;
} obu;

// obu_type, as far as it matters here.
enum { SEQUENCE_HEADER = 1, FRAME_HEADER = 3, FRAME = 6, REDUNDANT_FRAME_HEADER = 7, TILE_LIST = 8 };

// Reads the unit at `offset`, which is before the end, and steps over it.
static bool next_unit(const uint8_t *bytes, size_t size, size_t *offset, obu *unit) {
    size_t position = *offset;
    uint8_t first = bytes[position++];
    bool is_forbidden = first & 0x80, has_extension = first & 4, has_size = first & 2;
    if (is_forbidden || !has_size) return false;
    unit->type = first >> 3 & 15;
    // temporal_id and spatial_id
    unit->is_layer = has_extension && position < size && bytes[position] >> 3;
    if (has_extension) position++;
    size_t length = 0;
    for (unsigned shift = 0;; shift += 7) {
        if (position >= size || shift > 28) return false;
        length |= (size_t)(bytes[position] & 0x7F) << shift;
        if (!(bytes[position++] & 0x80)) break;
    }
    if (length > size - position) return false;
    unit->bytes = bytes + position;
    unit->size = length;
    *offset = position + length;
    return true;
}

kf_obu_verdict kf_obu_check(const uint8_t *bytes, size_t size, kf_obu_look *look) {
    bool has_header = false;
    size_t offset = 0;
    obu unit;
    while (offset < size) {
        if (!next_unit(bytes, size, &offset, &unit)) return KF_OBU_BROKEN;
        if (unit.type != SEQUENCE_HEADER) continue;
        kf_obu_verdict verdict = check_sequence_header(unit.bytes, unit.size, look);
        if (verdict != KF_OBU_SOUND) return verdict;
        has_header = true;
    }
    return has_header ? KF_OBU_SOUND : KF_OBU_HEADERLESS;
}

bool kf_obu_is_one_picture(const uint8_t *bytes, size_t size) {
    unsigned headers = 0, frames = 0;
    size_t offset = 0;
    obu unit;
    while (offset < size) {
        if (!next_unit(bytes, size, &offset, &unit) || unit.is_layer) return false;
        switch (unit.type) {
        case SEQUENCE_HEADER: headers++; break;
        case FRAME_HEADER:
        case FRAME: frames++; break;
        case REDUNDANT_FRAME_HEADER:
        case TILE_LIST: return false;
        default: break;
        }
    }
    return headers == 1 && frames == 1;
}
