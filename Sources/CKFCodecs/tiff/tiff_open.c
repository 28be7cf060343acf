// Opening TIFF through libtiff: what the first image is. Decodes no pixels.
#include "../support/libraries.h"
#if KF_HAS_TIFF
#include "tiff.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The compressions that are in use and allocate no memory for sizes that only the compressed data announce.
static bool is_known_compression(uint16_t compression) {
    static const uint16_t known[] = {
        COMPRESSION_NONE, COMPRESSION_CCITTRLE, COMPRESSION_CCITTRLEW, COMPRESSION_CCITTFAX3, COMPRESSION_CCITTFAX4,
        COMPRESSION_LZW, COMPRESSION_JPEG, COMPRESSION_ADOBE_DEFLATE, COMPRESSION_DEFLATE, COMPRESSION_PACKBITS,
        COMPRESSION_ZSTD, COMPRESSION_WEBP,
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (known[i] == compression) return true;
    }
    return false;
}

// Compressions of documents, whose runs are paper and ink.
static bool is_fax(uint16_t compression) {
    return compression == COMPRESSION_CCITTRLE || compression == COMPRESSION_CCITTRLEW
        || compression == COMPRESSION_CCITTFAX3 || compression == COMPRESSION_CCITTFAX4;
}

// A strip or tile that the file ends within is decoded as far as it goes; libtiff would not begin with it.
static void cut_blocks(kf_tiff_reader *reader) {
    TIFF *tiff = reader->tiff;
    const bool tiled = TIFFIsTiled(tiff);
    const uint32_t count = tiled ? TIFFNumberOfTiles(tiff) : TIFFNumberOfStrips(tiff);
    uint64_t *offsets = NULL, *sizes = NULL;
    if (!TIFFGetField(tiff, tiled ? TIFFTAG_TILEOFFSETS : TIFFTAG_STRIPOFFSETS, &offsets) || !offsets) return;
    // These are libtiff's own numbers, not a copy.
    if (!TIFFGetField(tiff, tiled ? TIFFTAG_TILEBYTECOUNTS : TIFFTAG_STRIPBYTECOUNTS, &sizes) || !sizes) return;
    for (uint32_t i = 0; i < count; i++) {
        if (offsets[i] < reader->size && sizes[i] > reader->size - offsets[i]) sizes[i] = reader->size - offsets[i];
        // An offset that was cut off; at the beginning of the file there are no pixels.
        if (offsets[i] == 0) sizes[i] = 0;
    }
}

static void make_ramp(kf_tiff_samples *samples, bool inverted) {
    const uint32_t most = (1u << samples->depth) - 1;
    for (uint32_t i = 0; i <= most; i++) {
        samples->table[i] = 0xFF000000 | (inverted ? most - i : i) * 255 / most * 0x010101;
    }
}

// Of 8 bits some programs make 16 by repeating them, others by adding zeros, and old ones not at all.
static bool make_palette(TIFF *tiff, kf_tiff_samples *samples) {
    uint16_t *colors[3];
    if (!TIFFGetField(tiff, TIFFTAG_COLORMAP, &colors[0], &colors[1], &colors[2])) return false;
    const uint32_t count = 1u << samples->depth;
    uint16_t highest = 0;
    for (uint32_t i = 0; i < 3 * count; i++) {
        const uint16_t value = colors[i % 3][i / 3];
        if (value > highest) highest = value;
    }
    for (uint32_t i = 0; i < 3 * count; i++) {
        const uint32_t value = colors[i % 3][i / 3];
        samples->table[i / 3] |= (highest < 256 ? value : value >> 8) << (16 - i % 3 * 8);
    }
    for (uint32_t i = 0; i < count; i++) samples->table[i] |= 0xFF000000;
    return true;
}

// Which sample is the alpha, if any is declared as one.
static void find_alpha(kf_tiff_reader *reader) {
    uint16_t count = 0, *kinds = NULL;
    const unsigned colors = kf_tiff_color_samples(&reader->samples);
    if (!TIFFGetField(reader->tiff, TIFFTAG_EXTRASAMPLES, &count, &kinds)) {
        // A fourth sample beside red, green and blue that is not declared is alpha by convention.
        if (colors != 3 || reader->sample_count != 4) return;
        reader->samples.has_alpha = true;
        return;
    }
    for (uint16_t i = 0; i < count && colors + i < reader->sample_count; i++) {
        if (kinds[i] != EXTRASAMPLE_ASSOCALPHA && kinds[i] != EXTRASAMPLE_UNASSALPHA) continue;
        reader->samples.has_alpha = true;
        reader->samples.premultiplied = kinds[i] == EXTRASAMPLE_ASSOCALPHA;
        reader->sample[colors] = (uint16_t)(colors + i);
        return;
    }
}

