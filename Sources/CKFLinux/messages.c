// Messages between two processes, with files attached, and memory that both map. For MessageSocket and SharedMemory.
#define _GNU_SOURCE
#include "CKFMessages.h"
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

// Since Linux 5.1, and newer than the headers of some systems.
enum { SEAL_FUTURE_WRITE = 0x0010 };

// Room for the files of a message, aligned as their header has to be.
typedef union attachment {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int) * KF_MOST_FILES)];
} attachment;

int kf_message_ends(int ends[2]) { return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends); }

int kf_send_message(int end, const void *bytes, size_t count, const int files[], int file_count) {
    struct iovec part = {.iov_base = (void *)bytes, .iov_len = count};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    attachment room = {0};
    if (file_count > 0) {
        message.msg_control = room.bytes;
        message.msg_controllen = CMSG_SPACE(sizeof(int) * file_count);
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int) * file_count);
        memcpy(CMSG_DATA(header), files, sizeof(int) * file_count);
    }
    ssize_t sent;
    // There is room for many: an end that takes none of them does not hold this one up.
    do sent = sendmsg(end, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (sent < 0 && errno == EINTR);
    return sent == (ssize_t)count ? 0 : -1;
}

// Returns how many files a message brought.
static int take_files(struct msghdr *message, int files[KF_MOST_FILES]) {
    struct cmsghdr *header = CMSG_FIRSTHDR(message);
    if (!header || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) return 0;
    int count = (int)((header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
    memcpy(files, CMSG_DATA(header), sizeof(int) * count);
    return count;
}

ssize_t kf_receive_message(int end, void *bytes, size_t capacity, bool waits, int files[KF_MOST_FILES], int *file_count) {
    struct iovec part = {.iov_base = bytes, .iov_len = capacity};
    attachment room;
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = room.bytes, .msg_controllen = sizeof room.bytes
    };
    ssize_t count;
    do count = recvmsg(end, &message, MSG_CMSG_CLOEXEC | (waits ? 0 : MSG_DONTWAIT));
    while (count < 0 && errno == EINTR);
    *file_count = count < 0 ? 0 : take_files(&message, files);
    if (count < 0 || !(message.msg_flags & (MSG_TRUNC | MSG_CTRUNC))) return count;
    for (int i = 0; i < *file_count; i++) close(files[i]);
    *file_count = 0;
    errno = EBADMSG;
    return -1;
}

int kf_make_memory(size_t count) {
    int file = memfd_create("kingfisher", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file < 0) return -1;
    if (!ftruncate(file, (off_t)count) && !fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW)) return file;
    int error = errno;
    close(file);
    errno = error;
    return -1;
}

int kf_let_others_read(int file) { return fcntl(file, F_ADD_SEALS, SEAL_FUTURE_WRITE | F_SEAL_SEAL); }

int kf_limit_addresses(pid_t process, uint64_t bytes) {
    struct rlimit limits;
    if (prlimit(process, RLIMIT_AS, NULL, &limits)) return errno;
    limits.rlim_cur = bytes < limits.rlim_max ? bytes : limits.rlim_max;
    return prlimit(process, RLIMIT_AS, &limits, NULL) ? errno : 0;
}

void kf_prefer_large_pages(void *memory, size_t count) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t begin = ((uintptr_t)memory + page - 1) & ~(page - 1), end = ((uintptr_t)memory + count) & ~(page - 1);
    if (end > begin) madvise((void *)begin, end - begin, MADV_HUGEPAGE);
}

void kf_keep_freed_memory(size_t count) {
    mallopt(M_TRIM_THRESHOLD, (int)count);
    mallopt(M_TOP_PAD, 1 << 20);
    mallopt(M_MMAP_THRESHOLD, (int)count);
    // Each arena of another thread would take 64 MB of the addresses that are limited.
    mallopt(M_ARENA_MAX, 2);
}
