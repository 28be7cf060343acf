// Reading and writing WebP through libwebp and its demuxer. Refuses to know animation beyond the first frame.
#include "support.h"
#include <stdlib.h>
#include <string.h>
#include <webp/decode.h>
#include <webp/demux.h>
#include <webp/encode.h>

struct kf_webp_reader {
    WebPDemuxer *demuxer;
    WebPIterator frame;
    WebPChunkIterator icc, exif;
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
    return reader;
}

kf_status kf_webp_read(
    kf_webp_reader *reader, uint8_t *rows, size_t stride, uint32_t width, uint32_t height, bool premultiplied,
    kf_message *message
) {
    const WebPIterator *frame = &reader->frame;
    WebPDecoderConfig config;
    if (!WebPInitDecoderConfig(&config)) return kf_fail(message, KF_UNSUPPORTED, "libwebp has another version");
    // The first frame of an animation may cover a part of the canvas only; scaled, that part stays in its place.
    uint64_t x = (uint64_t)frame->x_offset * width / reader->width;
    uint64_t y = (uint64_t)frame->y_offset * height / reader->height;
    uint64_t right = ((uint64_t)frame->x_offset + (uint64_t)frame->width) * width / reader->width;
    uint64_t bottom = ((uint64_t)frame->y_offset + (uint64_t)frame->height) * height / reader->height;
    if (right > width) right = width;
    if (bottom > height) bottom = height;
    if (right <= x || bottom <= y) return KF_OK;
    config.options.use_scaling = (int)(right - x) != frame->width || (int)(bottom - y) != frame->height;
    config.options.scaled_width = (int)(right - x);
    config.options.scaled_height = (int)(bottom - y);
    config.output.colorspace = premultiplied ? MODE_bgrA : MODE_BGRA;
    config.output.is_external_memory = 1;
    config.output.u.RGBA.rgba = rows + y * stride + x * 4;
    config.output.u.RGBA.stride = (int)stride;
    config.output.u.RGBA.size = (size_t)(bottom - y - 1) * stride + (size_t)(right - x) * 4;
    VP8StatusCode code = WebPDecode(frame->fragment.bytes, frame->fragment.size, &config);
    WebPFreeDecBuffer(&config.output);
    return code == VP8_STATUS_OK ? KF_OK : fail(message, code);
}

void kf_webp_close(kf_webp_reader *reader) {
    if (!reader) return;
    WebPDemuxReleaseIterator(&reader->frame);
    WebPDemuxReleaseChunkIterator(&reader->icc);
    WebPDemuxReleaseChunkIterator(&reader->exif);
    WebPDemuxDelete(reader->demuxer);
    free(reader);
}

static int append(const uint8_t *bytes, size_t size, const WebPPicture *picture) {
    return kf_buffer_append(picture->custom_ptr, bytes, size);
}

kf_status kf_webp_encode(
    const uint8_t *rows, size_t stride, uint32_t width, uint32_t height, bool has_alpha, float quality, bool lossless,
    uint8_t **bytes, size_t *size, kf_message *message
) {
    if (width > WEBP_MAX_DIMENSION || height > WEBP_MAX_DIMENSION) {
        return kf_fail(message, KF_UNSUPPORTED, "WebP pictures have at most 16383 pixels a side");
    }
    WebPConfig config;
    WebPPicture picture;
    if (!WebPConfigPreset(&config, WEBP_PRESET_DEFAULT, quality) || !WebPPictureInit(&picture)) {
        return kf_fail(message, KF_UNSUPPORTED, "libwebp has another version");
    }
    if (lossless && !WebPConfigLosslessPreset(&config, 6)) {
        return kf_fail(message, KF_UNSUPPORTED, "no lossless coding");
    }
    kf_buffer buffer = {0};
    picture.use_argb = lossless;
    picture.width = (int)width;
    picture.height = (int)height;
    picture.writer = append;
    picture.custom_ptr = &buffer;
    int imported = has_alpha ? WebPPictureImportBGRA(&picture, rows, (int)stride)
                             : WebPPictureImportBGRX(&picture, rows, (int)stride);
    bool encoded = imported && WebPEncode(&config, &picture);
    int code = picture.error_code;
    WebPPictureFree(&picture);
    if (encoded) {
        kf_buffer_take(&buffer, bytes, size);
        return KF_OK;
    }
    free(buffer.bytes);
    bool memory = code == VP8_ENC_ERROR_OUT_OF_MEMORY || code == VP8_ENC_ERROR_BITSTREAM_OUT_OF_MEMORY;
    if (memory) return kf_fail(message, KF_OUT_OF_MEMORY, "out of memory");
    return kf_fail(message, KF_UNSUPPORTED, "libwebp refused the picture");
}
