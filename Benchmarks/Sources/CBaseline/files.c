// Reading and writing a file in as few system calls as possible.
#define _GNU_SOURCE
#include "CBaseline.h"
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

uint8_t *baseline_read(const char *path, size_t *size) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return NULL;
    struct stat status;
    uint8_t *bytes = NULL;
    if (fstat(file, &status) == 0) {
        bytes = malloc((size_t)status.st_size);
        if (bytes && read(file, bytes, (size_t)status.st_size) != status.st_size) {
            free(bytes);
            bytes = NULL;
        }
        *size = (size_t)status.st_size;
    }
    close(file);
    return bytes;
}

bool baseline_store(const char *temporary, const char *path, const uint8_t *bytes, size_t size) {
    int file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (file < 0) return false;
    bool is_whole = write(file, bytes, size) == (ssize_t)size;
    close(file);
    return is_whole && rename(temporary, path) == 0;
}

void baseline_spread(const char *folder) {
    int file = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file < 0) return;
    int flags = 0;
    if (ioctl(file, FS_IOC_GETFLAGS, &flags) == 0) {
        flags |= FS_TOPDIR_FL;
        ioctl(file, FS_IOC_SETFLAGS, &flags);
    }
    close(file);
}
