// Functions of Linux that the Glibc module does not export.
#define _GNU_SOURCE
#include "CKFLinux.h"
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

const int kf_o_noatime = O_NOATIME;

void kf_name_thread(const char *name) {
    char kept[16];  // the kernel refuses longer names instead of cutting them
    snprintf(kept, sizeof kept, "%s", name);
    pthread_setname_np(pthread_self(), kept);
}

static _Thread_local const void *thread_owner;

void kf_set_thread_owner(const void *owner) { thread_owner = owner; }
const void *kf_thread_owner(void) { return thread_owner; }

static _Thread_local bool has_large_work;

void kf_set_large_work(bool is_large) { has_large_work = is_large; }
bool kf_has_large_work(void) { return has_large_work; }

const char *kf_code_path(void) {
    Dl_info code;
    return dladdr((const void *)kf_code_path, &code) ? code.dli_fname : NULL;
}

void kf_return_freed_memory(void) { malloc_trim(0); }

int kf_pipe(int ends[2]) {
    if (pipe2(ends, O_CLOEXEC) != 0) return -1;
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    return 0;
}

int kf_accept(int listener) { return accept4(listener, NULL, NULL, SOCK_CLOEXEC); }

long kf_read_directory(int directory, void *buffer, size_t size) { return getdents64(directory, buffer, size); }

int kf_rename_if_free(int directory, const char *name, int new_directory, const char *new_name) {
    if (renameat2(directory, name, new_directory, new_name, RENAME_NOREPLACE) == 0) return 0;
    // Not every file system can; a second name for the same file can be given on most of the others.
    if (errno != EINVAL && errno != ENOSYS) return -1;
    return linkat(directory, name, new_directory, new_name, 0) == 0 ? unlinkat(directory, name, 0) : -1;
}