// Decides how samples become pixels; all other kinds are left to libtiff's conversion to RGBA.
static bool describe_samples(kf_tiff_reader *reader, uint16_t photometric, uint16_t compression) {
    TIFF *tiff = reader->tiff;
    kf_tiff_samples *samples = &reader->samples;
    const bool bytes = samples->depth == 8 || samples->depth == 16;
    const bool bits = samples->depth == 1 || samples->depth == 2 || samples->depth == 4 || samples->depth == 8;
    samples->indexed = bits && reader->sample_count == 1;
    uint16_t inks = INKSET_CMYK;
    switch (photometric) {
    case PHOTOMETRIC_MINISWHITE:
    case PHOTOMETRIC_MINISBLACK:
        samples->colors = 1;
        samples->inverted = photometric == PHOTOMETRIC_MINISWHITE;
        if (samples->indexed) make_ramp(samples, samples->inverted);
        return samples->indexed || bytes;
    case PHOTOMETRIC_PALETTE:
        samples->colors = 3;
        // Beside other samples, indices are read as whole bytes.
        samples->indexed = samples->indexed || samples->depth == 8;
        return samples->indexed && make_palette(tiff, samples);
    case PHOTOMETRIC_YCBCR:
        // libjpeg makes them red, green and blue.
        if (compression != COMPRESSION_JPEG || reader->separate || samples->depth != 8) return false;
        TIFFSetField(tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
        samples->colors = 3;
        return reader->sample_count == 3;
    case PHOTOMETRIC_RGB:
        samples->colors = 3;
        return bytes && reader->sample_count >= 3;
    case PHOTOMETRIC_CIELAB:
        samples->colors = 3;
        samples->lab = true;
        return bytes && reader->sample_count >= 3;
    case PHOTOMETRIC_SEPARATED:
        samples->colors = 4;
        TIFFGetFieldDefaulted(tiff, TIFFTAG_INKSET, &inks);
        return bytes && reader->sample_count >= 4 && inks == INKSET_CMYK;
    default:
        return false;
    }
}

// Finds the pieces in which the image is decoded. False when they are larger than the image can need, or libtiff's
// sizes are no sizes.
static bool describe_blocks(kf_tiff_reader *reader) {
    TIFF *tiff = reader->tiff;
    const bool tiled = TIFFIsTiled(tiff);
    reader->block_width = reader->width;
    reader->block_height = 0;
    if (tiled) {
        TIFFGetField(tiff, TIFFTAG_TILEWIDTH, &reader->block_width);
        TIFFGetField(tiff, TIFFTAG_TILELENGTH, &reader->block_height);
    } else {
        TIFFGetFieldDefaulted(tiff, TIFFTAG_ROWSPERSTRIP, &reader->block_height);
        if (reader->block_height > reader->height) reader->block_height = reader->height;
    }
    reader->by_rows = !tiled && !reader->separate && !reader->converted;
    if (reader->by_rows) reader->block_height = 1;
    const uint64_t row = tiled ? TIFFTileRowSize64(tiff) : TIFFScanlineSize64(tiff);
    const uint64_t block = tiled ? TIFFTileSize64(tiff) : reader->by_rows ? row : TIFFStripSize64(tiff);
    // A kilobyte may announce tiles of gigabytes for an image of a few pixels.
    const uint64_t most = KF_TIFF_SPARE + (uint64_t)reader->width * reader->height * 8;
    if (reader->block_width == 0 || reader->block_height == 0 || row == 0 || block == 0) return false;
    if (block > most || row > most || reader->block_height > most / reader->width / 4) return false;
    reader->block_bytes = block;
    reader->block_stride = row;
    if (reader->converted) return true;
    const uint64_t samples = reader->separate ? 1 : reader->sample_count;
    const uint64_t used = (reader->block_width * samples * reader->samples.depth + 7) / 8;
    return used <= row && row <= block / reader->block_height;
}

// L*a*b* relates to a white; where the file names no white, daylight in offices (D50) is meant.
static void describe_white(TIFF *tiff, kf_tiff_header *header) {
    float *white = NULL;
    header->white[0] = 0.3457;
    header->white[1] = 0.3585;
    if (!TIFFGetField(tiff, TIFFTAG_WHITEPOINT, &white) || !white) return;
    if (!(white[0] > 0 && white[1] > 0 && white[0] + white[1] < 1)) return;
    header->white[0] = white[0];
    header->white[1] = white[1];
}

static kf_status describe(kf_tiff_reader *reader, kf_tiff_header *header, kf_message *message) {
    TIFF *tiff = reader->tiff;
    uint16_t compression = 0, depth = 1, format = 0, layout = 0, orientation = 0, photometric = 0, extra = 0, *kinds;
    TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &reader->width);
    TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &reader->height);
    if (reader->width == 0 || reader->height == 0) return kf_fail(message, KF_MALFORMED, "the image has no pixels");
    TIFFGetFieldDefaulted(tiff, TIFFTAG_COMPRESSION, &compression);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_BITSPERSAMPLE, &depth);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLESPERPIXEL, &reader->sample_count);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLEFORMAT, &format);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_PLANARCONFIG, &layout);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_ORIENTATION, &orientation);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_EXTRASAMPLES, &extra, &kinds);
    if (!TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &photometric)) {
        photometric = reader->sample_count >= 3 ? PHOTOMETRIC_RGB
            : is_fax(compression)               ? PHOTOMETRIC_MINISWHITE
                                                : PHOTOMETRIC_MINISBLACK;
    }
    if (!is_known_compression(compression)) {
        char text[60];
        snprintf(text, sizeof text, "compression %u is not supported", compression);
        return kf_fail(message, KF_UNSUPPORTED, text);
    }
    if (format != SAMPLEFORMAT_UINT && format != SAMPLEFORMAT_VOID) {
        return kf_fail(message, KF_UNSUPPORTED, "the samples are no unsigned numbers");
    }
    reader->separate = layout == PLANARCONFIG_SEPARATE && reader->sample_count > 1;
    reader->samples.depth = depth;
    for (uint16_t i = 0; i < KF_TIFF_COMPONENTS; i++) reader->sample[i] = i;
    reader->converted = !describe_samples(reader, photometric, compression);
    if (reader->converted) {
        char text[1024];
        if (!TIFFRGBAImageOK(tiff, text)) return kf_fail(message, KF_UNSUPPORTED, text);
        reader->samples.has_alpha = extra > 0;
        reader->samples.colors = 3;
    } else {
        find_alpha(reader);
    }
    if (!describe_blocks(reader)) {
        return kf_fail(message, KF_MALFORMED, "its strips or tiles do not go with its size");
    }
    header->width = reader->width;
    header->height = reader->height;
    header->orientation = orientation;
    header->components = reader->samples.colors;
    header->lab = reader->samples.lab;
    if (header->lab) describe_white(tiff, header);
    header->has_alpha = reader->samples.has_alpha;
    uint32_t icc_size = 0;
    void *icc = NULL;
    if (TIFFGetField(tiff, TIFFTAG_ICCPROFILE, &icc_size, &icc) && icc) {
        header->icc = icc;
        header->icc_size = icc_size;
    }
    return KF_OK;
}

