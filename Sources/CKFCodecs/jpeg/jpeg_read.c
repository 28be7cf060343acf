// Reading JPEG through libjpeg-turbo, row by row.
#include "../support/libraries.h"
#if KF_HAS_JPEG
#include "jpeg.h"
#include <stdlib.h>
#include <string.h>
#include <jerror.h>

static kf_jpeg_reader *reader_of(j_common_ptr info) { return (kf_jpeg_reader *)info->client_data; }

static void on_error(j_common_ptr info) {
    kf_jpeg_reader *reader = reader_of(info);
    char text[JMSG_LENGTH_MAX];
    info->err->format_message(info, text);
    kf_status status = KF_MALFORMED;
    switch (info->err->msg_code) {
    case JERR_OUT_OF_MEMORY: status = KF_OUT_OF_MEMORY; break;
    case JERR_BAD_PRECISION:
    case JERR_SOF_UNSUPPORTED:
#if JPEG_LIB_VERSION < 70
    // Later versions code arithmetically, and have no such error.
    case JERR_ARITH_NOTIMPL:
#endif
    case JERR_CONVERSION_NOTIMPL:
    case JERR_NOTIMPL: status = KF_UNSUPPORTED; break;
    default: break;
    }
    if (reader->message) kf_fail(reader->message, status, text);
    longjmp(reader->escape, 1);
}

static void keep_markers(struct jpeg_decompress_struct *info, unsigned int length) {
    jpeg_save_markers(info, JPEG_APP0 + 1, length);
    jpeg_save_markers(info, JPEG_APP0 + 2, length);
}

// For every marker libjpeg keeps, it visits all that it has kept. A megabyte may hold 250,000, which take a
// minute; a profile has at most 255 pieces, and whatever else is of use is one piece near the beginning.
static void count_marker(j_common_ptr common) {
    const uint32_t most = 4096;
    kf_jpeg_reader *reader = reader_of(common);
    const int marker = common->err->msg_parm.i[0];
    if (marker != JPEG_APP0 + 1 && marker != JPEG_APP0 + 2) return;
    if (++reader->kept_markers == most) keep_markers(&reader->info, 0);
}

// Warnings (level −1) and traces mean that libjpeg went on; so do we, and print nothing. Some mean that pixels are
// wrong.
static void on_message(j_common_ptr info, int level) {
    if (level < 0) info->err->num_warnings++;
    switch (level < 0 ? info->err->msg_code : 0) {
    case JWRN_HIT_MARKER:
    case JWRN_HUFF_BAD_CODE:
    case JWRN_MUST_RESYNC:
    case JWRN_BOGUS_PROGRESSION:
    case JWRN_ARITH_BAD_CODE: reader_of(info)->damaged = true; break;
    default: break;
    }
    if (info->err->msg_code == JTRC_MISC_MARKER) count_marker(info);
}
static void on_output(j_common_ptr info) { (void)info; }

static boolean fill_source(j_decompress_ptr info) {
    static const JOCTET end_of_image[2] = {0xFF, JPEG_EOI};
    kf_jpeg_reader *reader = (kf_jpeg_reader *)info->client_data;
    reader->ended = true;
    if (info->input_scan_number <= 1 && info->input_iMCU_row == 0) reader->ended_early = true;
    info->src->next_input_byte = end_of_image;
    info->src->bytes_in_buffer = sizeof end_of_image;
    return TRUE;
}

static void skip_source(j_decompress_ptr info, long count) {
    if (count <= 0) return;
    if ((size_t)count > info->src->bytes_in_buffer) {
        fill_source(info);
        return;
    }
    info->src->next_input_byte += count;
    info->src->bytes_in_buffer -= (size_t)count;
}

// A progressive file may hold thousands of scans in a few bytes each, and every scan visits the whole image.
static void on_progress(j_common_ptr common) {
    kf_jpeg_reader *reader = reader_of(common);
    if (reader->info.input_scan_number <= (int)reader->max_scans) return;
    kf_fail(reader->message, KF_LIMIT, "more progressive scans than allowed");
    longjmp(reader->escape, 1);
}

