// Reading WebP through libwebp and its demuxer. Frames are composed in Swift.
#include "../support/libraries.h"
#if KF_HAS_WEBP
#include "../support/support.h"
#include <stdlib.h>
#include <string.h>
#include <webp/decode.h>
#include <webp/demux.h>

struct kf_webp_reader {
    WebPDemuxer *demuxer;
    WebPIterator frame;
    WebPChunkIterator icc, exif, xmp;
    uint32_t width, height;
};

static kf_status fail(kf_message *message, VP8StatusCode code) {
    switch (code) {
    case VP8_STATUS_OUT_OF_MEMORY: return kf_fail(message, KF_OUT_OF_MEMORY, "out of memory");
    case VP8_STATUS_UNSUPPORTED_FEATURE: return kf_fail(message, KF_UNSUPPORTED, "a feature libwebp does not know");
    case VP8_STATUS_NOT_ENOUGH_DATA: return kf_fail(message, KF_MALFORMED, "the data ends too early");
    default: return kf_fail(message, KF_MALFORMED, "damaged data");
    }
}

static void find_chunk(
    WebPDemuxer *demuxer, const char *name, WebPChunkIterator *iterator, const uint8_t **bytes, size_t *size
) {
    if (!WebPDemuxGetChunk(demuxer, name, 1, iterator)) return;
    *bytes = iterator->chunk.bytes;
    *size = iterator->chunk.size;
}

kf_webp_reader *kf_webp_open(const uint8_t *bytes, size_t size, kf_webp_header *header, kf_message *message) {
    memset(header, 0, sizeof *header);
    kf_webp_reader *reader = calloc(1, sizeof *reader);
    if (!reader) {
        kf_fail(message, KF_OUT_OF_MEMORY, "out of memory");
        return NULL;
    }
    WebPData data = {bytes, size};
    WebPDemuxState state;
    reader->demuxer = WebPDemuxPartial(&data, &state);
    if (!reader->demuxer || !WebPDemuxGetFrame(reader->demuxer, 1, &reader->frame)) {
        kf_fail(message, KF_MALFORMED, state == WEBP_DEMUX_PARSE_ERROR ? "damaged data" : "the data ends too early");
        kf_webp_close(reader);
        return NULL;
    }
    header->width = reader->width = WebPDemuxGetI(reader->demuxer, WEBP_FF_CANVAS_WIDTH);
    header->height = reader->height = WebPDemuxGetI(reader->demuxer, WEBP_FF_CANVAS_HEIGHT);
    uint32_t flags = WebPDemuxGetI(reader->demuxer, WEBP_FF_FORMAT_FLAGS);
    header->has_alpha = (flags & ALPHA_FLAG) != 0 || reader->frame.has_alpha;
    header->animated = (flags & ANIMATION_FLAG) != 0;
    header->loop_count = WebPDemuxGetI(reader->demuxer, WEBP_FF_LOOP_COUNT);
    if (flags & ICCP_FLAG) find_chunk(reader->demuxer, "ICCP", &reader->icc, &header->icc, &header->icc_size);
    if (flags & EXIF_FLAG) find_chunk(reader->demuxer, "EXIF", &reader->exif, &header->exif, &header->exif_size);
    if (flags & XMP_FLAG) find_chunk(reader->demuxer, "XMP ", &reader->xmp, &header->xmp, &header->xmp_size);
    return reader;
}

// Lossless images hold an alpha even when they are marked as opaque, and it may be anything. It is not shown: not by
// dwebp, and not by browsers. A lossy image without an alpha is opaque already.
static void make_opaque(
    const uint8_t *bytes, size_t size, uint8_t *rows, size_t stride, uint64_t width, uint64_t height
) {
    enum { lossy = 1 };
    WebPBitstreamFeatures features;
    bool is_known = WebPGetFeatures(bytes, size, &features) == VP8_STATUS_OK;
    if (is_known && features.format == lossy && !features.has_alpha) return;
    const uint8_t opaque[4] = {0, 0, 0, 255};
    uint32_t alpha, pixel;
    memcpy(&alpha, opaque, sizeof alpha);
    for (uint64_t y = 0; y < height; y++) {
        for (uint64_t x = 0; x < width; x++) {
            uint8_t *const place = rows + y * stride + x * 4;
            memcpy(&pixel, place, sizeof pixel);
            pixel |= alpha;
            memcpy(place, &pixel, sizeof pixel);
        }
    }
}

// Prepares decoding of the first frame into its part of the memory: of an animation it may cover a part of the canvas
// only, which stays in its place when it is scaled. False with `KF_OK` when it is too small to be seen.
static bool place_frame(
    kf_webp_reader *reader, uint8_t *rows, size_t stride, uint32_t width, uint32_t height, bool premultiplied,
    WebPDecoderConfig *config, uint32_t *first_row, kf_message *message
) {
    const WebPIterator *frame = &reader->frame;
    message->status = KF_OK;
    if (!WebPInitDecoderConfig(config)) {
        return kf_fail(message, KF_UNSUPPORTED, "libwebp has another version") == KF_OK;
    }
    // Cut within its alpha, an image is known to be there, but has no size.
    if (frame->width <= 0 || frame->height <= 0) {
        return kf_fail(message, KF_MALFORMED, "the data ends too early") == KF_OK;
    }
    uint64_t x = (uint64_t)frame->x_offset * width / reader->width;
    uint64_t y = (uint64_t)frame->y_offset * height / reader->height;
    uint64_t right = ((uint64_t)frame->x_offset + (uint64_t)frame->width) * width / reader->width;
    uint64_t bottom = ((uint64_t)frame->y_offset + (uint64_t)frame->height) * height / reader->height;
    if (right > width) right = width;
    if (bottom > height) bottom = height;
    if (right <= x || bottom <= y) return false;
    config->options.use_scaling = (int)(right - x) != frame->width || (int)(bottom - y) != frame->height;
    config->options.scaled_width = (int)(right - x);
    config->options.scaled_height = (int)(bottom - y);
    config->output.colorspace = premultiplied && frame->has_alpha ? MODE_bgrA : MODE_BGRA;
    config->output.is_external_memory = 1;
    config->output.u.RGBA.rgba = rows + y * stride + x * 4;
    config->output.u.RGBA.stride = (int)stride;
    config->output.u.RGBA.size = (size_t)(bottom - y - 1) * stride + (size_t)(right - x) * 4;
    *first_row = (uint32_t)y;
    return true;
}

