// Functions of Linux that the Glibc module does not export.
#ifndef CKFLINUX_H
#define CKFLINUX_H
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/xattr.h>
#include "CKFMessages.h"
#include "CKFNetlink.h"
#include "CKFProgram.h"

/// The flag for opening a file without changing its access time.
extern const int kf_o_noatime;

/// Names the calling thread, as `top -H` and debuggers show it; at most 15 bytes are kept.
void kf_name_thread(const char *name);

/// Records which object the calling thread belongs to; the address is never dereferenced.
void kf_set_thread_owner(const void *owner);

/// The object recorded for the calling thread, NULL if there is none.
const void *kf_thread_owner(void);

/// Records whether the work that the calling thread does now is large.
void kf_set_large_work(bool is_large);
bool kf_has_large_work(void);

/// The path of the library, test bundle or program that has this code, as it was loaded; NULL when that is not known.
const char *kf_code_path(void);

/// Gives memory that was freed back to the system.
void kf_return_freed_memory(void);

/// Makes a pipe that is closed on exec and whose second end, for writing, never blocks. Returns 0, -1 on failure.
int kf_pipe(int ends[2]);

/// Accepts a connection to a listening socket; its descriptor is closed on exec. Returns it, -1 with `errno` on
/// failure.
int kf_accept(int listener);

/// Reads entries of an open directory, as many as the buffer holds, in the kernel's layout (`linux_dirent64`).
/// Returns the bytes filled, 0 at the end, -1 with `errno` on failure.
long kf_read_directory(int directory, void *buffer, size_t size);

/// Moves a file, unless the new name is taken (`EEXIST`). Returns 0; -1 with `errno` on failure.
int kf_rename_if_free(int directory, const char *name, int new_directory, const char *new_name);

/// The XXH3 checksum, 64 bits, of `count` bytes; the same on every machine.
uint64_t kf_checksum(const void *bytes, size_t count);

/// A hash of `count` bytes by XXH3 with a secret that each process draws: who chooses bytes cannot choose hashes.
uint64_t kf_digest(const void *bytes, size_t count);

#endif