// Finds what follows a signature, whose last byte is 0, in one of the segments for metadata.
static void find_metadata(
    kf_jpeg_reader *reader, const char *signature, size_t length, const uint8_t **bytes, size_t *size
) {
    for (jpeg_saved_marker_ptr marker = reader->info.marker_list; marker; marker = marker->next) {
        if (marker->marker != JPEG_APP0 + 1 || marker->data_length <= length) continue;
        if (memcmp(marker->data, signature, length) != 0) continue;
        *bytes = marker->data + length;
        *size = marker->data_length - length;
        return;
    }
}

static void find_profile(kf_jpeg_reader *reader, kf_jpeg_header *header) {
    JOCTET *bytes = NULL;
    unsigned int length = 0;
    if (!jpeg_read_icc_profile(&reader->info, &bytes, &length)) return;
    reader->icc = bytes;
    header->icc = bytes;
    header->icc_size = length;
}

// With several scans, libjpeg keeps two bytes for each of the 64 coefficients of a block until the last scan is read.
static uint64_t count_coefficient_bytes(struct jpeg_decompress_struct *info) {
    if (!jpeg_has_multiple_scans(info)) return 0;
    uint64_t blocks = 0;
    for (int i = 0; i < info->num_components; i++) {
        const jpeg_component_info *part = &info->comp_info[i];
        uint64_t across = part->width_in_blocks, down = part->height_in_blocks;
        uint64_t h = (uint64_t)part->h_samp_factor, v = (uint64_t)part->v_samp_factor;
        blocks += (across + h - 1) / h * h * ((down + v - 1) / v * v);
    }
    return blocks * sizeof(JBLOCK);
}

kf_jpeg_reader *kf_jpeg_create(kf_message *message) {
    kf_jpeg_reader *reader = calloc(1, sizeof *reader);
    if (!reader) {
        kf_fail(message, KF_OUT_OF_MEMORY, "out of memory");
        return NULL;
    }
    reader->message = message;
    reader->info.err = jpeg_std_error(&reader->errors);
    reader->errors.error_exit = on_error;
    reader->errors.emit_message = on_message;
    reader->errors.output_message = on_output;
    reader->info.client_data = reader;
    return reader;
}

// What a source does when it begins and ends: there is nothing to set up or to free.
static void do_nothing(j_decompress_ptr info) { (void)info; }

void kf_jpeg_begin(kf_jpeg_reader *reader, boolean (*fill)(j_decompress_ptr), void (*skip)(j_decompress_ptr, long)) {
    jpeg_create_decompress(&reader->info);
    reader->source.init_source = do_nothing;
    reader->source.fill_input_buffer = fill;
    reader->source.skip_input_data = skip;
    reader->source.resync_to_restart = jpeg_resync_to_restart;
    reader->source.term_source = do_nothing;
    reader->info.src = &reader->source;
    keep_markers(&reader->info, 0xFFFF);
}

void kf_jpeg_describe(kf_jpeg_reader *reader, kf_jpeg_header *header) {
    header->width = reader->info.image_width;
    header->height = reader->info.image_height;
    header->components = (uint32_t)reader->info.num_components;
    header->progressive = reader->info.progressive_mode;
    header->coefficient_bytes = count_coefficient_bytes(&reader->info);
    static const char exif[] = "Exif\0", xmp[] = "http://ns.adobe.com/xap/1.0/";
    find_metadata(reader, exif, sizeof exif, &header->exif, &header->exif_size);
    find_metadata(reader, xmp, sizeof xmp, &header->xmp, &header->xmp_size);
    find_profile(reader, header);
}

void kf_jpeg_choose_output(kf_jpeg_reader *reader, uint32_t eighths) {
    struct jpeg_decompress_struct *info = &reader->info;
    bool cmyk = info->jpeg_color_space == JCS_CMYK || info->jpeg_color_space == JCS_YCCK;
    info->out_color_space = cmyk ? JCS_CMYK : JCS_EXT_BGRA;
    info->scale_num = eighths;
    info->scale_denom = 8;
}

