// sRGB's transfer function as tables, between bytes and linear light.
#ifndef KF_SRGB_TABLES_H
#define KF_SRGB_TABLES_H

#include <stdint.h>

/// The linear light (0…1) of every byte: 256 numbers, made at the first call. Any thread.
const float *kf_srgb_linear_of_byte(void);
/// The linear light (0…KF_LIGHT) of every byte.
const int16_t *kf_srgb_light_of_byte(void);
/// The byte of every amount of light: KF_LIGHT + 1 bytes.
const uint8_t *kf_srgb_byte_of_light(void);

#endif
