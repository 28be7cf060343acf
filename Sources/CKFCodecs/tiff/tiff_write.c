// Writing TIFF through libtiff, row by row: red, green, blue and perhaps alpha, deflated without loss.
#include "../support/libraries.h"
#if KF_HAS_TIFF
#include "tiff.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Rows of so many bytes are deflated at once, or a single one that is longer.
enum { STRIP_BYTES = 1 << 18 };

struct kf_tiff_writer {
    TIFF *tiff;
    kf_buffer buffer;
    // Where libtiff writes next.
    size_t position;
    bool out_of_memory;
    uint32_t width, next_row;
    unsigned samples;
    uint8_t *row;
};

// ---------------------------------------------------------------------------------------------- bytes in memory

// The numbers of strips and directories go over bytes that were written before.
static tmsize_t write_bytes(thandle_t handle, void *from, tmsize_t count) {
    kf_tiff_writer *writer = handle;
    kf_buffer *buffer = &writer->buffer;
    if (count <= 0) return 0;
    const size_t size = (size_t)count;
    const size_t end = writer->position <= SIZE_MAX - size ? writer->position + size : SIZE_MAX;
    if (end > buffer->size) {
        if (end > SIZE_MAX / 4 || !kf_buffer_reserve(buffer, end - buffer->size)) {
            writer->out_of_memory = true;
            return 0;
        }
        memset(buffer->bytes + buffer->size, 0, end - buffer->size);
        buffer->size = end;
    }
    memcpy(buffer->bytes + writer->position, from, size);
    writer->position = end;
    return count;
}
static tmsize_t read_bytes(thandle_t handle, void *to, tmsize_t count) {
    kf_tiff_writer *writer = handle;
    const size_t left = writer->position < writer->buffer.size ? writer->buffer.size - writer->position : 0;
    const size_t some = count < 0 ? 0 : (size_t)count < left ? (size_t)count : left;
    if (some > 0) memcpy(to, writer->buffer.bytes + writer->position, some);
    writer->position += some;
    return (tmsize_t)some;
}
static toff_t seek(thandle_t handle, toff_t offset, int whence) {
    kf_tiff_writer *writer = handle;
    const toff_t base = whence == SEEK_CUR ? writer->position : whence == SEEK_END ? writer->buffer.size : 0;
    writer->position = base + offset < SIZE_MAX ? (size_t)(base + offset) : SIZE_MAX;
    return writer->position;
}
static int close_file(thandle_t handle) { (void)handle; return 0; }
static toff_t size_of(thandle_t handle) { return ((const kf_tiff_writer *)handle)->buffer.size; }

#if TIFFLIB_VERSION >= 20221213
static int on_message(TIFF *tiff, void *user, const char *module, const char *format, va_list arguments) {
    (void)tiff; (void)user; (void)module; (void)format; (void)arguments;
    return 1;
}

static TIFF *open_quietly(kf_tiff_writer *writer) {
    TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
    if (!options) return NULL;
    TIFFOpenOptionsSetErrorHandlerExtR(options, on_message, NULL);
    TIFFOpenOptionsSetWarningHandlerExtR(options, on_message, NULL);
    TIFF *tiff = TIFFClientOpenExt(
        "", "w", writer, read_bytes, write_bytes, seek, close_file, size_of, NULL, NULL, options);
    TIFFOpenOptionsFree(options);
    return tiff;
}
#else
static TIFF *open_quietly(kf_tiff_writer *writer) {
    kf_tiff_silence();
    return TIFFClientOpen("", "w", writer, read_bytes, write_bytes, seek, close_file, size_of, NULL, NULL);
}
#endif

// ---------------------------------------------------------------------------------------------- rows

static kf_status fail(const kf_tiff_writer *writer, kf_message *message) {
    if (writer->out_of_memory) return kf_fail(message, KF_OUT_OF_MEMORY, "out of memory");
    return kf_fail(message, KF_UNSUPPORTED, "libtiff refused the image");
}

static bool describe(TIFF *tiff, uint32_t width, uint32_t height, unsigned samples) {
    const size_t row_bytes = (size_t)width * samples;
    const uint32_t rows = row_bytes < STRIP_BYTES ? (uint32_t)(STRIP_BYTES / row_bytes) : 1;
    const uint16_t straight_alpha = EXTRASAMPLE_UNASSALPHA;
    return TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, width) && TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, height)
        && TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 8) && TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, samples)
        && TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_RGB)
        && TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG)
        && TIFFSetField(tiff, TIFFTAG_ORIENTATION, ORIENTATION_TOPLEFT)
        && TIFFSetField(tiff, TIFFTAG_COMPRESSION, COMPRESSION_ADOBE_DEFLATE)
        && TIFFSetField(tiff, TIFFTAG_PREDICTOR, PREDICTOR_HORIZONTAL)
        && TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, rows < height ? rows : height)
        && (samples == 3 || TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, 1, &straight_alpha));
}

kf_tiff_writer *kf_tiff_writer_open(
    uint32_t width, uint32_t height, bool has_alpha, const uint8_t *icc, size_t icc_size, kf_message *message
) {
    kf_tiff_writer *writer = calloc(1, sizeof *writer);
    if (writer) {
        writer->width = width;
        writer->samples = has_alpha ? 4 : 3;
        writer->row = malloc((size_t)width * writer->samples);
        if (writer->row) writer->tiff = open_quietly(writer);
    }
    if (!writer || !writer->tiff) {
        kf_fail(message, KF_OUT_OF_MEMORY, "out of memory");
        kf_tiff_writer_close(writer);
        return NULL;
    }
    bool described = describe(writer->tiff, width, height, writer->samples) && icc_size <= UINT32_MAX;
    if (icc_size) described = described && TIFFSetField(writer->tiff, TIFFTAG_ICCPROFILE, (uint32_t)icc_size, icc);
    if (!described) {
        fail(writer, message);
        kf_tiff_writer_close(writer);
        return NULL;
    }
    return writer;
}

kf_status kf_tiff_write(
    kf_tiff_writer *writer, const uint8_t *rows, size_t stride, uint32_t count, kf_message *message
) {
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *from = rows + i * stride;
        uint8_t *to = writer->row;
        for (uint32_t x = 0; x < writer->width; x++, from += 4, to += writer->samples) {
            to[0] = from[2];
            to[1] = from[1];
            to[2] = from[0];
            if (writer->samples == 4) to[3] = from[3];
        }
        if (TIFFWriteScanline(writer->tiff, writer->row, writer->next_row++, 0) < 0) return fail(writer, message);
    }
    return KF_OK;
}

kf_status kf_tiff_writer_finish(kf_tiff_writer *writer, uint8_t **bytes, size_t *size, kf_message *message) {
    // Writes the last strip before it.
    if (!TIFFWriteDirectory(writer->tiff) || writer->out_of_memory) return fail(writer, message);
    kf_buffer_take(&writer->buffer, bytes, size);
    return KF_OK;
}

void kf_tiff_writer_close(kf_tiff_writer *writer) {
    if (!writer) return;
    if (writer->tiff) TIFFClose(writer->tiff);
    free(writer->buffer.bytes);
    free(writer->row);
    free(writer);
}
#endif
