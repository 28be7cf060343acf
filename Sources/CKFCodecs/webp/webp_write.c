// Writing WebP through libwebp and its muxer, stills and animations.
#include "../support/libraries.h"
#if KF_HAS_WEBP
#include "../support/support.h"
#include <stdlib.h>
#include <string.h>
#include <webp/encode.h>
#include <webp/mux.h>

static kf_status fail_encoding(kf_message *message, WebPEncodingError code) {
    switch (code) {
    case VP8_ENC_ERROR_OUT_OF_MEMORY:
    case VP8_ENC_ERROR_BITSTREAM_OUT_OF_MEMORY: return kf_fail(message, KF_OUT_OF_MEMORY, "out of memory");
    default: return kf_fail(message, KF_UNSUPPORTED, "libwebp refused the image");
    }
}

static bool configure(WebPConfig *config, kf_webp_settings settings, kf_message *message) {
    const int last = WEBP_PRESET_TEXT;
    const int preset = settings.preset >= 0 && settings.preset <= last ? settings.preset : 0;
    bool known = WebPConfigPreset(config, (WebPPreset)preset, settings.quality);
    if (known && settings.lossless) known = WebPConfigLosslessPreset(config, 6);
    const int effort = settings.lossless ? settings.lossless_effort : settings.effort;
    if (known && effort >= 0) config->method = effort;
    if (known) return true;
    return kf_fail(message, KF_UNSUPPORTED, "libwebp has another version") == KF_OK;
}

static int append(const uint8_t *bytes, size_t size, const WebPPicture *picture) {
    return kf_buffer_append(picture->custom_ptr, bytes, size);
}

kf_status kf_webp_encode(
    const uint8_t *rows, size_t stride, uint32_t width, uint32_t height, bool has_alpha, kf_webp_settings settings,
    uint8_t **bytes, size_t *size, kf_message *message
) {
    WebPConfig config;
    WebPPicture picture;
    if (!configure(&config, settings, message)) return message->status;
    if (!WebPPictureInit(&picture)) return kf_fail(message, KF_UNSUPPORTED, "libwebp has another version");
    kf_buffer buffer = {0};
    picture.use_argb = settings.lossless;
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
    return fail_encoding(message, code);
}

enum { ALPHA_OF_VP8X = 0x10 };

// The flags of a file that has some.
static uint8_t *extended_flags(uint8_t *file, size_t size) {
    enum { chunk = 12, flags = 20 };
    return size > flags && memcmp(file + chunk, "VP8X", 4) == 0 ? file + flags : NULL;
}

kf_status kf_webp_describe(
    const uint8_t *file, size_t file_size, const uint8_t *exif, size_t exif_size, const uint8_t *icc, size_t icc_size,
    uint8_t **bytes, size_t *size, kf_message *message
) {
    const WebPData data = {file, file_size}, exif_data = {exif, exif_size}, icc_data = {icc, icc_size};
    WebPData result;
    WebPDataInit(&result);
    WebPMux *mux = WebPMuxCreate(&data, 0);
    WebPMuxError code = mux ? WEBP_MUX_OK : WEBP_MUX_BAD_DATA;
    if (code == WEBP_MUX_OK && exif_size) code = WebPMuxSetChunk(mux, "EXIF", &exif_data, 0);
    if (code == WEBP_MUX_OK && icc_size) code = WebPMuxSetChunk(mux, "ICCP", &icc_data, 0);
    if (code == WEBP_MUX_OK) code = WebPMuxAssemble(mux, &result);
    if (mux) WebPMuxDelete(mux);
    kf_buffer buffer = {0};
    bool copied = code == WEBP_MUX_OK && kf_buffer_append(&buffer, result.bytes, result.size);
    WebPDataClear(&result);
    if (code == WEBP_MUX_MEMORY_ERROR || (code == WEBP_MUX_OK && !copied)) {
        return kf_fail(message, KF_OUT_OF_MEMORY, "out of memory");
    }
    if (code != WEBP_MUX_OK) return kf_fail(message, KF_UNSUPPORTED, "libwebp refused the EXIF block or the profile");
    kf_buffer_take(&buffer, bytes, size);
    // libwebp works the flag out anew, from the frames alone.
    const uint8_t *old_flags = extended_flags((uint8_t *)file, file_size);
    uint8_t *flags = extended_flags(*bytes, *size);
    if (old_flags && flags) *flags |= *old_flags & ALPHA_OF_VP8X;
    return KF_OK;
}

