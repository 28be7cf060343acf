// Bare libtiff.
#include "CBaseline.h"
#include <stdlib.h>
#include <tiffio.h>

uint8_t *baseline_tiff(const char *path, size_t *width, size_t *height) {
    TIFF *file = TIFFOpen(path, "r");
    if (!file) return NULL;
    uint32_t columns = 0, rows = 0;
    uint8_t *pixels = NULL;
    if (TIFFGetField(file, TIFFTAG_IMAGEWIDTH, &columns) && TIFFGetField(file, TIFFTAG_IMAGELENGTH, &rows)) {
        const size_t length = (size_t)TIFFScanlineSize(file) * rows;
        size_t done = 0;
        pixels = malloc(length);
        for (uint32_t strip = 0; pixels && strip < TIFFNumberOfStrips(file); strip++) {
            const tmsize_t count = TIFFReadEncodedStrip(file, strip, pixels + done, (tmsize_t)(length - done));
            if (count < 0) break;
            done += (size_t)count;
        }
        if (pixels && done != length) {
            free(pixels);
            pixels = NULL;
        }
    }
    TIFFClose(file);
    *width = columns;
    *height = rows;
    return pixels;
}
