// Code shared by reading a whole JPEG and reading one scan by scan. Private to these two.
#ifndef KF_JPEG_H
#define KF_JPEG_H

#include "../support/support.h"
#include <setjmp.h>
#include <stdio.h>
#include <jpeglib.h>

struct kf_jpeg_reader {
    struct jpeg_decompress_struct info;
    struct jpeg_error_mgr errors;
    struct jpeg_source_mgr source;
    struct jpeg_progress_mgr progress;
    // The place that a failure jumps to. Set anew by every function that may fail, before anything else.
    jmp_buf escape;
    kf_message *message;
    uint8_t *icc;
    uint32_t max_scans;
    // How many markers libjpeg has kept.
    uint32_t kept_markers;
    // The data ended before the first row of blocks was complete: there is no image.
    bool ended_early;
    // The data ended before the end of the image, or something in between could not be decoded.
    bool ended, damaged;
    // Scan by scan only: the bytes that libjpeg has not consumed, from `begin` on, and how many more to skip.
    kf_buffer pending;
    size_t begin, skip;
};

/// A reader without a source; its errors leave through `escape`. NULL when memory has run out.
kf_jpeg_reader *kf_jpeg_create(kf_message *message);
/// Begins decoding from a source that these two functions continue. Its errors leave through `escape`.
void kf_jpeg_begin(kf_jpeg_reader *reader, boolean (*fill)(j_decompress_ptr), void (*skip)(j_decompress_ptr, long));
/// Describes what the header, which has been read, contains.
void kf_jpeg_describe(kf_jpeg_reader *reader, kf_jpeg_header *header);
/// Chooses the size in eighths and the colours of the rows, after the header has been read.
void kf_jpeg_choose_output(kf_jpeg_reader *reader, uint32_t eighths);

#endif
