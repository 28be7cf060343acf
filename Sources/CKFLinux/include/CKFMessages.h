// Messages between two processes, with files attached, and memory that both map.
#ifndef CKFMESSAGES_H
#define CKFMESSAGES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// How many files a message may have.
enum { KF_MOST_FILES = 2 };

/// Makes the two ends of a connection that keeps messages apart. Returns 0, -1 with `errno` on failure.
int kf_message_ends(int ends[2]);

/// Sends a message with up to `KF_MOST_FILES` files. Returns 0, or -1 with `errno` (`EPIPE`: the other end is closed).
int kf_send_message(int end, const void *bytes, size_t count, const int files[], int file_count);

/// Receives a message, waiting for it where `waits` is set. Its files are in `files`, their number in `file_count`.
/// Returns the number of bytes, 0 when the other end is closed, or -1 with `errno`: `EAGAIN` when there is none,
/// `EBADMSG` for a message that is longer than `capacity` or has too many files.
ssize_t kf_receive_message(int end, void *bytes, size_t capacity, bool waits, int files[KF_MOST_FILES], int *file_count);

/// A file without a name, of zeros, that can become neither shorter nor longer. Returns it, -1 with `errno` on failure.
int kf_make_memory(size_t count);

/// Lets later mappings of the file only read it; those that exist stay as they are. Returns 0, -1 with `errno`.
int kf_let_others_read(int file);

/// Sets how many bytes of address space a process may use from now on, within its hard limit. Returns 0, or the error
/// number (`ESRCH`: it has ended).
int kf_limit_addresses(pid_t process, uint64_t bytes);

/// Advises the kernel to back the whole pages of this memory with large ones.
void kf_prefer_large_pages(void *memory, size_t count);

/// Memory that is freed stays in this process, where the next image needs it again: the kernel need not zero it.
void kf_keep_freed_memory(size_t count);

#endif
