// Reads the sizes in HEVC data before a decoder gets them: libde265 allocates as much as the data announce, whatever
// the container announced.
//
// The names are those of ITU-T H.265, sections 7.3.1 to 7.3.3, and ISO/IEC 14496-15, section 8.3.3.
#ifdef KF_HEIC
#include "hevc.h"
#include "bits.h"

// ue(v): as many zeros as there are bits behind the one that follows them.
static uint32_t read_number(kf_bits *reader) {
    unsigned zeros = 0;
    while (!reader->failed && !kf_read_bits(reader, 1)) zeros++;
    // Decoders take no more either.
    if (zeros > 20) reader->failed = true;
    return reader->failed ? 0 : kf_read_bits(reader, zeros) + (1u << zeros) - 1;
}

// profile_tier_level()
static void skip_profiles(kf_bits *reader, unsigned more_layers) {
    reader->position += 96;
    bool has_profile[8] = {false}, has_level[8] = {false};
    for (unsigned i = 0; i < more_layers; i++) {
        has_profile[i] = kf_read_bits(reader, 1);
        has_level[i] = kf_read_bits(reader, 1);
    }
    if (more_layers) reader->position += 2 * (8 - more_layers);
    for (unsigned i = 0; i < more_layers; i++) reader->position += (has_profile[i] ? 88 : 0) + (has_level[i] ? 8 : 0);
}

// seq_parameter_set_rbsp(), as far as the depth.
static bool read_sequence(kf_bits *reader, kf_hevc_summary *summary) {
    kf_read_bits(reader, 4); // sps_video_parameter_set_id
    unsigned more_layers = kf_read_bits(reader, 3);
    kf_read_bits(reader, 1);
    skip_profiles(reader, more_layers);
    read_number(reader); // sps_seq_parameter_set_id
    uint32_t chroma = read_number(reader);
    if (chroma == 3) kf_read_bits(reader, 1);
    uint64_t width = read_number(reader), height = read_number(reader), shown_width = width, shown_height = height;
    if (kf_read_bits(reader, 1)) { // conformance_window_flag
        uint32_t left = read_number(reader), right = read_number(reader);
        uint32_t top = read_number(reader), bottom = read_number(reader);
        uint64_t x = ((uint64_t)left + right) * (chroma == 1 || chroma == 2 ? 2 : 1);
        uint64_t y = ((uint64_t)top + bottom) * (chroma == 1 ? 2 : 1);
        if (x >= width || y >= height) return false;
        shown_width -= x;
        shown_height -= y;
    }
    uint32_t depth = read_number(reader) + 8;
    if (reader->failed || !width || !height || chroma > 3 || depth > 16) return false;
    bool is_same = summary->width == shown_width && summary->height == shown_height && summary->depth == depth;
    if (summary->width && !is_same) return false;
    summary->width = (uint32_t)shown_width;
    summary->height = (uint32_t)shown_height;
    summary->depth = depth;
    if (width * height > summary->pixel_count) summary->pixel_count = width * height;
    return true;
}

// The fields of a sequence header that matter lie at its beginning.
enum { LONGEST_HEADER = 256 };

// Takes out the bytes that keep data from looking like the beginning of a unit.
static size_t without_stuffing(uint8_t *to, const uint8_t *from, size_t size) {
    size_t count = 0;
    unsigned zeros = 0;
    for (size_t i = 0; i < size && count < LONGEST_HEADER; i++) {
        if (zeros >= 2 && from[i] == 3) {
            zeros = 0;
            continue;
        }
        zeros = from[i] ? 0 : zeros + 1;
        to[count++] = from[i];
    }
    return count;
}

static bool read_unit(const uint8_t *unit, size_t size, kf_hevc_summary *summary) {
    // nal_unit_type, as far as it matters here.
    enum { FIRST_IRAP = 16, FIRST_IDR = 19, LAST_IDR = 20, LAST_IRAP = 21 };
    enum { FIRST_OTHER = 32, SEQUENCE = 33, PICTURE = 34 };
    if (size < 2) return false;
    unsigned type = unit[0] >> 1 & 63, layer = (unit[0] & 1u) << 5 | unit[1] >> 3;
    // Decoders leave other layers out.
    if (layer) return true;
    // Without a temporal layer nothing is valid.
    if (!(unit[1] & 7)) return false;
    if (type >= FIRST_OTHER && type <= PICTURE) summary->costly_count++;
    if (type == SEQUENCE) {
        uint8_t bytes[LONGEST_HEADER];
        kf_bits reader = {bytes, without_stuffing(bytes, unit + 2, size - 2) * 8, 0, false};
        return read_sequence(&reader, summary);
    }
    if (type >= FIRST_OTHER) return true;
    // An image in a file of stills needs no other.
    if (type < FIRST_IRAP || type > LAST_IRAP || size < 3) return false;
    if (type < FIRST_IDR || type > LAST_IDR) summary->may_have_references = true;
    // first_slice_segment_in_pic_flag
    if (unit[2] & 0x80) summary->picture_count++;
    summary->costly_count++;
    return true;
}

static bool read_next(kf_span *rest, unsigned size_size, kf_hevc_summary *summary) {
    const uint32_t most_units = 1024;
    uint64_t size = kf_take(rest, size_size);
    if (++summary->unit_count > most_units || size > rest->size) return false;
    if (size && !read_unit(rest->bytes, (size_t)size, summary)) return false;
    *rest = kf_without(*rest, (size_t)size);
    return true;
}

bool kf_hevc_read_units(kf_span data, unsigned size_size, kf_hevc_summary *summary) {
    while (data.size) {
        if (!read_next(&data, size_size, summary)) return false;
    }
    return true;
}

bool kf_hevc_read_configuration(kf_span record, kf_hevc_summary *summary) {
    if (record.size < 23) return false;
    kf_span rest = kf_without(record, 22);
    uint64_t arrays = kf_take(&rest, 1);
    for (uint64_t i = 0; i < arrays; i++) {
        kf_take(&rest, 1); // NAL_unit_type
        uint64_t count = kf_take(&rest, 2);
        if (count == UINT64_MAX) return false;
        for (uint64_t j = 0; j < count; j++) {
            if (!read_next(&rest, 2, summary)) return false;
        }
    }
    return true;
}
#endif
