// Writing AVIF through libavif, stills and sequences. The encoder finds what frames have in common.
#include "../support/libraries.h"
#if KF_HAS_AVIF
#include "avif_support.h"
#include <stdlib.h>

// The image that is to be coded, in the planes the coder needs.
static avifResult fill(avifImage *image, const uint8_t *rows, size_t stride, bool has_alpha, bool lossless) {
    image->colorPrimaries = AVIF_COLOR_PRIMARIES_BT709;
    image->transferCharacteristics = AVIF_TRANSFER_CHARACTERISTICS_SRGB;
    // Only green, blue and red as they are survive the way there and back.
    image->matrixCoefficients = lossless ? AVIF_MATRIX_COEFFICIENTS_IDENTITY : AVIF_MATRIX_COEFFICIENTS_BT601;
    image->yuvRange = AVIF_RANGE_FULL;
    avifRGBImage rgb;
    avifRGBImageSetDefaults(&rgb, image);
    rgb.format = AVIF_RGB_FORMAT_BGRA;
    rgb.depth = 8;
    rgb.ignoreAlpha = !has_alpha;
    rgb.pixels = (uint8_t *)rows;
    rgb.rowBytes = (uint32_t)stride;
    return avifImageRGBToYUV(image, &rgb);
}

static void set_quality(avifEncoder *encoder, int quality, int speed) {
    encoder->maxThreads = 1;
    encoder->speed = speed;
    int quantizer = (100 - quality) * AVIF_QUANTIZER_WORST_QUALITY / 100;
    // At speeds from 9 up libaom needs one less for the score of SSIMULACRA 2 that it has at 8.
    if (speed > 8 && quantizer > 0) quantizer--;
    encoder->minQuantizer = encoder->maxQuantizer = quantizer;
    encoder->minQuantizerAlpha = encoder->maxQuantizerAlpha = AVIF_QUANTIZER_LOSSLESS;
}

struct kf_avif_writer {
    avifEncoder *encoder;
    uint32_t width, height;
    bool has_alpha, full_chroma, lossless, is_still;
    const uint8_t *exif;
    size_t exif_size;
};

bool kf_avif_writes_loop_count(void) { return AVIF_VERSION >= 1000000; }

static void set_loop_count(avifEncoder *encoder, uint32_t count) {
#if AVIF_VERSION >= 1000000
    // How often it is played once more. More than that can hold is as good as endless.
    const bool endless = count == 0 || count > INT32_MAX;
    encoder->repetitionCount = endless ? AVIF_REPETITION_COUNT_INFINITE : (int)(count - 1);
#else
    (void)encoder; (void)count;
#endif
}

// libavif takes libaom where it is there. Of photos of 512 × 340 pixels with equal scores, SVT-AV1 (1.4) takes ten
// times as long, and rav1e (0.5) four times, with 2 % more bytes.
kf_avif_writer *kf_avif_writer_open(
    uint32_t width, uint32_t height, bool has_alpha, int quality, bool full_chroma, bool lossless, bool is_still,
    int speed, uint32_t loop_count, kf_message *message
) {
    if (!avifCodecName(AVIF_CODEC_CHOICE_AUTO, AVIF_CODEC_FLAG_CAN_ENCODE)) {
        kf_fail(message, KF_UNSUPPORTED, "this libavif cannot encode");
        return NULL;
    }
    kf_avif_writer *writer = malloc(sizeof *writer);
    avifEncoder *encoder = avifEncoderCreate();
    if (!writer || !encoder) {
        free(writer);
        if (encoder) avifEncoderDestroy(encoder);
        kf_fail(message, KF_OUT_OF_MEMORY, "out of memory");
        return NULL;
    }
    // Quicker than this, libaom (3.6) codes frames of sequences without looking at changes of colour alone.
    set_quality(encoder, lossless ? 100 : quality, !is_still && speed > 6 ? 6 : speed);
    if (!is_still) set_loop_count(encoder, loop_count);
    encoder->timescale = 1000;
    *writer = (kf_avif_writer){encoder, width, height, has_alpha, full_chroma || lossless, lossless, is_still, NULL, 0};
    return writer;
}

void kf_avif_writer_describe(kf_avif_writer *writer, const uint8_t *exif, size_t exif_size) {
    writer->exif = exif;
    writer->exif_size = exif_size;
}

// Only the first image has it.
static avifResult set_exif(avifImage *image, kf_avif_writer *writer) {
    const size_t size = writer->exif_size;
    writer->exif_size = 0;
    if (!size) return AVIF_RESULT_OK;
#if AVIF_VERSION >= 1000000
    return avifImageSetMetadataExif(image, writer->exif, size);
#else
    // Returns nothing, and ends the process when there is no memory.
    avifImageSetMetadataExif(image, writer->exif, size);
    return AVIF_RESULT_OK;
#endif
}

kf_status kf_avif_writer_add(
    kf_avif_writer *writer, const uint8_t *rows, size_t stride, uint32_t milliseconds, kf_message *message
) {
    avifPixelFormat format = writer->full_chroma ? AVIF_PIXEL_FORMAT_YUV444 : AVIF_PIXEL_FORMAT_YUV420;
    // Ten bits are worth 1 % of the bytes at an equal score, and cost a quarter more time.
    avifImage *image = avifImageCreate(writer->width, writer->height, 8, format);
    kf_status status = KF_OK;
    if (!image || !kf_avif_has_room(image)) {
        status = kf_fail(message, KF_OUT_OF_MEMORY, "out of memory");
    } else {
        avifResult result = fill(image, rows, stride, writer->has_alpha, writer->lossless);
        if (result == AVIF_RESULT_OK) result = set_exif(image, writer);
        avifAddImageFlags flags = writer->is_still ? AVIF_ADD_IMAGE_FLAG_SINGLE : AVIF_ADD_IMAGE_FLAG_NONE;
        uint64_t duration = milliseconds ? milliseconds : 1;
        if (result == AVIF_RESULT_OK) result = avifEncoderAddImage(writer->encoder, image, duration, flags);
        if (result != AVIF_RESULT_OK) status = kf_avif_fail(message, result, NULL);
    }
    if (image) avifImageDestroy(image);
    return status;
}

kf_status kf_avif_writer_finish(kf_avif_writer *writer, uint8_t **bytes, size_t *size, kf_message *message) {
    avifRWData output = AVIF_DATA_EMPTY;
    avifResult result = avifEncoderFinish(writer->encoder, &output);
    // libavif has its own allocator; ours is malloc.
    kf_buffer buffer = {0};
    kf_status status = KF_OK;
    if (result != AVIF_RESULT_OK) {
        status = kf_avif_fail(message, result, NULL);
    } else if (!kf_buffer_append(&buffer, output.data, output.size)) {
        status = kf_fail(message, KF_OUT_OF_MEMORY, "out of memory");
    } else {
        kf_buffer_take(&buffer, bytes, size);
    }
    avifRWDataFree(&output);
    return status;
}

void kf_avif_writer_close(kf_avif_writer *writer) {
    if (!writer) return;
    avifEncoderDestroy(writer->encoder);
    free(writer);
}
#endif
