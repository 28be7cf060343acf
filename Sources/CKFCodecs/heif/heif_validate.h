// Decides whether a HEIF file may be handed to libheif. Decodes nothing.
#ifndef KF_HEIF_VALIDATE_H
#define KF_HEIF_VALIDATE_H

#include "../support/support.h"

/// Sizes in pixels: of the largest image that has to be decoded, and of the primary one after it is turned, but not
/// cropped.
typedef struct kf_heif_size {
    uint32_t width, height, turned_width, turned_height;
    bool is_cropped;
} kf_heif_size;

/// Validates all that has to be decoded for the primary image: nothing may consist of itself, of more or larger parts
/// than an image of its size needs, or be another than announced.
kf_status kf_heif_validate(const uint8_t *bytes, size_t size, kf_heif_size *primary, kf_message *message);

#endif
