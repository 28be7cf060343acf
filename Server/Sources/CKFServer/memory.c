// Settings of the C library's memory.

#include "CKFServer.h"

#include <malloc.h>

void kf_server_limit_heap(void) {
    mallopt(M_MMAP_THRESHOLD, 256 << 10);
    mallopt(M_ARENA_MAX, 2);
}
