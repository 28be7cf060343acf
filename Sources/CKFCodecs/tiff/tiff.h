// An open TIFF, shared by the file that opens it and the one that reads rows.
#ifndef KF_TIFF_H
#define KF_TIFF_H

#include "../support/support.h"
#include "tiff_rows.h"
#include <tiffio.h>

/// How many bytes a strip or a tile may have besides those that the image's own pixels justify.
#define KF_TIFF_SPARE ((uint64_t)16 << 20)

struct kf_tiff_reader {
    TIFF *tiff;
    const uint8_t *bytes;
    // How many bytes there are, and how many zeros are read behind them.
    size_t size, padding, position;
    // The first error that libtiff reported; empty as long as there is none.
    char library_error[200];
    // A part of what tells the meaning of pixels lies behind the end of the file.
    bool lacks_meaning;
    // Something that has been decoded is not as it was written.
    bool damaged;
    uint32_t width, height;
    // Which sample each component is, how many a pixel has, and whether each has a plane of its own.
    uint16_t sample[KF_TIFF_COMPONENTS];
    uint16_t sample_count;
    bool separate;
    // Left to libtiff's conversion to RGBA.
    bool converted;
    kf_tiff_samples samples;

    // The unit that is decoded at once: a tile, a strip or a row.
    bool by_rows;
    uint32_t block_width, block_height;
    size_t block_bytes, block_stride;
    // A block of every plane; taken with the first row, as is what follows.
    uint8_t *blocks;
    // Finished pixels of a row of blocks; NULL where rows are decoded one by one.
    uint8_t *band;
    // The alphas of inks, for as many rows; NULL where pixels hold their own.
    uint8_t *alphas;
    uint32_t band_first, band_rows, next_row;
    // The rows of blocks above cannot all be decoded: there are no more.
    bool ended;
    TIFFRGBAImage image;
    bool image_begun;
};

/// Fails with the error libtiff reported, or else `text`.
kf_status kf_tiff_fail(const kf_tiff_reader *reader, kf_message *message, kf_status status, const char *text);

/// Opens the file; its errors are kept in the reader, which allows blocks of so many bytes at most.
TIFF *kf_tiff_open_quietly(kf_tiff_reader *reader, size_t most);

#if TIFFLIB_VERSION < 20221213
/// Keeps libtiff from printing, for the whole process.
void kf_tiff_silence(void);
#endif

#endif
