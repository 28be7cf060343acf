// Reads the announcements of a JPEG XL's frames, up to the first that is shown, without decoding any. Empty without the
// trait.
//
// libjxl reports the size of the image only. Frames that are not shown, of which the image is made, may be of any
// size; it takes memory for them as they come, and ends the process when there is none (0.7 does).
#include "jxl_support.h"
#ifdef KF_JXL
#include "jxl_bits.h"

static void skip_filters(bits *in, bool is_modular) {
    if (take(in, 1)) return;
    if (take(in, 1) && take(in, 1)) skip(in, 6 * 16);
    if (take(in, 2)) {
        if (!is_modular && take(in, 1)) skip(in, 8 * 16);
        if (take(in, 1)) skip(in, 5 * 16);
        if (take(in, 1)) skip(in, is_modular ? 3 * 16 : 4 * 16);
        if (is_modular) skip(in, 16);
    }
    skip_extensions(in);
}

static uint32_t passes(bits *in) {
    uint32_t count = NUMBER(in, 0, 1, 0, 2, 0, 3, 3, 4);
    if (count == 1) return 1;
    uint32_t smaller = NUMBER(in, 0, 0, 0, 1, 0, 2, 1, 3);
    skip(in, 2 * (count - 1) + 2 * smaller);
    for (uint32_t i = 0; i < smaller; i++) NUMBER(in, 0, 0, 0, 1, 0, 2, 3, 0);
    return count;
}

// Returns whether the frame takes the place of what is below it.
static bool replaces(bits *in, uint32_t extra_channels, bool is_partial) {
    uint32_t mode = NUMBER(in, 0, 0, 0, 1, 0, 2, 2, 3);
    bool has_weights = extra_channels && (mode == 2 || mode == 3);
    if (has_weights) NUMBER(in, 0, 0, 0, 1, 0, 2, 3, 3);
    if (has_weights || mode == 4) take(in, 1);
    if (mode || is_partial) take(in, 2);
    return mode == 0;
}

enum { REGULAR, COARSE, REFERENCE, SKIPPED };

typedef struct frame {
    uint32_t width, height, upsampling, coarseness, passes, group, slot, shift_x, shift_y;
    bool is_shown, is_modular;
} frame;

static int32_t offset(uint32_t value) { return (int32_t)(value >> 1) ^ -(int32_t)(value & 1); }
#define LENGTH(in) NUMBER(in, 8, 0, 11, 256, 14, 2304, 30, 18688)

// The fields in the order of ISO/IEC 18181-1.
static frame read_header(bits *in, const JxlBasicInfo *info, uint32_t width, uint32_t height) {
    frame frame = {width, height, .upsampling = 1, .passes = 1, .group = 256, .is_shown = true};
    if (take(in, 1)) return frame;
    uint32_t extra = info->num_extra_channels, kind = take(in, 2);
    bool is_modular = frame.is_modular = take(in, 1), is_coded_in_xyb = !info->uses_original_profile;
    bool has_coarse = long_number(in) & 32;
    if (!is_coded_in_xyb && take(in, 1) && !has_coarse) {
        for (int i = 0; i < 3; i++) {
            uint32_t mode = take(in, 2);
            if (mode == 1 || mode == 2) frame.shift_x = 1;
            if (mode == 1 || mode == 3) frame.shift_y = 1;
        }
    }
    if (!has_coarse) {
        frame.upsampling = 1u << take(in, 2);
        skip(in, 2 * extra);
    }
    if (is_modular) frame.group = 128u << take(in, 2);
    else if (is_coded_in_xyb) skip(in, 6);
    if (kind != REFERENCE) frame.passes = passes(in);
    if (kind == COARSE) frame.coarseness = 1 + take(in, 2);

    bool is_partial = false, is_picture = kind == REGULAR || kind == SKIPPED;
    if (kind != COARSE && take(in, 1)) {
        int64_t x = 0, y = 0;
        if (is_picture) x = offset(LENGTH(in)), y = offset(LENGTH(in));
        frame.width = LENGTH(in);
        frame.height = LENGTH(in);
        is_partial = is_picture && (x > 0 || y > 0 || x + frame.width < width || y + frame.height < height);
    }
    bool does_replace = true, is_last = false;
    uint32_t duration = 0;
    if (is_picture) {
        does_replace = replaces(in, extra, is_partial);
        for (uint32_t i = 0; i < extra; i++) replaces(in, extra, is_partial);
        if (info->have_animation) {
            duration = NUMBER(in, 0, 0, 0, 1, 8, 0, 32, 0);
            if (info->animation.have_timecodes) skip(in, 32);
        }
        is_last = take(in, 1) && kind == REGULAR;
    }
    if (kind != COARSE && !is_last) frame.slot = take(in, 2);
    bool is_kept = !is_last && (duration == 0 || frame.slot);
    if (kind == REFERENCE || (is_picture && is_kept && does_replace && !is_partial)) take(in, 1);
    skip(in, 8 * (uint64_t)NUMBER(in, 0, 0, 4, 0, 5, 16, 10, 48));
    skip_filters(in, is_modular);
    skip_extensions(in);
    if (kind == COARSE) frame.slot = 3 + frame.coarseness;
    frame.is_shown = is_last || duration;
    return frame;
}

