// What Linux offers and the Glibc module does not export.
#define _GNU_SOURCE
#include "CKFLinux.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <time.h>
#include <unistd.h>

#ifndef OVERLAYFS_SUPER_MAGIC
#define OVERLAYFS_SUPER_MAGIC 0x794c7630
#endif

// `STATX_ATTR_MOUNT_ROOT`, which headers before Linux 5.8 do not have.
#define KF_MOUNT_ROOT 0x2000

const int kf_o_noatime = O_NOATIME;

void kf_name_thread(const char *name) {
    char kept[16];  // the kernel refuses longer names instead of cutting them
    snprintf(kept, sizeof kept, "%s", name);
    pthread_setname_np(pthread_self(), kept);
}

static _Thread_local const void *thread_owner;

void kf_set_thread_owner(const void *owner) { thread_owner = owner; }
const void *kf_thread_owner(void) { return thread_owner; }

long kf_read_directory(int directory, void *buffer, size_t size) { return getdents64(directory, buffer, size); }

int kf_rename_if_free(int directory, const char *name, int new_directory, const char *new_name) {
    if (renameat2(directory, name, new_directory, new_name, RENAME_NOREPLACE) == 0) return 0;
    // Not every file system can; a second name for the same file can be given on most of the others.
    if (errno != EINVAL && errno != ENOSYS) return -1;
    return linkat(directory, name, new_directory, new_name, 0) == 0 ? unlinkat(directory, name, 0) : -1;
}

int kf_exchange(int directory, const char *name, int other_directory, const char *other_name) {
    return renameat2(directory, name, other_directory, other_name, RENAME_EXCHANGE);
}

uint64_t kf_file_system(int file) {
    struct statfs status;
    if (fstatfs(file, &status) != 0) return 0;
    // An overlay passes on the numbers of what lies below it, but not the kind. File systems that take new room for
    // every change (Btrfs, bcachefs, ZFS) are told by theirs: they have no fixed number of files.
    int is_fixed = status.f_files > 0 && status.f_ffree <= status.f_files && status.f_frsize == status.f_bsize;
    if ((uint32_t)status.f_type == OVERLAYFS_SUPER_MAGIC && !is_fixed) return 0;
    // The field is signed or not, 32 or 64 bits wide, depending on the machine; the numbers have 32 bits.
    return (uint32_t)status.f_type;
}

int kf_is_mount_root(int directory) {
    struct statx status;
    // Linux 5.8 and later say so; before, and where `statx` is forbidden, nobody does.
    if (statx(directory, "", AT_EMPTY_PATH, 0, &status) != 0) return 0;
    return (status.stx_attributes & status.stx_attributes_mask & KF_MOUNT_ROOT) != 0;
}

_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2, "locks would not work between processes");

uint64_t kf_shared_load(const void *number) {
    return atomic_load_explicit((const _Atomic uint64_t *)number, memory_order_acquire);
}

void kf_shared_store(void *number, uint64_t value) {
    atomic_store_explicit((_Atomic uint64_t *)number, value, memory_order_release);
}

uint64_t kf_shared_add(void *number, uint64_t amount) {
    return atomic_fetch_add_explicit((_Atomic uint64_t *)number, amount, memory_order_acq_rel);
}

uint64_t kf_shared_sum(const void *numbers, int count) {
    const _Atomic uint64_t *number = numbers;
    uint64_t sum = 0;
    for (int i = 0; i < count; i++) sum += atomic_load_explicit(number + i, memory_order_acquire);
    return sum;
}

int kf_lock_byte(int file, off_t place, int kind) {
    struct flock lock = {.l_type = (short)kind, .l_whence = SEEK_SET, .l_start = place, .l_len = 1};
    return fcntl(file, F_OFD_SETLK, &lock);
}

int64_t kf_coarse_milliseconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}
