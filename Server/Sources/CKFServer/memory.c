// Settings of the C library's memory, and the limit of descriptors.

#include "CKFServer.h"

#include <malloc.h>
#include <sys/resource.h>

// The most that the C library allows for blocks that are not mapped one by one.
enum { largest_kept_block = 32 << 20, heap_count = 2 };

void kf_server_keep_memory(int bytes) {
    mallopt(M_MMAP_THRESHOLD, largest_kept_block);
    mallopt(M_TRIM_THRESHOLD, bytes / heap_count);
    mallopt(M_TOP_PAD, 1 << 20);
    mallopt(M_ARENA_MAX, heap_count);
}

void kf_server_return_memory(void) { malloc_trim(0); }

int kf_server_raise_descriptor_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024;
    struct rlimit raised = {limit.rlim_max, limit.rlim_max};
    if (setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
    return limit.rlim_cur > (1 << 20) ? 1 << 20 : (int)limit.rlim_cur;
}
