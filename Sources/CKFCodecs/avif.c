// Reading and writing AVIF through libavif. Refuses to crop, turn or mirror: it says what the file asks for.
#include "support.h"
#include "obu.h"
#include <stdlib.h>
#include <string.h>
#include <avif/avif.h>

struct kf_avif_reader {
    avifDecoder *decoder;
};

static kf_status fail(kf_message *message, avifResult result, const avifDiagnostics *details) {
    kf_status status = KF_MALFORMED;
    switch (result) {
    case AVIF_RESULT_OUT_OF_MEMORY: status = KF_OUT_OF_MEMORY; break;
    case AVIF_RESULT_NO_CODEC_AVAILABLE:
    case AVIF_RESULT_UNSUPPORTED_DEPTH:
    case AVIF_RESULT_NOT_IMPLEMENTED: status = KF_UNSUPPORTED; break;
    default: break;
    }
    return kf_fail(message, status, details && details->error[0] ? details->error : avifResultToString(result));
}

// libavif before 1.0 ends the process when it gets no memory for the planes of a picture: it is asked for first. Another
// thread may take it in between; that cannot be helped from here.
static bool has_room_for_planes(const avifImage *image) {
#if AVIF_VERSION < 1000000
    // Three planes of colour and one of alpha at most.
    void *volatile memory = malloc((size_t)image->width * image->height * 4 * (image->depth > 8 ? 2 : 1));
    free(memory);
    return memory != NULL;
#else
    (void)image;
    return true;
#endif
}

static void describe_transforms(const avifImage *image, avifDiagnostics *details, kf_avif_header *header) {
    header->crop_width = image->width;
    header->crop_height = image->height;
    if (image->transformFlags & AVIF_TRANSFORM_CLAP) {
        avifCropRect crop;
        if (avifCropRectConvertCleanApertureBox(
                &crop, &image->clap, image->width, image->height, image->yuvFormat, details)) {
            header->crop_x = crop.x;
            header->crop_y = crop.y;
            header->crop_width = crop.width;
            header->crop_height = crop.height;
        }
    }
    if (image->transformFlags & AVIF_TRANSFORM_IROT) header->quarter_turns = image->irot.angle & 3;
    if (image->transformFlags & AVIF_TRANSFORM_IMIR) {
#if AVIF_VERSION >= 1000000
        header->mirror = image->imir.axis ? 2 : 1;
#else
        header->mirror = image->imir.mode ? 2 : 1;
#endif
    }
}

static void describe_colors(const avifImage *image, kf_avif_header *header) {
    header->icc = image->icc.size ? image->icc.data : NULL;
    header->icc_size = image->icc.size;
    header->primaries = image->colorPrimaries;
    header->transfer = image->transferCharacteristics;
    float xy[8];
    avifColorPrimariesGetValues(image->colorPrimaries, xy);
    // libavif says red, green, blue, white; we say white first.
    for (int i = 0; i < 6; i++) header->chromaticities[2 + i] = xy[i];
    header->chromaticities[0] = xy[6];
    header->chromaticities[1] = xy[7];
}

// Looks at the AV1 data of the first picture: one run of units, or the picture's and its transparency's with something
// else between the two.
static kf_obu_verdict check_data(
    const uint8_t *bytes, size_t size, const avifIOStats *stats, uint32_t max_width, uint32_t max_height
) {
    kf_obu_verdict whole = kf_obu_check(bytes, size, max_width, max_height);
    size_t color = stats->colorOBUSize, alpha = stats->alphaOBUSize;
    if (whole != KF_OBU_BROKEN || !alpha || color > size || alpha > size - color) return whole;
    size_t first[2] = {color, alpha}, last[2] = {alpha, color};
    for (int i = 0; i < 2; i++) {
        kf_obu_verdict head = kf_obu_check(bytes, first[i], max_width, max_height);
        kf_obu_verdict tail = kf_obu_check(bytes + size - last[i], last[i], max_width, max_height);
        if (head == KF_OBU_TOO_LARGE || tail == KF_OBU_TOO_LARGE) return KF_OBU_TOO_LARGE;
        if (head == KF_OBU_SOUND && tail == KF_OBU_SOUND) return KF_OBU_SOUND;
    }
    return KF_OBU_BROKEN;
}

