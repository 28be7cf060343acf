// sRGB's transfer function as a table, from bytes to linear light.
#ifndef KF_SRGB_TABLES_H
#define KF_SRGB_TABLES_H

/// The linear light (0…1) of every byte: 256 numbers, made at the first call. Any thread.
const float *kf_srgb_linear_of_byte(void);

#endif
