// Samples of a TIFF as pixels, shared by the two files that read it.
#ifndef KF_TIFF_ROWS_H
#define KF_TIFF_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The most samples of a pixel that are read: four inks and an alpha.
enum { KF_TIFF_COMPONENTS = 5 };

/// The meaning of samples.
typedef struct kf_tiff_samples {
    /// Bits a sample: 1, 2, 4 or 8 for one that is looked up in `table`, else 8 or 16.
    unsigned depth;
    /// One sample stands for all colours. Only one of 8 bits may have others beside it.
    bool indexed;
    uint32_t table[256];
    /// 1 grey, 3 red, green and blue, 4 inks; an alpha may follow.
    unsigned colors;
    bool has_alpha;
    /// Colours were multiplied by alpha.
    bool premultiplied;
    /// Grey: the lowest value is white.
    bool inverted;
    /// The colours are L*, a* and b*; the latter two have a sign.
    bool lab;
} kf_tiff_samples;

/// How many samples of a pixel are its colour; the alpha is the one behind them.
static inline unsigned kf_tiff_color_samples(const kf_tiff_samples *samples) {
    return samples->indexed ? 1 : samples->colors;
}

/// Makes pixels of samples: BGRA with straight alpha, or inks, or b*, a*, L* and
/// alpha, where 128 is no colour. Component i of pixel x lies `step` · x bytes behind
/// `components[i]`; indexed ones of less than 8 bits lie side by side from the highest bit on. The alpha of inks, for
/// which a pixel has no room, is written to `alphas`, a byte each.
void kf_tiff_unpack(
    const kf_tiff_samples *samples, const uint8_t *const components[KF_TIFF_COMPONENTS], size_t step, size_t count,
    uint8_t *pixels, uint8_t *alphas);

/// Makes R, G, B, A, multiplied by alpha if `has_alpha` and opaque otherwise, BGRA with straight alpha.
void kf_tiff_from_rgba(uint8_t *pixels, size_t count, bool has_alpha);

#endif