// Where the file ends, or the last segment begins when the file ends within it: libjpeg would take the marker we put at
// the end for a part of the segment, and give up scans that are complete.
static size_t whole_segments(const uint8_t *bytes, size_t size) {
    const size_t longest = 0xFFFF + 2;
    const size_t first = size > longest ? size - longest : 0;
    for (size_t i = size; i-- > first + 1;) {
        const uint8_t code = bytes[i];
        // Within images 0xFF is followed by 0 or a restart marker; several in a row are padding.
        if (bytes[i - 1] != 0xFF || code == 0 || code == 0xFF || (code >= JPEG_RST0 && code < JPEG_RST0 + 8)) continue;
        if (code < 0xC0 || code == JPEG_EOI || code == 0xD8) return size;
        const bool has_length = i + 2 < size;
        const size_t length = has_length ? (size_t)bytes[i + 1] << 8 | bytes[i + 2] : longest;
        return length > size - i - 1 ? i - 1 : size;
    }
    return size;
}

kf_jpeg_reader *kf_jpeg_open(const uint8_t *bytes, size_t size, kf_jpeg_header *header, kf_message *message) {
    memset(header, 0, sizeof *header);
    kf_jpeg_reader *reader = kf_jpeg_create(message);
    if (!reader) return NULL;
    if (setjmp(reader->escape)) {
        kf_jpeg_close(reader);
        return NULL;
    }
    kf_jpeg_begin(reader, fill_source, skip_source);
    reader->source.next_input_byte = bytes;
    reader->source.bytes_in_buffer = whole_segments(bytes, size);
    jpeg_read_header(&reader->info, TRUE);
    kf_jpeg_describe(reader, header);
    reader->message = NULL;
    return reader;
}

kf_status kf_jpeg_start(
    kf_jpeg_reader *reader, uint32_t eighths, bool smooth_chroma, uint32_t max_scans, uint32_t *width, uint32_t *height,
    kf_message *message
) {
    reader->message = message;
    if (setjmp(reader->escape)) return message->status;
    struct jpeg_decompress_struct *info = &reader->info;
    reader->max_scans = max_scans;
    if (jpeg_has_multiple_scans(info)) {
        reader->progress.progress_monitor = on_progress;
        info->progress = &reader->progress;
    }
    kf_jpeg_choose_output(reader, eighths);
    info->do_fancy_upsampling = smooth_chroma;
    jpeg_start_decompress(info);
    if (reader->ended_early) return kf_fail(message, KF_MALFORMED, "the data ends before the first row");
    *width = info->output_width;
    *height = info->output_height;
    return KF_OK;
}

uint32_t kf_jpeg_read(kf_jpeg_reader *reader, uint8_t *rows, size_t stride, uint32_t count, kf_message *message) {
    struct jpeg_decompress_struct *info = &reader->info;
    uint32_t first = info->output_scanline;
    reader->message = message;
    if (setjmp(reader->escape)) return info->output_scanline - first;
    while (info->output_scanline - first < count && info->output_scanline < info->output_height) {
        JSAMPROW some[8];
        uint32_t done = info->output_scanline - first;
        uint32_t wanted = count - done < 8 ? count - done : 8;
        for (uint32_t i = 0; i < wanted; i++) some[i] = rows + (size_t)(done + i) * stride;
        // Scan by scan, rows can only be missing where the file's own structure was misread.
        if (jpeg_read_scanlines(info, some, wanted) == 0) return info->output_scanline - first;
        if (reader->ended_early) {
            kf_fail(message, KF_MALFORMED, "the data ends before the first row");
            return 0;
        }
    }
    return info->output_scanline - first;
}

// A file that ends between two scans is as good as any other, but not all that was meant to be seen: a component has
// not been there at all, or some of its coefficients are not known to their last bit.
static bool lacks_scans(const struct jpeg_decompress_struct *info) {
    for (int i = 0; i < info->num_components; i++) {
        if (!info->comp_info[i].quant_table) return true;
        for (int k = 0; info->coef_bits && k < DCTSIZE2; k++)
            if (info->coef_bits[i][k] != 0) return true;
    }
    return false;
}

bool kf_jpeg_is_damaged(const kf_jpeg_reader *reader) {
    return reader->damaged || (reader->ended && lacks_scans(&reader->info));
}

void kf_jpeg_close(kf_jpeg_reader *reader) {
    if (!reader) return;
    jpeg_destroy_decompress(&reader->info);
    free(reader->icc);
    free(reader->pending.bytes);
    free(reader);
}
#endif