struct kf_webp_writer {
    WebPAnimEncoder *encoder;
    WebPConfig config;
    uint32_t width, height;
    int time;
    bool has_alpha;
};

kf_webp_writer *kf_webp_writer_open(
    uint32_t width, uint32_t height, uint32_t loop_count, kf_webp_settings settings, kf_webp_coding coding,
    kf_message *message
) {
    WebPConfig config;
    WebPAnimEncoderOptions options;
    settings.lossless = coding == KF_WEBP_LOSSLESS;
    if (!configure(&config, settings, message)) return NULL;
    if (!WebPAnimEncoderOptionsInit(&options)) {
        kf_fail(message, KF_UNSUPPORTED, "libwebp has another version");
        return NULL;
    }
    // More than the file can hold is as good as endless.
    options.anim_params.loop_count = loop_count <= 65535 ? (int)loop_count : 0;
    options.anim_params.bgcolor = 0;  // transparent, where it would be white
    // Without `minimize_size` libwebp guesses by the number of colours, and codes more than 193 with loss.
    options.allow_mixed = coding != KF_WEBP_LOSSLESS;
    options.minimize_size = coding == KF_WEBP_SMALLER;
    kf_webp_writer *writer = calloc(1, sizeof *writer);
    if (writer) writer->encoder = WebPAnimEncoderNew((int)width, (int)height, &options);
    if (!writer || !writer->encoder) {
        kf_fail(message, KF_OUT_OF_MEMORY, "out of memory");
        kf_webp_writer_close(writer);
        return NULL;
    }
    writer->config = config;
    writer->width = width;
    writer->height = height;
    return writer;
}

kf_status kf_webp_writer_add(
    kf_webp_writer *writer, const uint8_t *rows, size_t stride, bool has_alpha, uint32_t milliseconds,
    kf_message *message
) {
    // A delay has 24 bits in the file, the times of all frames 31 in the encoder.
    const uint32_t longest = 0xFFFFFF - 1;
    if (milliseconds > longest) milliseconds = longest;
    if ((uint32_t)(INT32_MAX - writer->time) < milliseconds) {
        return kf_fail(message, KF_UNSUPPORTED, "the animation takes longer than 24 days");
    }
    WebPPicture picture;
    if (!WebPPictureInit(&picture)) return kf_fail(message, KF_UNSUPPORTED, "libwebp has another version");
    picture.use_argb = 1;
    picture.width = (int)writer->width;
    picture.height = (int)writer->height;
    int imported = has_alpha ? WebPPictureImportBGRA(&picture, rows, (int)stride)
                             : WebPPictureImportBGRX(&picture, rows, (int)stride);
    bool added = imported && WebPAnimEncoderAdd(writer->encoder, &picture, writer->time, &writer->config);
    int code = picture.error_code;
    WebPPictureFree(&picture);
    writer->has_alpha |= has_alpha;
    writer->time += (int)milliseconds;
    return added ? KF_OK : fail_encoding(message, code);
}

// libwebp sets the flag when a frame's own rectangle has transparent pixels. Parts of the canvas that no frame covers
// are transparent as well.
static void flag_alpha(uint8_t *file, size_t size) {
    uint8_t *flags = extended_flags(file, size);
    if (flags) *flags |= ALPHA_OF_VP8X;
}

kf_status kf_webp_writer_finish(kf_webp_writer *writer, uint8_t **bytes, size_t *size, kf_message *message) {
    WebPData data;
    WebPDataInit(&data);
    // The end of the last frame, and then of the file.
    bool assembled = WebPAnimEncoderAdd(writer->encoder, NULL, writer->time, NULL)
        && WebPAnimEncoderAssemble(writer->encoder, &data);
    if (!assembled) return kf_fail(message, KF_UNSUPPORTED, WebPAnimEncoderGetError(writer->encoder));
    // libwebp has its own allocator; ours is malloc.
    kf_buffer buffer = {0};
    bool copied = kf_buffer_append(&buffer, data.bytes, data.size);
    WebPDataClear(&data);
    if (!copied) return kf_fail(message, KF_OUT_OF_MEMORY, "out of memory");
    kf_buffer_take(&buffer, bytes, size);
    if (writer->has_alpha) flag_alpha(*bytes, *size);
    return KF_OK;
}

void kf_webp_writer_close(kf_webp_writer *writer) {
    if (!writer) return;
    if (writer->encoder) WebPAnimEncoderDelete(writer->encoder);
    free(writer);
}
#endif
