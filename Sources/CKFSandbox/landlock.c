// Landlock: which files and connections a process may open. For sandbox.c.
//
// By raw system calls and constants of our own: the headers of some systems are older than their kernels.
#define _GNU_SOURCE
#include "locks.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

// The same numbers on all processors.
enum { CREATE_RULESET = 444, ADD_RULE = 445, RESTRICT_SELF = 446 };
enum { VERSION = 1, PATH_BENEATH = 1 };

// Rights on files, in the order in which versions of the ABI brought them.
enum {
    EXECUTE = 1 << 0,
    READ_FILE = 1 << 2,
    READ_FOLDER = 1 << 3,
    // All 13 of ABI 1; to link into other folders (2), to truncate (3), to control devices (5).
    OF_ABI_1 = (1 << 13) - 1,
    REFER = 1 << 13,
    TRUNCATE = 1 << 14,
    CONTROL = 1 << 15,
};
// To bind and to connect (4); abstract Unix sockets and signals (6).
enum { ALL_TCP = 3, ALL_SCOPES = 3 };

typedef struct ruleset {
    uint64_t files, tcp, scopes;
} ruleset;

typedef struct __attribute__((packed)) rule {
    uint64_t rights;
    int32_t folder;
} rule;

static ruleset everything(int abi) {
    return (ruleset){
        .files = OF_ABI_1 | (abi >= 2 ? REFER : 0) | (abi >= 3 ? TRUNCATE : 0) | (abi >= 5 ? CONTROL : 0),
        .tcp = abi >= 4 ? ALL_TCP : 0,
        .scopes = abi >= 6 ? ALL_SCOPES : 0,
    };
}

// Lets a file or folder be read. A file that is not there needs no rule.
static int permit(int rules, const char *path, uint64_t rights) {
    rule rule = {.rights = rights, .folder = open(path, O_PATH | O_CLOEXEC)};
    if (rule.folder < 0) return 0;
    int error = syscall(ADD_RULE, rules, PATH_BENEATH, &rule, 0) ? errno : 0;
    close(rule.folder);
    return error;
}

static int permit_each(int rules, const char *folder, const char *const *paths, uint64_t rights) {
    int error = 0;
    for (; !error && *paths; paths++) {
        char path[PATH_MAX];
        if (snprintf(path, sizeof path, "%s/%s", folder, *paths) < (int)sizeof path) {
            error = permit(rules, path, rights);
        }
    }
    return error;
}

// Where the user says that libraries are, too.
static int permit_libraries(int rules) {
    const char *folders = getenv("LD_LIBRARY_PATH");
    int error = 0;
    while (!error && folders) {
        const char *end = strchrnul(folders, ':');
        char path[PATH_MAX];
        int size = snprintf(path, sizeof path, "%.*s", (int)(end - folders), folders);
        if (size < (int)sizeof path) error = permit(rules, path, EXECUTE | READ_FILE);
        folders = *end ? end + 1 : NULL;
    }
    return error;
}

// What a program of the system loads, and where fonts are; of the user's home nothing but fonts.
static int permit_program(int rules, const char *program) {
    static const char *const code[] = {"usr", "lib", "lib32", "lib64", "bin", "nix/store", NULL};
    static const char *const data[] = {"etc/fonts", "var/cache/fontconfig", NULL};
    static const char *const homely[] = {
        ".fonts", ".local/share/fonts", ".config/fontconfig", ".cache/fontconfig", NULL
    };
    const char *home = getenv("HOME");
    int error = permit(rules, program, EXECUTE | READ_FILE);
    if (!error) error = permit(rules, "/etc/ld.so.cache", READ_FILE);
    if (!error) error = permit_each(rules, "", code, EXECUTE | READ_FILE | READ_FOLDER);
    if (!error) error = permit_libraries(rules);
    if (!error) error = permit_each(rules, "", data, READ_FILE | READ_FOLDER);
    if (!error && home) error = permit_each(rules, home, homely, READ_FILE | READ_FOLDER);
    return error;
}

int kf_lock_files(const char *program, int *abi) {
    // Any answer but a version means that there is none: an older kernel, one without it, or a container's filter.
    *abi = (int)syscall(CREATE_RULESET, NULL, 0, VERSION);
    if (*abi < 1) {
        *abi = 0;
        return 0;
    }
    const ruleset all = everything(*abi);
    int rules = (int)syscall(CREATE_RULESET, &all, sizeof all, 0);
    if (rules < 0) return errno;
    int error = program ? permit_program(rules, program) : 0;
    if (!error && syscall(RESTRICT_SELF, rules, 0)) error = errno;
    close(rules);
    return error;
}
