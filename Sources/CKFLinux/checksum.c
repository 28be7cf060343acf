// The checksum of a piece of memory, by the library xxHash.
#include "CKFLinux.h"
#include "checksum_avx2.h"
#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t kf_checksum(const void *bytes, size_t count) {
#if KF_HAS_CHECKSUM_AVX2
    // Three times as fast, and the same result.
    if (__builtin_cpu_supports("avx2")) return kf_checksum_avx2(bytes, count);
#endif
    return XXH3_64bits(bytes, count);
}
