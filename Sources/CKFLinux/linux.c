// What Linux offers and the Glibc module does not export.
#define _GNU_SOURCE
#include "CKFLinux.h"
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>

const int kf_o_noatime = O_NOATIME;

void kf_name_thread(const char *name) {
    char kept[16];  // the kernel refuses longer names instead of cutting them
    snprintf(kept, sizeof kept, "%s", name);
    pthread_setname_np(pthread_self(), kept);
}
