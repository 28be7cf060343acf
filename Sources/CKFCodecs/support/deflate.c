// Checksums, compressed text and lines of PNG: by libdeflate, or, where it is missing, by zlib, which every system has;
// libpng compresses lines then.
#include "deflate.h"
#include "libraries.h"

#if KF_HAS_DEFLATE
#include <libdeflate.h>

uint32_t kf_crc32(const uint8_t *bytes, size_t size) { return libdeflate_crc32(0, bytes, size); }

size_t kf_png_inflate_text(const uint8_t *bytes, size_t size, uint8_t *text, size_t capacity) {
    struct libdeflate_decompressor *decompressor = libdeflate_alloc_decompressor();
    size_t length = 0;
    const bool done = decompressor
        && libdeflate_zlib_decompress(decompressor, bytes, size, text, capacity, &length) == LIBDEFLATE_SUCCESS;
    libdeflate_free_decompressor(decompressor);
    return done ? length : 0;
}

bool kf_deflate(const uint8_t *bytes, size_t size, int effort, kf_buffer *buffer) {
    struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(effort);
    if (!compressor) return false;
    const size_t room = libdeflate_zlib_compress_bound(compressor, size);
    const bool has_room = kf_buffer_reserve(buffer, room);
    if (has_room) {
        buffer->size += libdeflate_zlib_compress(compressor, bytes, size, buffer->bytes + buffer->size, room);
    }
    libdeflate_free_compressor(compressor);
    return has_room;
}
#else
#include <zlib.h>

uint32_t kf_crc32(const uint8_t *bytes, size_t size) { return (uint32_t)crc32_z(0, bytes, size); }

size_t kf_png_inflate_text(const uint8_t *bytes, size_t size, uint8_t *text, size_t capacity) {
    uLongf length = capacity;
    return uncompress(text, &length, bytes, size) == Z_OK ? length : 0;
}

bool kf_deflate(const uint8_t *bytes, size_t size, int effort, kf_buffer *buffer) {
    (void)bytes; (void)size; (void)effort; (void)buffer;
    return false;
}
#endif
