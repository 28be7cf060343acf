// Reading a progressive JPEG while it arrives, one image for each scan, without ever starting again.
#include "../support/libraries.h"
#if KF_HAS_JPEG
#include "jpeg.h"
#include <string.h>

// Nothing more has arrived: libjpeg goes back to where it can go on from, and returns.
static boolean fill_source(j_decompress_ptr info) {
    (void)info;
    return FALSE;
}

static void skip_source(j_decompress_ptr info, long count) {
    if (count <= 0) return;
    kf_jpeg_reader *reader = (kf_jpeg_reader *)info->client_data;
    size_t wanted = (size_t)count, here = info->src->bytes_in_buffer;
    size_t skipped = wanted < here ? wanted : here;
    info->src->next_input_byte += skipped;
    info->src->bytes_in_buffer -= skipped;
    reader->skip += wanted - skipped;
}

// Between two calls `pending` may move; libjpeg's own pointer is only good within one.
static void show_pending(kf_jpeg_reader *reader) {
    reader->source.next_input_byte = reader->pending.bytes + reader->begin;
    reader->source.bytes_in_buffer = reader->pending.size - reader->begin;
}

static void note_progress(kf_jpeg_reader *reader) {
    reader->begin = reader->pending.size - reader->source.bytes_in_buffer;
}

kf_jpeg_reader *kf_jpeg_scans_open(kf_message *message) {
    kf_jpeg_reader *reader = kf_jpeg_create(message);
    if (!reader) return NULL;
    if (setjmp(reader->escape)) {
        kf_jpeg_close(reader);
        return NULL;
    }
    kf_jpeg_begin(reader, fill_source, skip_source);
    reader->message = NULL;
    return reader;
}

bool kf_jpeg_scans_append(kf_jpeg_reader *reader, const uint8_t *bytes, size_t size) {
    kf_buffer *pending = &reader->pending;
    // Bytes that are no longer needed are dropped once they are the larger half, so that no byte is moved more than
    // once on average.
    if (reader->begin > pending->size / 2) {
        pending->size -= reader->begin;
        memmove(pending->bytes, pending->bytes + reader->begin, pending->size);
        reader->begin = 0;
    }
    size_t skipped = size < reader->skip ? size : reader->skip;
    reader->skip -= skipped;
    return size == skipped || kf_buffer_append(pending, bytes + skipped, size - skipped);
}

kf_status kf_jpeg_scans_header(
    kf_jpeg_reader *reader, uint32_t max_scans, kf_jpeg_header *header, bool *complete, kf_message *message
) {
    memset(header, 0, sizeof *header);
    *complete = false;
    reader->message = message;
    reader->max_scans = max_scans;
    if (setjmp(reader->escape)) return message->status;
    show_pending(reader);
    int found = jpeg_read_header(&reader->info, TRUE);
    note_progress(reader);
    if (found == JPEG_SUSPENDED) return KF_OK;
    kf_jpeg_describe(reader, header);
    *complete = true;
    return KF_OK;
}

kf_status kf_jpeg_scans_start(
    kf_jpeg_reader *reader, uint32_t eighths, uint32_t *width, uint32_t *height, kf_message *message
) {
    struct jpeg_decompress_struct *info = &reader->info;
    reader->message = message;
    if (setjmp(reader->escape)) return message->status;
    info->buffered_image = TRUE;
    kf_jpeg_choose_output(reader, eighths);
    show_pending(reader);
    jpeg_start_decompress(info);
    note_progress(reader);
    *width = info->output_width;
    *height = info->output_height;
    return KF_OK;
}

kf_status kf_jpeg_scans_begin(kf_jpeg_reader *reader, uint32_t scan, kf_message *message) {
    struct jpeg_decompress_struct *info = &reader->info;
    reader->message = message;
    if (setjmp(reader->escape)) return message->status;
    if (scan >= reader->max_scans) return kf_fail(message, KF_LIMIT, "more progressive scans than allowed");
    if (info->input_scan_number > (int)scan) return kf_fail(message, KF_MALFORMED, "the scan has gone by");
    show_pending(reader);
    int event = JPEG_REACHED_SOS;
    // Stopping here, and not at the next scan's header, matters: from there on libjpeg assumes that scan's
    // precision.
    while (!(event == JPEG_SCAN_COMPLETED && info->input_scan_number == (int)scan)) {
        event = jpeg_consume_input(info);
        if (event != JPEG_SUSPENDED && event != JPEG_REACHED_EOI) continue;
        note_progress(reader);
        return kf_fail(message, KF_MALFORMED, "the scan is not complete");
    }
    jpeg_start_output(info, (int)scan);
    note_progress(reader);
    return KF_OK;
}

kf_status kf_jpeg_scans_end(kf_jpeg_reader *reader, kf_message *message) {
    reader->message = message;
    if (setjmp(reader->escape)) return message->status;
    // Decoding the last rows may already have read the next scan's header.
    jpeg_finish_output(&reader->info);
    note_progress(reader);
    return KF_OK;
}
#endif
