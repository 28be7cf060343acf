// The kind of PNG that holds all pixels of an image exactly in the fewest bits. Private to the writer.
#ifndef KF_PNG_COLORS_H
#define KF_PNG_COLORS_H

#include "CKFCodecs.h"

/// The most colours of a palette, and four times as many places to look them up in.
enum { KF_PNG_MOST_COLORS = 256, KF_PNG_COLOR_SLOTS = 1024 };

struct kf_png_colors {
    /// Distinct pixels, 0xAARRGGBB, in the order of their appearance, and how many there are; one more than fit when
    /// there are too many.
    uint32_t pixels[KF_PNG_MOST_COLORS], count;
    /// A hash table of their places, counted from 1.
    uint16_t slots[KF_PNG_COLOR_SLOTS];
    bool is_colored, has_alpha;
    /// The fewest bits that hold the first sample of all pixels.
    uint32_t grey_depth;
    /// Not all rows were looked at.
    bool is_partial;
};

typedef struct kf_png_kind {
    /// One of libpng's PNG_COLOR_TYPE_, and bits a sample.
    int type, depth;
} kf_png_kind;

/// Chooses by the bits of the rows and the palette before they are compressed. Without colours, or with those of a part
/// of the image only, it is red, green and blue, with alpha if `has_alpha`.
kf_png_kind kf_png_choose_kind(const kf_png_colors *colors, uint32_t width, uint32_t height, bool has_alpha);
/// The place of a pixel among the colours; it must be one of them.
uint32_t kf_png_color_index(const kf_png_colors *colors, uint32_t pixel);
/// Puts colours that are less than opaque first, and returns how many there are: only their alphas are written.
uint32_t kf_png_sort_colors(kf_png_colors *colors);

#endif