static uint64_t parts(uint64_t length, uint64_t part) { return (length + part - 1) / part; }

// How many sections the frame has: groups of pixels, and of blocks of eight by eight.
static uint64_t section_count(const frame *frame) {
    uint64_t scale = 1ull << 3 * frame->coarseness;
    uint64_t width = parts(parts(frame->width, scale), frame->upsampling);
    uint64_t height = parts(parts(frame->height, scale), frame->upsampling);
    uint64_t groups = parts(width, frame->group) * parts(height, frame->group);
    if (groups == 1 && frame->passes == 1) return 1;
    uint64_t columns = parts(width, 8ull << frame->shift_x) << frame->shift_x;
    uint64_t rows = parts(height, 8ull << frame->shift_y) << frame->shift_y;
    return 2 + parts(columns, frame->group) * parts(rows, frame->group) + groups * frame->passes;
}

// Goes behind the sections of a frame. Returns false when they lie in an order of their own, which is coded as pixels
// are.
static bool skip_sections(bits *in, const frame *frame) {
    uint64_t count = section_count(frame), length = 0;
    // libjxl takes no more.
    if (count > 65536) in->has_ended = true;
    if (take(in, 1)) return false;
    skip(in, -in->position & 7);
    for (uint64_t i = 0; i < count && !in->has_ended; i++) {
        length += NUMBER(in, 10, 0, 14, 1024, 22, 17408, 30, 4211712);
    }
    skip(in, -in->position & 7);
    skip(in, 8 * length);
    return true;
}

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

// No limit is as large; sums of values below it do not overflow.
#define HUGE (1ull << 40)

// The cost of a frame, in pixels of four bytes: its numbers, of one channel; the memory it holds, also later if it is
// not shown; and the memory for drawing it.
typedef struct weight {
    uint64_t numbers, held, drawn;
} weight;

static weight weigh(const frame *frame, uint64_t extra) {
    uint64_t scale = 1ull << 3 * frame->coarseness;
    uint64_t columns = parts(frame->width, scale), rows = parts(frame->height, scale);
    // Rows of numbers begin on multiples of 128 bytes, and have a few more at their ends.
    weight weight = {.numbers = least(parts(columns + 7, 32) * 32 * rows, HUGE)};
    // An image becomes bytes as it is decoded, in bands; of a frame that is kept, all channels are numbers of four
    // bytes, in two or three copies. Alpha is among the bytes, other channels are not. Lossless images are numbers at
    // first, which shows where they are so narrow that rows are little else than their ends.
    bool is_narrow = frame->is_modular && columns < 8 && weight.numbers > 1 << 20;
    if (frame->is_shown && extra <= 1) weight.held = is_narrow ? weight.numbers : least(columns * rows, HUGE);
    else weight.held = weight.numbers * (frame->is_shown ? 3 * extra - 2 : 6 + 3 * extra);
    // A whole group is drawn at a time, with every channel; a few channels do not matter.
    weight.drawn = extra > 4 ? (uint64_t)frame->group * frame->group * (3 + extra) : 0;
    return weight;
}

bool kf_jxl_estimate_frames(
    const uint8_t *bytes, size_t size, const JxlBasicInfo *info, uint64_t profile_size, kf_jxl_cost *cost
) {
    bits in = {.bytes = bytes, .size = size};
    bool is_turned = info->orientation > 4;
    uint32_t width = is_turned ? info->ysize : info->xsize, height = is_turned ? info->xsize : info->ysize;
    uint64_t extra = info->num_extra_channels, kept[8] = {0}, largest = 0;
    if (info->have_preview) {
        frame preview = read_header(&in, info, info->preview.xsize, info->preview.ysize);
        if (!skip_sections(&in, &preview)) return false;
    }
    for (;;) {
        frame frame = read_header(&in, info, width, height);
        if (in.has_ended) return true;
        weight weight = weigh(&frame, extra);
        uint64_t *slot = &kept[frame.slot], all = weight.held + weight.drawn;
        if (!frame.is_shown) *slot = 0;
        for (int i = 0; i < 8; i++) all += kept[i];
        if (cost->memory < all) cost->memory = all;
        cost->frames++;
        if (weight.held > largest) {
            largest = weight.held;
            cost->width = frame.width;
            cost->height = frame.height;
        }
        if (frame.is_shown) return true;
        // Every frame begins with a copy of the profile.
        cost->work = least(cost->work + weight.numbers * (1 + extra) + profile_size, HUGE);
        *slot = weight.held;
        if (!skip_sections(&in, &frame)) return false;
        if (in.has_ended) return true;
    }
}
#endif
