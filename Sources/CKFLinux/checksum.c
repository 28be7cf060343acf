// The checksum of a piece of memory: by the library xxHash, of which only the header is needed, or, where it is
// missing, by libcrypto, which is slower. The two differ: a file that a build with the other one has stored counts as
// damaged.
#include "CKFLinux.h"
#include "checksum_avx2.h"
#include <sys/random.h>

#if KF_HAS_XXHASH
#define XXH_INLINE_ALL
#include <xxhash.h>

static unsigned char secret[XXH3_SECRET_SIZE_MIN];

uint64_t kf_checksum(const void *bytes, size_t count) {
#if KF_HAS_CHECKSUM_AVX2
    // Three times as fast, and the same result.
    if (__builtin_cpu_supports("avx2")) return kf_checksum_avx2(bytes, count);
#endif
    return XXH3_64bits(bytes, count);
}

uint64_t kf_digest(const void *bytes, size_t count) {
    return XXH3_64bits_withSecret(bytes, count, secret, sizeof secret);
}
#else
#include <openssl/evp.h>
#include <string.h>

static unsigned char secret[32];
// Linked where it is needed; see CKFCodecs/support/libraries.c.
__attribute__((used, section(".swift1_autolink_entries"))) static const char kf_link_crypto[] = "-lcrypto";

// The first bytes of a HMAC with SHA-256. It fails when there is no memory, or when libcrypto's configuration forbids
// it.
static uint64_t beginning(const void *key, size_t key_size, const void *bytes, size_t count) {
    unsigned char code[32];
    uint64_t number;
    if (!EVP_Q_mac(NULL, "HMAC", NULL, "SHA256", NULL, key, key_size, bytes, count, code, sizeof code, NULL)) __builtin_trap();
    memcpy(&number, code, sizeof number);
    return number;
}

uint64_t kf_checksum(const void *bytes, size_t count) { return beginning("checksum", 8, bytes, count); }
uint64_t kf_digest(const void *bytes, size_t count) { return beginning(secret, sizeof secret, bytes, count); }
#endif

// Before any thread is there; without random numbers Swift's own would end the process, too.
__attribute__((constructor)) static void draw_secret(void) {
    if (getentropy(secret, sizeof secret) != 0) __builtin_trap();
}
