// Writing GIF through cgif. The colours, and the changes from frame to frame, are chosen in Swift.
#include "../support/libraries.h"
#if KF_HAS_CGIF
#include "../support/support.h"
#include <stdlib.h>
#include <cgif.h>

// cgif before 0.3 always writes how often an animation is repeated, and 0 is without end: one that is to play once is
// repeated once there.
#ifdef CGIF_ATTR_NO_LOOP
enum { fewest_repeats = 0 };
#else
#define CGIF_ATTR_NO_LOOP 0
enum { fewest_repeats = 1 };
#endif

// Versions that know this flag otherwise drop frames that equal the one before, and the time they are shown for.
#ifndef CGIF_GEN_KEEP_IDENT_FRAMES
#define CGIF_GEN_KEEP_IDENT_FRAMES 0
#endif

struct kf_gif_writer {
    CGIF *gif;
    kf_buffer buffer;
    // The frame before has erased what was there, and left parts of the image empty.
    bool has_erased;
};

static int append(void *buffer, const uint8_t *bytes, const size_t size) {
    return kf_buffer_append(buffer, bytes, size) ? 0 : -1;
}

static kf_status check(int result, kf_message *message) {
    switch (result) {
    case CGIF_OK: return KF_OK;
    // Writing goes to memory.
    case CGIF_EWRITE:
    case CGIF_EALLOC: return kf_fail(message, KF_OUT_OF_MEMORY, "out of memory");
    default: return kf_fail(message, KF_UNSUPPORTED, "cgif refused the image");
    }
}

kf_gif_writer *kf_gif_writer_open(
    uint16_t width, uint16_t height, kf_gif_colors colors, uint32_t loop_count, kf_message *message
) {
    kf_gif_writer *writer = calloc(1, sizeof *writer);
    const uint32_t repeats = loop_count == 0 ? 0 : loop_count == 1 ? fewest_repeats : loop_count - 1;
    if (writer) {
        CGIF_Config config = {
            .pGlobalPalette = (uint8_t *)colors.bytes,
            .numGlobalPaletteEntries = colors.count,
            // A file that plays once does not say so.
            .attrFlags = CGIF_ATTR_IS_ANIMATED | (loop_count == 1 ? CGIF_ATTR_NO_LOOP : 0),
            .genFlags = CGIF_GEN_KEEP_IDENT_FRAMES,
            .width = width,
            .height = height,
            .numLoops = (uint16_t)repeats,
            .pWriteFn = append,
            .pContext = &writer->buffer,
        };
        writer->gif = cgif_newgif(&config);
    }
    if (writer && writer->gif) return writer;
    kf_fail(message, KF_OUT_OF_MEMORY, "out of memory");
    kf_gif_writer_close(writer);
    return NULL;
}

kf_status kf_gif_writer_add(kf_gif_writer *writer, const kf_gif_frame *frame, kf_message *message) {
    CGIF_FrameConfig config = {
        .pLocalPalette = (uint8_t *)frame->colors.bytes,
        .pImageData = (uint8_t *)frame->indices,
        .attrFlags = frame->colors.count ? CGIF_FRAME_ATTR_USE_LOCAL_TABLE : 0,
        .delay = frame->delay,
        .numLocalPaletteEntries = frame->colors.count,
    };
    if (frame->transparent >= 0) {
        // cgif takes transparent pixels as showing either the frame before or nothing.
        config.attrFlags |= frame->erases ? CGIF_FRAME_ATTR_HAS_ALPHA : CGIF_FRAME_ATTR_HAS_SET_TRANS;
        config.transIndex = (uint8_t)frame->transparent;
        // Only the rectangle that is painted is written. cgif finds it by colours, and takes what is empty for painted
        // in the colour that its index has in the table.
        if (!frame->erases && !writer->has_erased) config.genFlags = CGIF_FRAME_GEN_USE_DIFF_WINDOW;
    }
    writer->has_erased = frame->erases && frame->transparent >= 0;
    return check(cgif_addframe(writer->gif, &config), message);
}

kf_status kf_gif_writer_finish(kf_gif_writer *writer, uint8_t **bytes, size_t *size, kf_message *message) {
    kf_status status = check(cgif_close(writer->gif), message);
    writer->gif = NULL;
    if (status == KF_OK) kf_buffer_take(&writer->buffer, bytes, size);
    return status;
}

void kf_gif_writer_close(kf_gif_writer *writer) {
    if (!writer) return;
    if (writer->gif) cgif_close(writer->gif);
    free(writer->buffer.bytes);
    free(writer);
}
#endif
