// The pixels of a GIF frame, unpacked. Blocks, colours and animation are handled in Swift.
#include "../support/support.h"
#include <string.h>

enum { MOST_CODES = 4096, MOST_BITS = 12, ALPHABET = 256, CHUNK = 16 };
_Static_assert(KF_GIF_BEFORE == ALPHABET && KF_GIF_AFTER >= CHUNK, "the header and this file disagree");

// Codes come in blocks of at most 255 bytes, each after its length; a block without bytes ends them.
typedef struct {
    const uint8_t *at, *block_end, *end;
    uint64_t bits;
    unsigned count;
} code_reader;

static inline uint64_t load_little_endian(const uint8_t *bytes) {
    uint64_t word = 0;
    for (int i = 0; i < 8; i++) word |= (uint64_t)bytes[i] << (8 * i);
    return word;
}

// Makes sure that there are more than 56 bits, unless the data ends before.
static inline void refill(code_reader *reader) {
    if (reader->block_end - reader->at >= 8) {
        // More is put above the counted bits than is counted: the same bits come again with the next refill.
        reader->bits |= load_little_endian(reader->at) << reader->count;
        reader->at += (63 - reader->count) >> 3;
        reader->count |= 56;
        return;
    }
    while (reader->count <= 56) {
        if (reader->at == reader->block_end) {
            if (reader->at == reader->end || *reader->at == 0) return;
            size_t length = *reader->at++, left = (size_t)(reader->end - reader->at);
            reader->block_end = reader->at + (length < left ? length : left);
            if (reader->at == reader->block_end) return;
        }
        reader->bits |= (uint64_t)*reader->at++ << reader->count;
        reader->count += 8;
    }
}

// Copies chunk by chunk: what is written behind the last byte is overwritten later, or lies behind the pixels.
static inline void copy_string(uint8_t *to, const uint8_t *from, size_t length) {
    size_t done = 0;
    do {
        uint8_t chunk[CHUNK];
        memcpy(chunk, from + done, CHUNK);
        memcpy(to + done, chunk, CHUNK);
        done += CHUNK;
    } while (done < length);
}

// A code stands for pixels that have been unpacked before, so the table holds their positions: no string is ever taken
// apart, and the strings of the alphabet stand before the first pixel. What keeps all places within `memory`:
//  * every code that is looked up is below `next`, and `next` never exceeds MOST_CODES: each entry has been written;
//  * an entry's string ends at the latest one pixel behind those unpacked when the entry was made, a pixel that the
//    very code that makes the entry unpacks. Within that code's own string this is the last pixel; it equals the first.
size_t kf_gif_unpack(const uint8_t *bytes, size_t size, uint8_t *memory, size_t count) {
    uint32_t starts[MOST_CODES];
    uint16_t lengths[MOST_CODES];
    // Some writers begin with more bits than a colour has, and never use the codes between.
    if (size < 1 || bytes[0] < 1 || bytes[0] >= MOST_BITS || count == 0) return 0;
    const unsigned clear = 1u << bytes[0], first_size = bytes[0] + 1u;
    code_reader reader = {bytes + 1, bytes + 1, bytes + size, 0, 0};
    uint8_t *pixels = memory + ALPHABET;
    for (unsigned i = 0; i < ALPHABET; i++) memory[i] = (uint8_t)i;
    for (unsigned i = 0; i < clear; i++) starts[i] = i, lengths[i] = 1;

    unsigned code_size = first_size, next = clear + 2;
    uint32_t previous_start = 0;
    size_t previous_length = 0, done = 0;
    while (done < count) {
        if (reader.count < MOST_BITS) refill(&reader);
        if (reader.count < code_size) break;
        unsigned code = (unsigned)reader.bits & ((1u << code_size) - 1);
        reader.bits >>= code_size;
        reader.count -= code_size;
        if ((code & ~1u) == clear) {
            if (code != clear) break;
            code_size = first_size;
            next = clear + 2;
            previous_length = 0;
            continue;
        }
        if (previous_length > 0 && next < MOST_CODES) {
            starts[next] = previous_start;
            lengths[next] = (uint16_t)(previous_length + 1);
            next++;
        }
        if (code >= next || (code < clear && code >= ALPHABET)) break;
        size_t length = lengths[code];
        if (length > count - done) length = count - done;
        const uint8_t *string = memory + starts[code];
        copy_string(pixels + done, string, length);
        // The one string that ends with a pixel of its own.
        if (string + length > pixels + done && length > 1) pixels[done + length - 1] = pixels[done];
        previous_start = (uint32_t)(ALPHABET + done);
        previous_length = length;
        done += length;
        if (next == 1u << code_size && code_size < MOST_BITS) code_size++;
    }
    return done;
}

void kf_gif_color(const uint8_t *indices, size_t count, const uint32_t colors[256], uint32_t *pixels) {
    for (size_t i = 0; i < count; i++) pixels[i] = colors[indices[i]];
}