// libavif chooses dav1d, which complains about damaged data on the terminal; libaom does not, but knows no limit on the
// size. So libaom gets what announces a sensible size, and nobody gets what cannot be overseen.
static bool choose_decoder(avifDecoder *decoder, const uint8_t *bytes, size_t size, kf_message *message) {
    if (!avifCodecName(AVIF_CODEC_CHOICE_AOM, AVIF_CODEC_FLAG_CAN_DECODE)) return true;
    avifExtent extent;
    avifResult result = avifDecoderNthImageMaxExtent(decoder, 0, &extent);
    if (result != AVIF_RESULT_OK) return fail(message, result, &decoder->diag) == KF_OK;
    if (extent.offset > size || extent.size > size - extent.offset) {
        return kf_fail(message, KF_MALFORMED, "the data ends too early") == KF_OK;
    }
    // The parts of a grid may reach beyond the picture.
    uint32_t width = decoder->image->width, height = decoder->image->height;
    uint32_t max_width = width < 32 ? 64 : width * 2, max_height = height < 32 ? 64 : height * 2;
    switch (check_data(bytes + extent.offset, extent.size, &decoder->ioStats, max_width, max_height)) {
    case KF_OBU_TOO_LARGE:
        return kf_fail(message, KF_MALFORMED, "the coded picture is larger than announced") == KF_OK;
    case KF_OBU_BROKEN:
        return kf_fail(message, KF_MALFORMED, "the coded picture is broken, or scattered over the file") == KF_OK;
    case KF_OBU_SOUND: break;
    }
    decoder->codecChoice = AVIF_CODEC_CHOICE_AOM;
    result = avifDecoderReset(decoder);
    return result == AVIF_RESULT_OK || fail(message, result, &decoder->diag) == KF_OK;
}

kf_avif_reader *kf_avif_open(const uint8_t *bytes, size_t size, kf_avif_header *header, kf_message *message) {
    memset(header, 0, sizeof *header);
    kf_avif_reader *reader = calloc(1, sizeof *reader);
    if (reader) reader->decoder = avifDecoderCreate();
    if (!reader || !reader->decoder) {
        kf_fail(message, KF_OUT_OF_MEMORY, "out of memory");
        kf_avif_close(reader);
        return NULL;
    }
    avifDecoder *decoder = reader->decoder;
    decoder->maxThreads = 1;
    decoder->ignoreExif = AVIF_TRUE;
    decoder->ignoreXMP = AVIF_TRUE;
    // Files in the wild leave out boxes that the standard wants; browsers show them.
    decoder->strictFlags = AVIF_STRICT_DISABLED;
    avifResult result = avifDecoderSetIOMemory(decoder, bytes, size);
    if (result == AVIF_RESULT_OK) result = avifDecoderParse(decoder);
    if (result != AVIF_RESULT_OK) fail(message, result, &decoder->diag);
    if (result != AVIF_RESULT_OK || !choose_decoder(decoder, bytes, size, message)) {
        kf_avif_close(reader);
        return NULL;
    }
    const avifImage *image = decoder->image;
    header->width = image->width;
    header->height = image->height;
    header->has_alpha = decoder->alphaPresent;
    header->frame_count = decoder->imageCount > 0 ? (uint32_t)decoder->imageCount : 1;
    header->duration = decoder->imageCount > 1 ? decoder->duration : 0;
    describe_transforms(image, &decoder->diag, header);
    describe_colors(image, header);
    return reader;
}

