// Reading the first frame of JPEG XL through libjxl, the right way up. Empty without the trait.
#include "../support/support.h"
#ifdef KF_JXL
#if !__has_include(<jxl/decode.h>)
#error "libjxl is missing: apt-get install libjxl-dev"
#endif
#include <stdlib.h>
#include <string.h>
#include <jxl/decode.h>

struct kf_jxl_reader {
    JxlDecoder *decoder;
    JxlBasicInfo info;
    uint8_t *icc;
};

// Profiles of cameras and printers have a few megabytes at most.
enum { LARGEST_PROFILE = 16 << 20 };

// Pixels of four bytes, in rows that begin on multiples of sixteen as those of our bitmaps do.
static const JxlPixelFormat format = {4, JXL_TYPE_UINT8, JXL_NATIVE_ENDIAN, 16};

// Before 0.9 the functions about colours have an argument that is ignored.
#if JPEGXL_NUMERIC_VERSION < JPEGXL_COMPUTE_NUMERIC_VERSION(0, 9, 0)
#define FORMAT NULL,
#else
#define FORMAT
#endif

static kf_jxl_reader *fail(kf_jxl_reader *reader, kf_message *message, kf_status status, const char *text) {
    kf_fail(message, status, text);
    kf_jxl_close(reader);
    return NULL;
}

static bool has_black_channel(JxlDecoder *decoder, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        JxlExtraChannelInfo channel;
        if (JxlDecoderGetExtraChannelInfo(decoder, i, &channel) != JXL_DEC_SUCCESS) continue;
        if (channel.type == JXL_CHANNEL_BLACK) return true;
    }
    return false;
}

// Whether the light of the image reaches beyond white; then its values are taken as they are. libjxl alone would make
// the brightest light that the header allows white, and everything else dark.
static bool choose_high_dynamic_range(kf_jxl_reader *reader, kf_jxl_header *header) {
    JxlDecoder *decoder = reader->decoder;
    JxlColorEncoding colors;
    if (JxlDecoderGetColorAsEncodedProfile(decoder, FORMAT JXL_COLOR_PROFILE_TARGET_ORIGINAL, &colors)
        != JXL_DEC_SUCCESS) return false;
    const JxlTransferFunction transfer = colors.transfer_function;
    if (transfer != JXL_TRANSFER_FUNCTION_PQ && transfer != JXL_TRANSFER_FUNCTION_HLG) return false;
    if (!reader->info.uses_original_profile
        && JxlDecoderSetPreferredColorProfile(decoder, &colors) != JXL_DEC_SUCCESS) return false;
    // Grey has no primaries, and any will do.
    const double srgb[6] = {0.64, 0.33, 0.30, 0.60, 0.15, 0.06};
    memcpy(header->chromaticities, colors.white_point_xy, 2 * sizeof(double));
    memcpy(header->chromaticities + 2, srgb, sizeof srgb);
    if (reader->info.num_color_channels == 3) {
        memcpy(header->chromaticities + 2, colors.primaries_red_xy, 2 * sizeof(double));
        memcpy(header->chromaticities + 4, colors.primaries_green_xy, 2 * sizeof(double));
        memcpy(header->chromaticities + 6, colors.primaries_blue_xy, 2 * sizeof(double));
    }
    header->transfer = (uint32_t)transfer;
    return true;
}

// Images coded in libjxl's own colours come out in the requested ones; the others in those of the file.
static void choose_colors(kf_jxl_reader *reader, kf_jxl_header *header) {
    JxlDecoder *decoder = reader->decoder;
    const JxlBasicInfo *info = &reader->info;
    if (choose_high_dynamic_range(reader, header)) return;
    if (!info->uses_original_profile) {
        JxlColorEncoding srgb = {
            .color_space = info->num_color_channels == 1 ? JXL_COLOR_SPACE_GRAY : JXL_COLOR_SPACE_RGB,
            .white_point = JXL_WHITE_POINT_D65,
            .primaries = JXL_PRIMARIES_SRGB,
            .transfer_function = JXL_TRANSFER_FUNCTION_SRGB,
            .rendering_intent = JXL_RENDERING_INTENT_RELATIVE,
        };
        if (JxlDecoderSetPreferredColorProfile(decoder, &srgb) == JXL_DEC_SUCCESS) return;
    }
    size_t size = 0;
    if (JxlDecoderGetICCProfileSize(decoder, FORMAT JXL_COLOR_PROFILE_TARGET_DATA, &size) != JXL_DEC_SUCCESS) return;
    if (!size || size > LARGEST_PROFILE || !(reader->icc = malloc(size))) return;
    if (JxlDecoderGetColorAsICCProfile(decoder, FORMAT JXL_COLOR_PROFILE_TARGET_DATA, reader->icc, size)
        != JXL_DEC_SUCCESS) return;
    header->icc = reader->icc;
    header->icc_size = size;
}

