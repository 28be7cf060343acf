// Counts the allocations of this process, for the rows that say how many some work takes: these functions come before
// those of glibc, which do the work.
#define _GNU_SOURCE
#include "CBaseline.h"
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static atomic_bool is_counting;
static atomic_size_t allocations;

/// While nothing is counted, no more than a load: other rows must not become slower.
static inline void count(void) {
    if (atomic_load_explicit(&is_counting, memory_order_relaxed))
        atomic_fetch_add_explicit(&allocations, 1, memory_order_relaxed);
}

void *malloc(size_t size) {
    count();
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
    count();
    return __libc_calloc(number, size);
}

void *realloc(void *memory, size_t size) {
    count();
    return __libc_realloc(memory, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    count();
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
    if (alignment % sizeof(void *) || alignment & (alignment - 1) || !alignment) return EINVAL;
    count();
    void *aligned = __libc_memalign(alignment, size);
    if (!aligned) return ENOMEM;
    *memory = aligned;
    return 0;
}

bool baseline_start_counting_allocations(void) {
    atomic_store(&allocations, 0);
    atomic_store(&is_counting, true);
    // glibc allocates the text, as any library would: it must come here for that.
    char *text;
    bool is_counted = asprintf(&text, "counted") > 0 && atomic_load(&allocations) > 0;
    if (is_counted) free(text);
    atomic_store(&allocations, 0);
    return is_counted;
}

size_t baseline_stop_counting_allocations(void) {
    atomic_store(&is_counting, false);
    return atomic_load(&allocations);
}
