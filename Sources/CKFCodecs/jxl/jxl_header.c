// How large the colour profile of a JPEG XL is, read before libjxl unpacks it. Empty without the trait.
//
// libjxl reports the size once it has unpacked the profile, at several times its size in memory.
#include "jxl_support.h"
#ifdef KF_JXL
#include "jxl_bits.h"

static void skip_length(bits *in, bool is_small) {
    if (is_small) take(in, 5);
    else NUMBER(in, 9, 1, 13, 1, 18, 1, 30, 1);
}

static void skip_size(bits *in) {
    bool is_small = take(in, 1);
    skip_length(in, is_small);
    // The width may follow from the aspect ratio.
    if (!take(in, 3)) skip_length(in, is_small);
}

static void skip_preview_length(bits *in, bool is_small) {
    if (is_small) NUMBER(in, 0, 16, 0, 32, 5, 1, 9, 33);
    else NUMBER(in, 6, 1, 8, 65, 10, 321, 12, 1345);
}

static void skip_preview(bits *in) {
    bool is_small = take(in, 1);
    skip_preview_length(in, is_small);
    if (!take(in, 3)) skip_preview_length(in, is_small);
}

static void skip_animation(bits *in) {
    NUMBER(in, 0, 100, 0, 1000, 10, 1, 30, 1);
    NUMBER(in, 0, 1, 0, 1001, 8, 1, 10, 1);
    NUMBER(in, 0, 0, 3, 0, 16, 0, 32, 0);
    take(in, 1);
}

static void skip_depth(bits *in) {
    bool is_float = take(in, 1);
    NUMBER(in, 0, 0, 0, 0, 0, 0, 6, 0);
    if (is_float) take(in, 4);
}

static uint32_t kind(bits *in) { return NUMBER(in, 0, 0, 0, 1, 4, 2, 6, 18); }

enum { ALPHA = 0, SPOT_COLOR = 2, FILTER_ARRAY = 5 };

static void skip_extra_channel(bits *in) {
    if (take(in, 1)) return;
    uint32_t use = kind(in);
    skip_depth(in);
    NUMBER(in, 0, 0, 0, 3, 0, 4, 3, 1);
    skip(in, 8 * (uint64_t)NUMBER(in, 0, 0, 4, 0, 5, 16, 10, 48));
    if (use == ALPHA) take(in, 1);
    if (use == SPOT_COLOR) skip(in, 4 * 16);
    if (use == FILTER_ARRAY) NUMBER(in, 0, 1, 2, 0, 4, 3, 8, 19);
}

static void skip_transforms(bits *in, bool is_coded_in_xyb) {
    if (take(in, 1)) return;
    if (is_coded_in_xyb && !take(in, 1)) skip(in, 16 * 16);
    uint32_t weights = take(in, 3);
    skip(in, 16 * ((weights & 1 ? 15 : 0) + (weights & 2 ? 55 : 0) + (weights & 4 ? 210 : 0)));
}

// The fields in the order of ISO/IEC 18181-1.
uint64_t kf_jxl_coded_profile_size(const uint8_t *bytes, size_t size) {
    bits bits = {.bytes = bytes, .size = size}, *in = &bits;
    skip(in, 16);
    skip_size(in);
    if (take(in, 1)) return 0;
    bool has_more = take(in, 1);
    if (has_more) {
        take(in, 3);
        if (take(in, 1)) skip_size(in);
        if (take(in, 1)) skip_preview(in);
        if (take(in, 1)) skip_animation(in);
    }
    skip_depth(in);
    take(in, 1);
    uint32_t extra = NUMBER(in, 0, 0, 0, 1, 4, 2, 12, 1);
    for (uint32_t i = 0; i < extra; i++) skip_extra_channel(in);
    bool is_coded_in_xyb = take(in, 1), has_usual_colors = take(in, 1);
    if (has_usual_colors || !take(in, 1)) return 0;
    kind(in);
    // How bright white is.
    if (has_more && !take(in, 1)) skip(in, 16 + 16 + 1 + 16);
    skip_extensions(in);
    skip_transforms(in, is_coded_in_xyb);
    uint64_t coded = long_number(in);
    return in->has_ended ? 0 : coded;
}
#endif
