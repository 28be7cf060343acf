// The pictures of a still AVIF, decoded by dav1d itself. Knows nothing of containers: it is told where the data lies.
#ifndef KF_AVIF_STILL_H
#define KF_AVIF_STILL_H

#include "avif_support.h"
#include <dav1d/dav1d.h>

/// Where the data of a still lies: that of its colours, and of its transparency when it has any. Nowhere: it is none that
/// dav1d is asked for.
typedef struct kf_avif_still {
    const uint8_t *color, *alpha;
    size_t color_size, alpha_size;
} kf_avif_still;

/// Looks for the data of a still in a run of bytes that begins and ends with it. Its parts have the sizes that `stats` says,
/// and stand in either order. Does nothing when what is there may be understood in two ways, or is more than one picture.
void kf_avif_find_still(
    const uint8_t *bytes, size_t size, const avifIOStats *stats, bool has_alpha, kf_avif_still *still);

/// A picture, and the decoder that has its memory.
typedef struct kf_av1_picture {
    Dav1dContext *context;
    Dav1dPicture picture;
} kf_av1_picture;

/// Decodes one picture, of this many pixels at most; nothing is written to the terminal, whatever the data. To be released
/// in any case.
kf_status kf_av1_decode(
    const uint8_t *bytes, size_t size, size_t max_pixel_count, kf_av1_picture *picture, kf_message *message);
void kf_av1_release(kf_av1_picture *picture);

/// Lends the planes of decoded pictures to an image; `alpha` is NULL for one without transparency. False, with nothing
/// done, when they are not what the image's container announced: libavif knows what to do then.
bool kf_avif_lend(avifImage *image, const kf_av1_picture *color, const kf_av1_picture *alpha);
/// Takes the planes away again.
void kf_avif_take_back(avifImage *image);

#endif