static void finish_rows(const kf_webp_reader *reader, const WebPDecoderConfig *config, uint32_t count) {
    const WebPIterator *frame = &reader->frame;
    const WebPRGBABuffer *output = &config->output.u.RGBA;
    if (frame->has_alpha) return;
    make_opaque(
        frame->fragment.bytes, frame->fragment.size, output->rgba, (size_t)output->stride,
        (uint64_t)config->options.scaled_width, count);
}

kf_status kf_webp_read(
    kf_webp_reader *reader, uint8_t *rows, size_t stride, uint32_t width, uint32_t height, bool premultiplied,
    kf_message *message
) {
    WebPDecoderConfig config;
    uint32_t first_row;
    if (!place_frame(reader, rows, stride, width, height, premultiplied, &config, &first_row, message)) {
        return message->status;
    }
    VP8StatusCode code = WebPDecode(reader->frame.fragment.bytes, reader->frame.fragment.size, &config);
    WebPFreeDecBuffer(&config.output);
    if (code != VP8_STATUS_OK) return fail(message, code);
    finish_rows(reader, &config, (uint32_t)config.options.scaled_height);
    return KF_OK;
}

uint32_t kf_webp_read_part(
    kf_webp_reader *reader, uint8_t *rows, size_t stride, uint32_t width, uint32_t height
) {
    WebPDecoderConfig config;
    uint32_t first_row;
    kf_message message;
    int count = 0;
    if (!place_frame(reader, rows, stride, width, height, false, &config, &first_row, &message)) return 0;
    // This decoder knows how far it came. It is slower than the other one, which only knows whether it came to the end.
    WebPIDecoder *decoder = WebPIDecode(NULL, 0, &config);
    if (!decoder) return 0;
    WebPIUpdate(decoder, reader->frame.fragment.bytes, reader->frame.fragment.size);
    if (!WebPIDecGetRGB(decoder, &count, NULL, NULL, NULL)) count = 0;
    WebPIDelete(decoder);
    WebPFreeDecBuffer(&config.output);
    if (count <= 0) return 0;
    finish_rows(reader, &config, (uint32_t)count);
    return first_row + (uint32_t)count;
}

void kf_webp_close(kf_webp_reader *reader) {
    if (!reader) return;
    WebPDemuxReleaseIterator(&reader->frame);
    WebPDemuxReleaseChunkIterator(&reader->icc);
    WebPDemuxReleaseChunkIterator(&reader->exif);
    WebPDemuxReleaseChunkIterator(&reader->xmp);
    WebPDemuxDelete(reader->demuxer);
    free(reader);
}

bool kf_webp_frame_header(
    const uint8_t *bytes, size_t size, uint32_t *width, uint32_t *height, bool *has_alpha
) {
    WebPBitstreamFeatures features;
    if (WebPGetFeatures(bytes, size, &features) != VP8_STATUS_OK || features.has_animation) return false;
    *width = (uint32_t)features.width;
    *height = (uint32_t)features.height;
    *has_alpha = features.has_alpha;
    return true;
}

kf_status kf_webp_frame_read(
    const uint8_t *bytes, size_t size, uint8_t *rows, size_t stride, uint32_t width, uint32_t height,
    bool premultiplied, kf_message *message
) {
    uint32_t coded_width, coded_height;
    bool has_alpha;
    if (!kf_webp_frame_header(bytes, size, &coded_width, &coded_height, &has_alpha)) {
        return kf_fail(message, KF_MALFORMED, "damaged data");
    }
    // The caller's memory has the size that the animation announced.
    if (coded_width != width || coded_height != height) {
        return kf_fail(message, KF_MALFORMED, "a frame has another size than announced");
    }
    WebPDecoderConfig config;
    if (!WebPInitDecoderConfig(&config)) return kf_fail(message, KF_UNSUPPORTED, "libwebp has another version");
    config.output.colorspace = premultiplied && has_alpha ? MODE_bgrA : MODE_BGRA;
    config.output.is_external_memory = 1;
    config.output.u.RGBA.rgba = rows;
    config.output.u.RGBA.stride = (int)stride;
    config.output.u.RGBA.size = (size_t)height * stride;
    VP8StatusCode code = WebPDecode(bytes, size, &config);
    WebPFreeDecBuffer(&config.output);
    if (code != VP8_STATUS_OK) return fail(message, code);
    if (!has_alpha) make_opaque(bytes, size, rows, stride, width, height);
    return KF_OK;
}
#endif
