// The rows of a TIFF through libtiff: one by one from strips, else by rows of tiles or planes.
#include "../support/libraries.h"
#if KF_HAS_TIFF
#include "tiff.h"
#include <stdlib.h>
#include <string.h>

static unsigned component_count(const kf_tiff_reader *reader) {
    return kf_tiff_color_samples(&reader->samples) + reader->samples.has_alpha;
}

// Takes the memory that decoding needs, once.
static bool prepare(kf_tiff_reader *reader, kf_message *message) {
    if (reader->blocks || reader->band) return true;
    if (reader->converted) {
        char text[1024];
        reader->image_begun = TIFFRGBAImageBegin(&reader->image, reader->tiff, 1, text);
        if (!reader->image_begun) {
            kf_fail(message, KF_UNSUPPORTED, text);
            return false;
        }
        // Rows are wanted as they are stored.
        reader->image.req_orientation = reader->image.orientation;
    } else {
        const size_t planes = reader->separate ? component_count(reader) : 1;
        reader->blocks = calloc(planes, reader->block_bytes);
    }
    const size_t pixels = (size_t)reader->width * reader->block_height;
    const bool has_alphas = reader->samples.colors == 4 && reader->samples.has_alpha;
    if (!reader->by_rows) reader->band = malloc(pixels * 4);
    if (has_alphas) reader->alphas = malloc(pixels);
    if ((!reader->converted && !reader->blocks) || (!reader->by_rows && !reader->band)
        || (has_alphas && !reader->alphas)) {
        kf_fail(message, KF_OUT_OF_MEMORY, "out of memory");
        return false;
    }
    return true;
}

// Makes pixels of one row of the block, or blocks, that have been decoded. `place` is where they lie in the band.
static void unpack(const kf_tiff_reader *reader, uint32_t row, size_t count, uint8_t *pixels, size_t place) {
    const uint8_t *components[KF_TIFF_COMPONENTS] = {NULL};
    const size_t bytes = reader->samples.depth == 16 ? 2 : 1;
    const uint8_t *start = reader->blocks + row * reader->block_stride;
    const unsigned wanted = component_count(reader);
    for (unsigned i = 0; i < wanted; i++) {
        components[i] = start + (reader->separate ? i * reader->block_bytes : reader->sample[i] * bytes);
    }
    const size_t step = bytes * (reader->separate ? 1 : reader->sample_count);
    kf_tiff_unpack(&reader->samples, components, step, count, pixels, reader->alphas ? reader->alphas + place : NULL);
}

// Decodes the first rows of the block at a place, of all planes that are of use.
static bool read_blocks(kf_tiff_reader *reader, uint32_t x, uint32_t y, uint32_t count) {
    TIFF *tiff = reader->tiff;
    const unsigned planes = reader->separate ? component_count(reader) : 1;
    for (unsigned i = 0; i < planes; i++) {
        uint8_t *block = reader->blocks + i * reader->block_bytes;
        const uint16_t plane = reader->separate ? reader->sample[i] : 0;
        const bool whole = count == reader->block_height || y + count == reader->height;
        const tmsize_t size = (tmsize_t)(whole ? reader->block_bytes : count * reader->block_stride);
        const tmsize_t done =
            TIFFIsTiled(tiff) ? TIFFReadEncodedTile(tiff, TIFFComputeTile(tiff, x, y, 0, plane), block, size)
                              : TIFFReadEncodedStrip(tiff, TIFFComputeStrip(tiff, y, plane), block, size);
        if (done < 0) return false;
    }
    return true;
}

// Decodes the first rows of the blocks side by side that the next row lies in.
static bool decode_band(kf_tiff_reader *reader, uint32_t count) {
    const uint32_t width = reader->width, first = reader->next_row;
    if (reader->converted) {
        reader->image.row_offset = (int)first;
        if (!TIFFRGBAImageGet(&reader->image, (uint32_t *)(void *)reader->band, width, count)) return false;
        kf_tiff_from_rgba(reader->band, (size_t)width * count, reader->image.alpha != 0);
    } else {
        for (uint32_t x = 0; x < width; x += reader->block_width) {
            if (!read_blocks(reader, x, first, count)) return false;
            const uint32_t columns = width - x < reader->block_width ? width - x : reader->block_width;
            for (uint32_t y = 0; y < count; y++) {
                const size_t place = (size_t)y * width + x;
                unpack(reader, y, columns, reader->band + place * 4, place);
            }
            if (columns < reader->block_width) break;
        }
    }
    reader->band_first = first;
    reader->band_rows = count;
    return true;
}

// The same for all of their rows, or for as many as can be decoded: libtiff does not say how far it came, so the
// number is found by halving.
static bool read_band(kf_tiff_reader *reader) {
    const uint32_t left = reader->height - reader->next_row;
    uint32_t good = 0, bad = left < reader->block_height ? left : reader->block_height;
    if (reader->ended) return false;
    if (decode_band(reader, bad)) return true;
    reader->ended = true;
    while (bad - good > 1) {
        const uint32_t middle = good + (bad - good) / 2;
        if (decode_band(reader, middle)) good = middle;
        else bad = middle;
    }
    return good > 0 && decode_band(reader, good);
}

uint32_t kf_tiff_read(kf_tiff_reader *reader, uint8_t *rows, size_t stride, uint32_t count, kf_message *message) {
    if (!prepare(reader, message)) return 0;
    uint32_t done = 0;
    for (; done < count && reader->next_row < reader->height; done++, reader->next_row++) {
        uint8_t *row = rows + done * stride;
        bool decoded = true;
        if (reader->by_rows) {
            decoded = TIFFReadScanline(reader->tiff, reader->blocks, reader->next_row, 0) > 0;
            if (decoded) unpack(reader, 0, reader->width, row, 0);
        } else {
            if (reader->next_row == reader->band_first + reader->band_rows) decoded = read_band(reader);
            const size_t size = (size_t)reader->width * 4;
            if (decoded) memcpy(row, reader->band + (reader->next_row - reader->band_first) * size, size);
        }
        if (!decoded) {
            kf_tiff_fail(reader, message, KF_MALFORMED, "the rows cannot be decoded");
            break;
        }
    }
    return done;
}

const uint8_t *kf_tiff_alphas(const kf_tiff_reader *reader) {
    if (!reader->alphas || reader->next_row == 0) return NULL;
    const size_t row = reader->by_rows ? 0 : reader->next_row - 1 - reader->band_first;
    return reader->alphas + row * reader->width;
}

bool kf_tiff_is_damaged(const kf_tiff_reader *reader) { return reader->damaged; }
#endif
