// Reading AVIF through libavif and dav1d. Does not crop, turn or mirror: the header describes what the file requests.
#include "../support/libraries.h"
#if KF_HAS_AVIF
#include "avif_grid.h"
#include "avif_support.h"
#include <stdlib.h>
#include <string.h>

struct kf_avif_reader {
    avifDecoder *decoder;
    // The size that the container announces.
    uint32_t width, height;
    bool has_failed;
    // libavif throws its copy away when it begins anew.
    uint8_t *icc;
};

static void describe_transforms(const avifImage *image, avifDiagnostics *details, kf_avif_header *header) {
    header->crop_width = image->width;
    header->crop_height = image->height;
    if (image->transformFlags & AVIF_TRANSFORM_CLAP) {
        // With chroma of half the size libavif requires even edges, which matters for cropping planes. Pixels are
        // cropped here.
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

// How many pixels a coded image may have, which dav1d checks before it takes memory. libavif alone allows 256
// megapixels whatever the container announces, so that a kilobyte takes half a gigabyte; images a little larger than
// announced are scaled by it. All parts of grids are decoded before libavif checks that they fit together: they share
// what eight images of the announced size take.
static uint32_t coded_size_limit(uint64_t pixel_count, uint64_t part_count) {
    uint64_t limit = 4 * (pixel_count < 1 << 12 ? 1 << 12 : pixel_count);
    if (part_count) limit = 8 * (pixel_count < 1 << 20 ? 1 << 20 : pixel_count) / part_count;
    return limit < AVIF_DEFAULT_IMAGE_SIZE_LIMIT ? (uint32_t)limit : AVIF_DEFAULT_IMAGE_SIZE_LIMIT;
}

static avifResult parse(kf_avif_reader *reader, const uint8_t *bytes, size_t size) {
    avifDecoder *decoder = reader->decoder;
    // The fastest, and the only one that limits the size of coded images.
    decoder->codecChoice = AVIF_CODEC_CHOICE_DAV1D;
    decoder->maxThreads = 1;
    decoder->ignoreExif = AVIF_TRUE;
    decoder->ignoreXMP = AVIF_TRUE;
    // Files in the wild leave out boxes that the standard requires; browsers show them.
    decoder->strictFlags = AVIF_STRICT_DISABLED;
    avifResult result = avifDecoderSetIOMemory(decoder, bytes, size);
    if (result == AVIF_RESULT_OK) result = avifDecoderParse(decoder);
    if (result != AVIF_RESULT_OK) return result;
    reader->width = decoder->image->width;
    reader->height = decoder->image->height;
    const uint64_t pixel_count = (uint64_t)reader->width * reader->height, part_count = kf_avif_part_count(bytes, size);
    // Each part has a decoder of its own, which takes two megabytes however small the part is.
    const uint64_t parts_needed = pixel_count >> 16;
    if (part_count > 2 * (parts_needed < 64 ? 64 : parts_needed)) return AVIF_RESULT_INVALID_IMAGE_GRID;
    decoder->imageSizeLimit = coded_size_limit(pixel_count, part_count);
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

void kf_avif_exif(const uint8_t *file, size_t file_size, uint8_t **bytes, size_t *size) {
    avifDecoder *decoder = avifDecoderCreate();
    if (!decoder) return;
    decoder->ignoreXMP = AVIF_TRUE;
    decoder->strictFlags = AVIF_STRICT_DISABLED;
    avifResult result = avifDecoderSetIOMemory(decoder, file, file_size);
    if (result == AVIF_RESULT_OK) result = avifDecoderParse(decoder);
    kf_buffer buffer = {0};
    if (result == AVIF_RESULT_OK && decoder->image->exif.size
        && kf_buffer_append(&buffer, decoder->image->exif.data, decoder->image->exif.size)) {
        kf_buffer_take(&buffer, bytes, size);
    }
    avifDecoderDestroy(decoder);
}

double kf_avif_delay(const kf_avif_reader *reader, uint32_t index) {
    avifImageTiming timing;
    avifResult result = avifDecoderNthImageTiming(reader->decoder, index, &timing);
    return result == AVIF_RESULT_OK ? timing.duration : 0;
}

kf_status kf_avif_read(
    kf_avif_reader *reader, uint32_t index, uint8_t *rows, size_t stride, bool premultiplied, kf_message *message
) {
    avifDecoder *decoder = reader->decoder;
    if (!kf_avif_has_room(decoder->image)) return kf_fail(message, KF_OUT_OF_MEMORY, "out of memory");
    avifResult result = AVIF_RESULT_OK;
    // A failure leaves the decoder in an unknown state: it begins anew, at the nearest frame that stands alone.
    if (reader->has_failed) result = avifDecoderReset(decoder);
    if (result == AVIF_RESULT_OK) result = avifDecoderNthImage(decoder, index);
    reader->has_failed = result != AVIF_RESULT_OK;
    // Its details are the call in libavif's source that failed.
    if (result != AVIF_RESULT_OK) return kf_avif_fail(message, result, NULL);
    // The caller's memory has the size that the container announced.
    if (decoder->image->width != reader->width || decoder->image->height != reader->height) {
        return kf_fail(message, KF_MALFORMED, "the image has another size than announced");
    }
    result = kf_avif_to_bgra(decoder->image, rows, stride, premultiplied);
    return result == AVIF_RESULT_OK ? KF_OK : kf_avif_fail(message, result, NULL);
}

void kf_avif_close(kf_avif_reader *reader) {
    if (!reader) return;
    if (reader->decoder) avifDecoderDestroy(reader->decoder);
    free(reader->icc);
    free(reader);
}
#endif
