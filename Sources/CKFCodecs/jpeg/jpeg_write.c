// Writing JPEG through libjpeg-turbo, row by row. All pixels are opaque.
#include "../support/libraries.h"
#if KF_HAS_JPEG
#include "../support/support.h"
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <jpeglib.h>
#include <jerror.h>

struct kf_jpeg_writer {
    struct jpeg_compress_struct info;
    struct jpeg_error_mgr errors;
    jmp_buf escape;
    struct jpeg_destination_mgr destination;
    kf_message *message;
    kf_buffer buffer;
};

static void on_error(j_common_ptr info) {
    kf_jpeg_writer *writer = (kf_jpeg_writer *)info->client_data;
    char text[JMSG_LENGTH_MAX];
    info->err->format_message(info, text);
    bool memory = info->err->msg_code == JERR_OUT_OF_MEMORY;
    kf_fail(writer->message, memory ? KF_OUT_OF_MEMORY : KF_UNSUPPORTED, text);
    longjmp(writer->escape, 1);
}
static void on_message(j_common_ptr info, int level) { (void)info; (void)level; }
static void on_output(j_common_ptr info) { (void)info; }

// libjpeg's own memory destination leaves a dangling pointer behind when encoding fails after the buffer has grown.
static void offer_room(j_compress_ptr info) {
    kf_jpeg_writer *writer = (kf_jpeg_writer *)info->client_data;
    if (!kf_buffer_reserve(&writer->buffer, 16 * 1024)) ERREXIT1(info, JERR_OUT_OF_MEMORY, 0);
    info->dest->next_output_byte = writer->buffer.bytes + writer->buffer.size;
    info->dest->free_in_buffer = writer->buffer.capacity - writer->buffer.size;
}

// libjpeg calls this when the whole buffer is used up, whatever the value of `free_in_buffer`.
static boolean take_full_room(j_compress_ptr info) {
    kf_jpeg_writer *writer = (kf_jpeg_writer *)info->client_data;
    writer->buffer.size = writer->buffer.capacity;
    offer_room(info);
    return TRUE;
}

static void take_last_room(j_compress_ptr info) {
    kf_jpeg_writer *writer = (kf_jpeg_writer *)info->client_data;
    writer->buffer.size = writer->buffer.capacity - info->dest->free_in_buffer;
}

// The scans of progressive files: what is flat, the lowest frequencies, the colours, and the rest of the brightness in
// two steps. libjpeg's own ten scans sharpen everything step by step, with tables for each: at qualities of the web
// that takes 2 to 6 % more bytes and a tenth more time, and at 95 as many bytes.
static void choose_scans(struct jpeg_compress_struct *info) {
    static const jpeg_scan_info colored[] = {
        {3, {0, 1, 2, 0}, 0, 0, 0, 0}, {1, {0}, 1, 2, 0, 0},  {1, {1}, 1, 63, 0, 0},
        {1, {2}, 1, 63, 0, 0},         {1, {0}, 3, 63, 0, 1}, {1, {0}, 3, 63, 1, 0},
    };
    static const jpeg_scan_info grey[] = {
        {1, {0}, 0, 0, 0, 0}, {1, {0}, 1, 2, 0, 0}, {1, {0}, 3, 63, 0, 1}, {1, {0}, 3, 63, 1, 0},
    };
    const bool is_grey = info->num_components == 1;
    info->scan_info = is_grey ? grey : colored;
    info->num_scans = (int)(is_grey ? sizeof grey / sizeof *grey : sizeof colored / sizeof *colored);
}

kf_jpeg_writer *kf_jpeg_writer_open(
    uint32_t width, uint32_t height, int quality, const uint32_t *steps, kf_jpeg_colors colors,
    kf_jpeg_coding coding, kf_message *message
) {
    kf_jpeg_writer *writer = calloc(1, sizeof *writer);
    if (!writer) {
        kf_fail(message, KF_OUT_OF_MEMORY, "out of memory");
        return NULL;
    }
    writer->message = message;
    writer->info.err = jpeg_std_error(&writer->errors);
    writer->errors.error_exit = on_error;
    writer->errors.emit_message = on_message;
    writer->errors.output_message = on_output;
    writer->info.client_data = writer;
    if (setjmp(writer->escape)) {
        kf_jpeg_writer_close(writer);
        return NULL;
    }
    struct jpeg_compress_struct *info = &writer->info;
    jpeg_create_compress(info);
    writer->destination.init_destination = offer_room;
    writer->destination.empty_output_buffer = take_full_room;
    writer->destination.term_destination = take_last_room;
    info->dest = &writer->destination;
    info->image_width = width;
    info->image_height = height;
    info->input_components = 4;
    info->in_color_space = JCS_EXT_BGRX;
    jpeg_set_defaults(info);
    if (colors == KF_JPEG_GREY) jpeg_set_colorspace(info, JCS_GRAYSCALE);
    jpeg_set_quality(info, quality, TRUE);
    for (int table = 0; steps && table < 2; table++) {
        jpeg_add_quant_table(info, table, steps + table * DCTSIZE2, 100, TRUE);
    }
    info->comp_info[0].h_samp_factor = colors == KF_JPEG_HALF_CHROMA ? 2 : 1;
    info->comp_info[0].v_samp_factor = colors == KF_JPEG_HALF_CHROMA ? 2 : 1;
    info->optimize_coding = coding != KF_JPEG_BASELINE;
    if (coding == KF_JPEG_PROGRESSIVE) choose_scans(info);
    jpeg_start_compress(info, TRUE);
    return writer;
}

kf_status kf_jpeg_writer_describe(
    kf_jpeg_writer *writer, const uint8_t *exif, size_t exif_size, const uint8_t *icc, size_t icc_size,
    kf_message *message
) {
    static const uint8_t signature[6] = "Exif\0";
    writer->message = message;
    if (exif_size > 65533 - sizeof signature) {
        return kf_fail(message, KF_UNSUPPORTED, "the EXIF block is too large for JPEG");
    }
    if (setjmp(writer->escape)) return message->status;
    if (exif_size) {
        jpeg_write_m_header(&writer->info, JPEG_APP0 + 1, (unsigned)(exif_size + sizeof signature));
        for (size_t i = 0; i < sizeof signature; i++) jpeg_write_m_byte(&writer->info, signature[i]);
        for (size_t i = 0; i < exif_size; i++) jpeg_write_m_byte(&writer->info, exif[i]);
    }
    if (icc_size) jpeg_write_icc_profile(&writer->info, icc, (unsigned)icc_size);
    return KF_OK;
}

kf_status kf_jpeg_write(
    kf_jpeg_writer *writer, const uint8_t *rows, size_t stride, uint32_t count, kf_message *message
) {
    writer->message = message;
    if (setjmp(writer->escape)) return message->status;
    for (uint32_t i = 0; i < count; i++) {
        JSAMPROW row = (JSAMPROW)(rows + (size_t)i * stride);
        jpeg_write_scanlines(&writer->info, &row, 1);
    }
    return KF_OK;
}

kf_status kf_jpeg_writer_finish(kf_jpeg_writer *writer, uint8_t **bytes, size_t *size, kf_message *message) {
    writer->message = message;
    if (setjmp(writer->escape)) return message->status;
    jpeg_finish_compress(&writer->info);
    kf_buffer_take(&writer->buffer, bytes, size);
    return KF_OK;
}

void kf_jpeg_writer_close(kf_jpeg_writer *writer) {
    if (!writer) return;
    jpeg_destroy_compress(&writer->info);
    free(writer->buffer.bytes);
    free(writer);
}
#endif