kf_status kf_avif_read(kf_avif_reader *reader, uint8_t *rows, size_t stride, bool premultiplied, kf_message *message) {
    avifDecoder *decoder = reader->decoder;
    uint32_t width = decoder->image->width, height = decoder->image->height;
    if (!has_room_for_planes(decoder->image)) return kf_fail(message, KF_OUT_OF_MEMORY, "out of memory");
    avifResult result = avifDecoderNextImage(decoder);
    if (result != AVIF_RESULT_OK) return fail(message, result, &decoder->diag);
    // The caller's memory has the size that the container announced.
    if (decoder->image->width != width || decoder->image->height != height) {
        return kf_fail(message, KF_MALFORMED, "the picture has another size than announced");
    }
    avifRGBImage rgb;
    avifRGBImageSetDefaults(&rgb, decoder->image);
    rgb.format = AVIF_RGB_FORMAT_BGRA;
    rgb.depth = 8;
    rgb.alphaPremultiplied = premultiplied;
    rgb.pixels = rows;
    rgb.rowBytes = (uint32_t)stride;
    result = avifImageYUVToRGB(decoder->image, &rgb);
    return result == AVIF_RESULT_OK ? KF_OK : fail(message, result, NULL);
}

void kf_avif_close(kf_avif_reader *reader) {
    if (!reader) return;
    if (reader->decoder) avifDecoderDestroy(reader->decoder);
    free(reader);
}

// The picture that is to be coded, in the planes the coder wants.
static avifResult fill(avifImage *image, const uint8_t *rows, size_t stride, bool has_alpha) {
    if (!has_room_for_planes(image)) return AVIF_RESULT_OUT_OF_MEMORY;
    image->colorPrimaries = AVIF_COLOR_PRIMARIES_BT709;
    image->transferCharacteristics = AVIF_TRANSFER_CHARACTERISTICS_SRGB;
    image->matrixCoefficients = AVIF_MATRIX_COEFFICIENTS_BT601;
    avifRGBImage rgb;
    avifRGBImageSetDefaults(&rgb, image);
    rgb.format = AVIF_RGB_FORMAT_BGRA;
    rgb.depth = 8;
    rgb.ignoreAlpha = !has_alpha;
    rgb.pixels = (uint8_t *)rows;
    rgb.rowBytes = (uint32_t)stride;
    return avifImageRGBToYUV(image, &rgb);
}

kf_status kf_avif_encode(
    const uint8_t *rows, size_t stride, uint32_t width, uint32_t height, bool has_alpha, int quality,
    uint8_t **bytes, size_t *size, kf_message *message
) {
    if (!avifCodecName(AVIF_CODEC_CHOICE_AUTO, AVIF_CODEC_FLAG_CAN_ENCODE)) {
        return kf_fail(message, KF_UNSUPPORTED, "this libavif cannot encode");
    }
    avifPixelFormat format = quality >= 90 ? AVIF_PIXEL_FORMAT_YUV444 : AVIF_PIXEL_FORMAT_YUV420;
    avifImage *image = avifImageCreate(width, height, 8, format);
    avifEncoder *encoder = avifEncoderCreate();
    avifRWData output = AVIF_DATA_EMPTY;
    avifResult result = AVIF_RESULT_OUT_OF_MEMORY;
    if (image && encoder) {
        encoder->maxThreads = 1;
        encoder->speed = 8;
        int quantizer = (100 - quality) * AVIF_QUANTIZER_WORST_QUALITY / 100;
        encoder->minQuantizer = encoder->maxQuantizer = quantizer;
        encoder->minQuantizerAlpha = encoder->maxQuantizerAlpha = AVIF_QUANTIZER_LOSSLESS;
        result = fill(image, rows, stride, has_alpha);
        if (result == AVIF_RESULT_OK) result = avifEncoderWrite(encoder, image, &output);
    }
    if (image) avifImageDestroy(image);
    if (encoder) avifEncoderDestroy(encoder);
    if (result != AVIF_RESULT_OK) {
        avifRWDataFree(&output);
        return fail(message, result, NULL);
    }
    // libavif has its own allocator; ours is malloc.
    kf_buffer buffer = {0};
    bool copied = kf_buffer_append(&buffer, output.data, output.size);
    avifRWDataFree(&output);
    if (!copied) return kf_fail(message, KF_OUT_OF_MEMORY, "out of memory");
    kf_buffer_take(&buffer, bytes, size);
    return KF_OK;
}
