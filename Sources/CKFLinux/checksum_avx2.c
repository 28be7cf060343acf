// The same checksum for processors that work on 32 bytes at a time; may only be called on one.
#include "checksum_avx2.h"

#if KF_HAS_CHECKSUM_AVX2
#include <immintrin.h>
#include <stdlib.h>
#include <string.h>

// The whole of the header-only library is compiled for them here, and for any processor in the other file.
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#define XXH_VECTOR XXH_AVX2
#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t kf_checksum_avx2(const void *bytes, size_t count) { return XXH3_64bits(bytes, count); }
#pragma clang attribute pop
#endif
