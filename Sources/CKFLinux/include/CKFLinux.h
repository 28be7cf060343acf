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

/// Has two files, both of which exist, change places. Answers 0; -1 with `errno` on failure (`EINVAL`: the file system cannot).
int kf_exchange(int directory, const char *name, int other_directory, const char *other_name);

/// The kind of file system an open file lies on (`f_type` of `statfs`), 0 if it cannot be told; also of an overlay over one
/// that keeps no room for files that are there.
uint64_t kf_file_system(int file);

/// Whether an open directory is where something was mounted; 0 also if that cannot be told.
int kf_is_mount_root(int directory);

/// A number in memory that several processes share; `number` is aligned to 8 bytes.
/// Reading sees all that happened before the addition whose result it reads.
uint64_t kf_shared_load(const void *number);

/// Replaces a number in memory that several processes share.
void kf_shared_store(void *number, uint64_t value);

/// Adds to a number in memory that several processes share and returns what it was.
uint64_t kf_shared_add(void *number, uint64_t amount);

/// The sum of `count` numbers in memory that several processes share.
uint64_t kf_shared_sum(const void *numbers, int count);

/// Locks one byte of an open file for this opening of it, or frees it (`F_RDLCK`, `F_WRLCK`, `F_UNLCK`), without
/// waiting; the kernel frees it with the last descriptor. Answers 0; -1 with `errno` on failure.
int kf_lock_byte(int file, off_t place, int kind);

/// Milliseconds of a clock that only goes forward, as of the last tick: no system call.
int64_t kf_coarse_milliseconds(void);

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