kf_jxl_reader *kf_jxl_open(const uint8_t *bytes, size_t size, kf_jxl_header *header, kf_message *message) {
    memset(header, 0, sizeof *header);
    kf_jxl_reader *reader = calloc(1, sizeof *reader);
    if (reader) reader->decoder = JxlDecoderCreate(NULL);
    if (!reader || !reader->decoder) {
        return fail(reader, message, KF_OUT_OF_MEMORY, "out of memory");
    }
    JxlDecoder *decoder = reader->decoder;
    JxlBasicInfo *info = &reader->info;
    int events = JXL_DEC_BASIC_INFO | JXL_DEC_COLOR_ENCODING | JXL_DEC_FULL_IMAGE;
    if (JxlDecoderSubscribeEvents(decoder, events) != JXL_DEC_SUCCESS
        || JxlDecoderSetUnpremultiplyAlpha(decoder, JXL_TRUE) != JXL_DEC_SUCCESS
        || JxlDecoderSetInput(decoder, bytes, size) != JXL_DEC_SUCCESS) {
        return fail(reader, message, KF_MALFORMED, "libjxl does not take the data");
    }
    JxlDecoderCloseInput(decoder);
    if (JxlDecoderProcessInput(decoder) != JXL_DEC_BASIC_INFO
        || JxlDecoderGetBasicInfo(decoder, info) != JXL_DEC_SUCCESS || !info->xsize || !info->ysize) {
        return fail(reader, message, KF_MALFORMED, "the header is broken");
    }
    if (has_black_channel(decoder, info->num_extra_channels)) {
        return fail(reader, message, KF_UNSUPPORTED, "the colours are inks");
    }
    if (JxlDecoderProcessInput(decoder) != JXL_DEC_COLOR_ENCODING) {
        return fail(reader, message, KF_MALFORMED, "the colours are not described");
    }
    header->width = info->xsize;
    header->height = info->ysize;
    header->has_alpha = info->alpha_bits > 0;
    header->is_grey = info->num_color_channels == 1;
    choose_colors(reader, header);
    return reader;
}

static void swap_red_and_blue(uint8_t *bytes, size_t size) {
    for (size_t i = 0; i + 3 < size; i += 4) {
        uint8_t red = bytes[i];
        bytes[i] = bytes[i + 2];
        bytes[i + 2] = red;
    }
}

kf_status kf_jxl_read(kf_jxl_reader *reader, uint8_t *rows, size_t stride, kf_message *message) {
    size_t size = stride * reader->info.ysize;
    for (;;) {
        switch (JxlDecoderProcessInput(reader->decoder)) {
        case JXL_DEC_NEED_IMAGE_OUT_BUFFER:
            if (JxlDecoderSetImageOutBuffer(reader->decoder, &format, rows, size) != JXL_DEC_SUCCESS) {
                return kf_fail(message, KF_MALFORMED, "the image has another size than announced");
            }
            break;
        case JXL_DEC_FULL_IMAGE:
            swap_red_and_blue(rows, size);
            return KF_OK;
        case JXL_DEC_NEED_MORE_INPUT:
        case JXL_DEC_ERROR:
            // The pixels decoded so far may be shown.
            if (JxlDecoderFlushImage(reader->decoder) != JXL_DEC_SUCCESS) {
                return kf_fail(message, KF_MALFORMED, "the image is broken or ends too early");
            }
            swap_red_and_blue(rows, size);
            return KF_OK;
        case JXL_DEC_SUCCESS: return kf_fail(message, KF_MALFORMED, "there is no image");
        default: return kf_fail(message, KF_MALFORMED, "libjxl asks for input that there is not");
        }
    }
}

void kf_jxl_close(kf_jxl_reader *reader) {
    if (!reader) return;
    if (reader->decoder) JxlDecoderDestroy(reader->decoder);
    free(reader->icc);
    free(reader);
}
#endif
