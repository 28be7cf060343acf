// What Linux offers and the Glibc module does not export.
#ifndef CKFLINUX_H
#define CKFLINUX_H
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/xattr.h>
#include "CKFLifeCycle.h"
#include "CKFProgram.h"

/// The flag for opening a file without changing its access time.
extern const int kf_o_noatime;

/// Names the calling thread, as `top -H` and debuggers show it; at most 15 bytes are kept.
void kf_name_thread(const char *name);

/// Notes on the calling thread to what it belongs; nothing is done with the address.
void kf_set_thread_owner(const void *owner);

/// What was noted on the calling thread, NULL if nothing was.
const void *kf_thread_owner(void);

/// Reads entries of an open directory, as many as the buffer holds, in the kernel's layout (`linux_dirent64`).
/// Returns the bytes filled, 0 at the end, -1 with `errno` on failure.
long kf_read_directory(int directory, void *buffer, size_t size);

/// Moves a file, unless the new name is taken (`EEXIST`). Answers 0; -1 with `errno` on failure.
int kf_rename_if_free(int directory, const char *name, int new_directory, const char *new_name);

/// Fetches a cache line that is about to be written, without waiting for it; any address is allowed.
static inline void kf_prefetch_for_writing(const void *address) {
#if defined(__x86_64__)
    // The builtin fetches for reading unless the compiler is told that all processors of the target know this
    // instruction. All of them run it; those that do not know it do nothing.
    __asm__ volatile("prefetchw %0" : : "m"(*(const char *)address));
#else
    __builtin_prefetch(address, 1, 3);
#endif
}

/// The XXH3 checksum, 64 bits, of `count` bytes; the same on every machine.
uint64_t kf_checksum(const void *bytes, size_t count);

#endif
