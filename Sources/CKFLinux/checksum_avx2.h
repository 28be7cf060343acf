// The same checksum for processors that work on 32 bytes at a time.
#ifndef CHECKSUM_AVX2_H
#define CHECKSUM_AVX2_H
#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__) && defined(__clang__)
#define KF_HAS_CHECKSUM_AVX2 1
uint64_t kf_checksum_avx2(const void *bytes, size_t count);
#endif

#endif
