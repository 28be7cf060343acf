// Code shared by reading and writing AVIF, and by the versions of libavif.
#ifndef KF_AVIF_SUPPORT_H
#define KF_AVIF_SUPPORT_H

#include "../support/support.h"
#include <stdlib.h>

#include <avif/avif.h>

/// Records a failure, with the text of `details` if there is any.
static inline kf_status kf_avif_fail(kf_message *message, avifResult result, const char *details) {
    kf_status status = KF_MALFORMED;
    switch (result) {
#if AVIF_VERSION >= 110000
    case AVIF_RESULT_OUT_OF_MEMORY: status = KF_OUT_OF_MEMORY; break;
#endif
    case AVIF_RESULT_NO_CODEC_AVAILABLE:
    case AVIF_RESULT_UNSUPPORTED_DEPTH:
    case AVIF_RESULT_NOT_IMPLEMENTED: status = KF_UNSUPPORTED; break;
    default: break;
    }
    return kf_fail(message, status, details && details[0] ? details : avifResultToString(result));
}

/// Whether there is memory for the planes of an image. libavif before 1.0 ends the process when it gets none, so it
/// is allocated here on trial. Another thread may take it in between; that cannot be prevented from here.
static inline bool kf_avif_has_room(const avifImage *image) {
#if AVIF_VERSION < 1000000
    // Three planes of colour and one of alpha at most.
    void *volatile memory = malloc((size_t)image->width * image->height * 4 * (image->depth > 8 ? 2 : 1));
    free(memory);
    return memory != NULL;
#else
    (void)image;
    return true;
#endif
}

/// White, red, green and blue of primaries, as x, y pairs.
static inline void kf_avif_find_chromaticities(avifColorPrimaries primaries, double chromaticities[8]) {
    float xy[8];
    avifColorPrimariesGetValues(primaries, xy);
    // libavif has red, green, blue, white; here white comes first.
    for (int i = 0; i < 8; i++) chromaticities[(i + 2) % 8] = xy[i];
}

/// Writes a decoded image as rows of BGRA, with colours multiplied by alpha or not.
avifResult kf_avif_to_bgra(const avifImage *image, uint8_t *rows, size_t stride, bool premultiplied);

#endif
