// The parts of a header, already read and checked by libpng, that the fast way of reading PNG needs.
#ifndef KF_PNG_LAYOUT_H
#define KF_PNG_LAYOUT_H

#include "CKFCodecs.h"

typedef struct kf_png_layout {
    uint32_t width, height;
    /// Bits a component, and components a pixel (an index is one).
    uint32_t depth, components;
    bool interlaced;
    /// The file ends inside a chunk.
    bool cut;
    /// One component is an index into `palette`: 0x00RRGGBB, with `palette_alpha` apart.
    bool indexed;
    uint32_t palette[256];
    uint8_t palette_alpha[256];
    /// The one colour that is transparent, as components of the file's depth.
    bool has_key;
    uint16_t key[3];
    /// From the beginning of the first IDAT chunk to the end of the file.
    const uint8_t *chunks;
    size_t chunks_size;
} kf_png_layout;

/// Describes the file of a reader from which no rows have been read yet.
void kf_png_describe_layout(kf_png_reader *reader, kf_png_layout *layout);

#endif