static kf_tiff_reader *open_padded(
    const uint8_t *bytes, size_t size, size_t padding, uint64_t most, kf_tiff_header *header, kf_message *message
) {
    memset(header, 0, sizeof *header);
    kf_tiff_reader *reader = calloc(1, sizeof *reader);
    if (!reader) {
        kf_fail(message, KF_OUT_OF_MEMORY, "out of memory");
        return NULL;
    }
    reader->bytes = bytes;
    reader->size = size;
    reader->padding = padding;
    reader->damaged = padding > 0;
    reader->tiff = kf_tiff_open_quietly(reader, most);
    if (!reader->tiff) kf_tiff_fail(reader, message, KF_MALFORMED, "there is no directory");
    if (!reader->tiff || describe(reader, header, message) != KF_OK) {
        kf_tiff_close(reader);
        return NULL;
    }
    cut_blocks(reader);
    // Errors that did not prevent opening are not the reason why rows cannot be read.
    reader->library_error[0] = 0;
    return reader;
}

kf_tiff_reader *kf_tiff_open(
    const uint8_t *bytes, size_t size, uint64_t most_pixels, kf_tiff_header *header, kf_message *message
) {
    const size_t padding = 1 << 16;
    const uint64_t most = most_pixels < SIZE_MAX / 32 ? KF_TIFF_SPARE + most_pixels * 8 : SIZE_MAX / 4;
    kf_tiff_reader *reader = open_padded(bytes, size, 0, most, header, message);
    if (reader ? !reader->lacks_meaning : message->status != KF_MALFORMED) return reader;
    // Many programs write the values of tags last. Where some of their bytes are missing, most of them are zero: the
    // highest ones of numbers.
    kf_message second;
    kf_tiff_close(reader);
    reader = open_padded(bytes, size, padding, most, header, &second);
    if (!reader && message->status == KF_OK) *message = second;
    return reader;
}

void kf_tiff_close(kf_tiff_reader *reader) {
    if (!reader) return;
    if (reader->image_begun) TIFFRGBAImageEnd(&reader->image);
    if (reader->tiff) TIFFClose(reader->tiff);
    free(reader->blocks);
    free(reader->band);
    free(reader->alphas);
    free(reader);
}
#endif
