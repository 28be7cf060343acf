// The library that checksums come from, and the same checksum for processors that work on 32 bytes at a time.
#ifndef CHECKSUM_AVX2_H
#define CHECKSUM_AVX2_H
#include <stddef.h>
#include <stdint.h>

#if __has_include(<xxhash.h>)
#define KF_HAS_XXHASH 1
#else
#define KF_HAS_XXHASH 0
#endif

#if KF_HAS_XXHASH && defined(__x86_64__) && defined(__clang__)
#define KF_HAS_CHECKSUM_AVX2 1
uint64_t kf_checksum_avx2(const void *bytes, size_t count);
#endif

#endif
