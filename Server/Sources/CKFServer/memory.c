// Settings of the C library's memory, and the limit of descriptors.

#include "CKFServer.h"

#include <malloc.h>
#include <sys/resource.h>

void kf_server_limit_heap(void) {
    mallopt(M_MMAP_THRESHOLD, 256 << 10);
    mallopt(M_ARENA_MAX, 2);
}

int kf_server_raise_descriptor_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024;
    struct rlimit raised = {limit.rlim_max, limit.rlim_max};
    if (setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
    return limit.rlim_cur > (1 << 20) ? 1 << 20 : (int)limit.rlim_cur;
}
