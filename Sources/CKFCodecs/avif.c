// Reading AVIF through libavif, with dav1d for plain stills. Refuses to crop, turn or mirror: it says what the file asks for.
#include "avif_grid.h"
#include "avif_still.h"
#include "obu.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct kf_avif_reader {
    avifDecoder *decoder;
    avifIO io;
    const uint8_t *bytes;
    size_t size;
    // The size that the container announces.
    uint32_t width, height;
    // How many parts a grid has, and its transparency; 0 for what is no grid.
    uint64_t part_count;
    // The largest that AV1 data may announce, and whether it announces film grain.
    kf_obu_look look;
    bool has_turn;
    // Whether what libavif reads are the samples of a sequence; like parts, each is to be looked at before libaom gets it.
    bool is_sequence, is_decoding;
    // Why a sample was kept from libaom.
    const char *refusal;
    bool has_failed;
    // What dav1d decodes; where that is unknown, libavif sees to everything.
    kf_avif_still still;
    // libavif throws its copy away when it begins anew.
    uint8_t *icc;
};

static void describe_transforms(const avifImage *image, avifDiagnostics *details, kf_avif_header *header) {
    header->crop_width = image->width;
    header->crop_height = image->height;
    if (image->transformFlags & AVIF_TRANSFORM_CLAP) {
        // With chroma of half the size libavif wants even edges, which matters to those who crop planes. We crop pixels.
        const avifPixelFormat format = AVIF_PIXEL_FORMAT_YUV444;
        avifCropRect crop;
        if (avifCropRectConvertCleanApertureBox(
                &crop, &image->clap, image->width, image->height, format, details)) {
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

static bool copy_profile(kf_avif_reader *reader, const avifRWData *icc, kf_avif_header *header) {
    if (!icc->size) return true;
    reader->icc = malloc(icc->size);
    if (!reader->icc) return false;
    memcpy(reader->icc, icc->data, icc->size);
    header->icc = reader->icc;
    header->icc_size = icc->size;
    return true;
}

static void describe_colors(const avifImage *image, kf_avif_header *header) {
    header->primaries = image->colorPrimaries;
    header->transfer = image->transferCharacteristics;
    kf_avif_find_chromaticities(image->colorPrimaries, header->chromaticities);
}

// Looks at the AV1 data of the first picture: one run of units, or the picture's and its transparency's with something
// else between the two.
static kf_obu_verdict check_data(const uint8_t *bytes, size_t size, const avifIOStats *stats, kf_obu_look *look) {
    kf_obu_verdict whole = kf_obu_check(bytes, size, look);
    size_t color = stats->colorOBUSize, alpha = stats->alphaOBUSize;
    if (whole == KF_OBU_SOUND || whole == KF_OBU_TOO_LARGE) return whole;
    if (!alpha || color > size || alpha > size - color) return KF_OBU_BROKEN;
    size_t first[2] = {color, alpha}, last[2] = {alpha, color};
    for (int i = 0; i < 2; i++) {
        kf_obu_verdict head = kf_obu_check(bytes, first[i], look);
        kf_obu_verdict tail = kf_obu_check(bytes + size - last[i], last[i], look);
        if (head == KF_OBU_TOO_LARGE || tail == KF_OBU_TOO_LARGE) return KF_OBU_TOO_LARGE;
        if (head == KF_OBU_SOUND && tail == KF_OBU_SOUND) return KF_OBU_SOUND;
    }
    return KF_OBU_BROKEN;
}

// libaom draws film grain with tables that all its decoders share: of two at a time, each spoils the other's picture.
static pthread_mutex_t grain_turn = PTHREAD_MUTEX_INITIALIZER;

static void take_turn(kf_avif_reader *reader) {
    if (reader->has_turn || !reader->look.has_grain) return;
    pthread_mutex_lock(&grain_turn);
    reader->has_turn = true;
}

static void end_turn(kf_avif_reader *reader) {
    if (!reader->has_turn) return;
    reader->has_turn = false;
    pthread_mutex_unlock(&grain_turn);
}

// libavif asks for a sample of a sequence, or a part of a grid, in one piece, just before a decoder gets it. Samples after
// the first need no header of their own. Parts were looked at before, but one may begin in the middle of another.
static avifResult read_bytes(avifIO *io, uint32_t flags, uint64_t offset, size_t size, avifROData *out) {
    kf_avif_reader *reader = io->data;
    if (flags || offset > reader->size) return AVIF_RESULT_IO_ERROR;
    if (size > reader->size - offset) size = reader->size - offset;
    out->data = reader->bytes + offset;
    out->size = size;
    if (!reader->is_decoding || (!reader->is_sequence && !reader->part_count)) return AVIF_RESULT_OK;
    kf_obu_verdict verdict = kf_obu_check(out->data, size, &reader->look);
    take_turn(reader);
    switch (verdict) {
    case KF_OBU_TOO_LARGE: reader->refusal = "a coded frame is larger than announced"; break;
    case KF_OBU_BROKEN: reader->refusal = "a coded frame is broken"; break;
    case KF_OBU_HEADERLESS:
    case KF_OBU_SOUND: return AVIF_RESULT_OK;
    }
    return AVIF_RESULT_IO_ERROR;
}

static bool is_still(const avifDecoder *decoder) {
#if AVIF_VERSION >= 100000
    if (decoder->progressiveState != AVIF_PROGRESSIVE_STATE_UNAVAILABLE) return false;
#endif
    return decoder->imageCount == 1;
}

// Looks at what is to be decoded first, and remembers where a still's data lies.
static kf_status look(kf_avif_reader *reader, kf_message *message) {
    avifDecoder *decoder = reader->decoder;
    avifExtent extent;
    avifResult result = avifDecoderNthImageMaxExtent(decoder, 0, &extent);
    if (result != AVIF_RESULT_OK) return kf_avif_fail(message, result, decoder->diag.error);
    if (extent.offset > reader->size || extent.size > reader->size - extent.offset) {
        return kf_fail(message, KF_MALFORMED, "the data ends too early");
    }
    const uint8_t *start = reader->bytes + extent.offset;
    switch (check_data(start, extent.size, &decoder->ioStats, &reader->look)) {
    case KF_OBU_TOO_LARGE: return kf_fail(message, KF_MALFORMED, "the coded picture is larger than announced");
    case KF_OBU_HEADERLESS:
    case KF_OBU_BROKEN:
        return kf_fail(message, KF_MALFORMED, "the coded picture is broken, or scattered over the file");
    case KF_OBU_SOUND: break;
    }
    if (is_still(decoder)) {
        kf_avif_find_still(start, extent.size, &decoder->ioStats, decoder->alphaPresent, &reader->still);
    }
    return KF_OK;
}

// libavif chooses dav1d, which complains about damaged data on the terminal; libaom does not, but knows no limit on the
// size. So libaom gets what announces a sensible size, and nobody gets what cannot be overseen.
static bool choose_decoder(kf_avif_reader *reader, kf_message *message) {
    avifDecoder *decoder = reader->decoder;
    kf_status status = look(reader, message);
    if (!avifCodecName(AVIF_CODEC_CHOICE_AOM, AVIF_CODEC_FLAG_CAN_DECODE)) return true;
    if (status != KF_OK) return false;
    decoder->codecChoice = AVIF_CODEC_CHOICE_AOM;
    avifResult result = avifDecoderReset(decoder);
    if (result != AVIF_RESULT_OK) return kf_avif_fail(message, result, decoder->diag.error) == KF_OK;
    reader->is_sequence = decoder->imageCount > 1;
    return true;
}

// libavif knows what to do with pictures that are a little larger than announced. The parts of a grid reach beyond the
// picture by less than one of them; as all are of one size, those of a strip may be much taller than it. A grid has one of
// colours and one of transparency at most.
static void set_limits(kf_avif_reader *reader) {
    kf_obu_look *look = &reader->look;
    const uint32_t least = reader->part_count ? 1024 : 64;
    look->max_width = reader->width < least / 2 ? least : reader->width * 2;
    look->max_height = reader->height < least / 2 ? least : reader->height * 2;
    look->max_pixel_count = (uint64_t)look->max_width * look->max_height;
    if (!reader->part_count) return;
    uint64_t all = (uint64_t)reader->width * reader->height * 8;
    look->max_pixel_count = (all < 1 << 23 ? 1 << 23 : all) / reader->part_count;
}

// Each has a decoder of its own, which takes two megabytes however small it is.
static bool has_too_many_parts(const kf_avif_reader *reader) {
    uint64_t pixel_count = (uint64_t)reader->width * reader->height, most = pixel_count >> 16;
    return reader->part_count > 2 * (most < 64 ? 64 : most);
}

static avifResult parse(kf_avif_reader *reader, const uint8_t *bytes, size_t size) {
    avifDecoder *decoder = reader->decoder;
    decoder->maxThreads = 1;
    decoder->ignoreExif = AVIF_TRUE;
    decoder->ignoreXMP = AVIF_TRUE;
    // Files in the wild leave out boxes that the standard wants; browsers show them.
    decoder->strictFlags = AVIF_STRICT_DISABLED;
    reader->bytes = bytes;
    reader->size = size;
    reader->io.read = read_bytes;
    reader->io.sizeHint = size;
    reader->io.persistent = AVIF_TRUE;
    reader->io.data = reader;
    avifDecoderSetIO(decoder, &reader->io);
    avifResult result = avifDecoderParse(decoder);
    if (result != AVIF_RESULT_OK) return result;
    reader->width = decoder->image->width;
    reader->height = decoder->image->height;
    reader->part_count = kf_avif_part_count(bytes, size);
    set_limits(reader);
    return AVIF_RESULT_OK;
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
    avifResult result = parse(reader, bytes, size);
    if (result != AVIF_RESULT_OK) {
        kf_avif_fail(message, result, decoder->diag.error);
    } else if (has_too_many_parts(reader)) {
        result = AVIF_RESULT_INVALID_IMAGE_GRID;
        const bool is_known = reader->part_count < UINT64_MAX;
        const char *reason = is_known ? "the grid has more parts than a picture of its size needs"
                                      : "the parts of the grid are not where they can be looked at first";
        kf_fail(message, KF_MALFORMED, reason);
    }
    if (result != AVIF_RESULT_OK || !choose_decoder(reader, message)) {
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
    if (!copy_profile(reader, &image->icc, header)) {
        kf_fail(message, KF_OUT_OF_MEMORY, "out of memory");
        kf_avif_close(reader);
        return NULL;
    }
    return reader;
}

double kf_avif_delay(const kf_avif_reader *reader, uint32_t index) {
    avifImageTiming timing;
    avifResult result = avifDecoderNthImageTiming(reader->decoder, index, &timing);
    return result == AVIF_RESULT_OK ? timing.duration : 0;
}

// Decodes a frame, and those it is built upon unless they are just behind.
static avifResult decode(kf_avif_reader *reader, uint32_t index) {
    avifResult result = AVIF_RESULT_OK;
    // After a failure nobody knows what the decoder has taken in: it begins anew, at the nearest frame that stands alone.
    if (reader->has_failed) result = avifDecoderReset(reader->decoder);
    reader->refusal = NULL;
    reader->is_decoding = true;
    take_turn(reader);
    if (result == AVIF_RESULT_OK) result = avifDecoderNthImage(reader->decoder, index);
    end_turn(reader);
    reader->is_decoding = false;
    reader->has_failed = result != AVIF_RESULT_OK;
    return result;
}

// By dav1d. `is_done` says whether that was all; if not, and nothing failed, libavif has to do it.
static kf_status read_still(
    const kf_avif_reader *reader, uint8_t *rows, size_t stride, bool premultiplied, bool *is_done, kf_message *message
) {
    avifImage *image = reader->decoder->image;
    const kf_avif_still *still = &reader->still;
    kf_av1_picture color = {0}, alpha = {0};
    kf_status status = kf_av1_decode(still->color, still->color_size, (size_t)reader->look.max_pixel_count, &color, message);
    if (status == KF_OK && still->alpha) {
        status = kf_av1_decode(still->alpha, still->alpha_size, (size_t)reader->look.max_pixel_count, &alpha, message);
    }
    *is_done = status == KF_OK && kf_avif_lend(image, &color, still->alpha ? &alpha : NULL);
    if (*is_done) {
        avifResult result = kf_avif_to_bgra(image, rows, stride, premultiplied);
        if (result != AVIF_RESULT_OK) status = kf_avif_fail(message, result, NULL);
        kf_avif_take_back(image);
    }
    kf_av1_release(&color);
    kf_av1_release(&alpha);
    return status;
}

kf_status kf_avif_read(
    kf_avif_reader *reader, uint32_t index, uint8_t *rows, size_t stride, bool premultiplied, kf_message *message
) {
    avifDecoder *decoder = reader->decoder;
    if (reader->still.color && index == 0) {
        bool is_done = false;
        kf_status status = read_still(reader, rows, stride, premultiplied, &is_done, message);
        if (is_done || status != KF_OK) return status;
        kf_avif_leave_to_libavif(reader);
    }
    if (decoder->image && !kf_avif_has_room(decoder->image)) return kf_fail(message, KF_OUT_OF_MEMORY, "out of memory");
    avifResult result = decode(reader, index);
    if (reader->refusal) return kf_fail(message, KF_MALFORMED, reader->refusal);
    if (result != AVIF_RESULT_OK) return kf_avif_fail(message, result, decoder->diag.error);
    // The caller's memory has the size that the container announced.
    if (decoder->image->width != reader->width || decoder->image->height != reader->height) {
        return kf_fail(message, KF_MALFORMED, "the picture has another size than announced");
    }
    result = kf_avif_to_bgra(decoder->image, rows, stride, premultiplied);
    return result == AVIF_RESULT_OK ? KF_OK : kf_avif_fail(message, result, NULL);
}

bool kf_avif_leave_to_libavif(kf_avif_reader *reader) {
    bool is_something = reader->still.color != NULL;
    reader->still.color = NULL;
    return is_something;
}

void kf_avif_close(kf_avif_reader *reader) {
    if (!reader) return;
    if (reader->decoder) avifDecoderDestroy(reader->decoder);
    free(reader->icc);
    free(reader);
}
