// Unpacking the compressed text chunks of a PNG, which libpng would only hand out after the pixels.
#include "CKFCodecs.h"
#include <libdeflate.h>

size_t kf_png_inflate_text(const uint8_t *bytes, size_t size, uint8_t *text, size_t capacity) {
    struct libdeflate_decompressor *decompressor = libdeflate_alloc_decompressor();
    size_t length = 0;
    const bool done = decompressor
        && libdeflate_zlib_decompress(decompressor, bytes, size, text, capacity, &length) == LIBDEFLATE_SUCCESS;
    libdeflate_free_decompressor(decompressor);
    return done ? length : 0;
}
