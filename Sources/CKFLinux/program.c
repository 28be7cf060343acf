// Starting programs, limiting them and waiting for them. For SandboxedProcess, and for decoder processes.
#define _GNU_SOURCE
#include "CKFProgram.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

// How many descriptors a program begins with: the standard ones, and at most so many.
enum { STANDARD = 3, MOST = 16 };

static void close_all(const int *files, int count) {
    for (int i = 0; i < count; i++) {
        if (files[i] >= 0) close(files[i]);
    }
}

static int describe(posix_spawn_file_actions_t *actions, posix_spawnattr_t *attributes, const int *files, int count) {
    for (int i = 0; i < count; i++) {
        int error = posix_spawn_file_actions_adddup2(actions, files[i], i);
        if (error) return error;
    }
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
    // With an older glibc, files that other code opened without O_CLOEXEC stay open in the child.
    int error = posix_spawn_file_actions_addclosefrom_np(actions, count);
    if (error) return error;
#endif
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(attributes, &none);
    posix_spawnattr_setsigdefault(attributes, &all);
    return posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

static int spawn_with(
    const char *path, char *const arguments[], char *const environment[], const int *files, int count, pid_t *process
) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int error = posix_spawn_file_actions_init(&actions);
    if (error) return error;
    error = posix_spawnattr_init(&attributes);
    if (!error) {
        error = describe(&actions, &attributes, files, count);
        if (!error) error = posix_spawnp(process, path, &actions, &attributes, arguments, environment);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

// Starts a program whose descriptors are `files`, numbered from 0. It is looked for in the PATH unless it is a path.
static int spawn(
    const char *path, char *const arguments[], char *const environment[], const int *files, int count, pid_t *process
) {
    // With numbers above those they get in the child, none is overwritten before it is copied.
    int copies[MOST], error = 0;
    for (int i = 0; i < count; i++) {
        copies[i] = fcntl(files[i], F_DUPFD_CLOEXEC, count);
        if (copies[i] < 0) error = errno;
    }
    if (!error) error = spawn_with(path, arguments, environment, copies, count, process);
    close_all(copies, count);
    return error;
}

int kf_spawn(
    const char *path, char *const arguments[], char *const environment[], const int files[], int count, pid_t *process
) {
    if (count > MOST - STANDARD) return EINVAL;
    int null = open("/dev/null", O_RDWR | O_CLOEXEC), all[MOST] = {null, null, null};
    if (null < 0) return errno;
    for (int i = 0; i < count; i++) all[STANDARD + i] = files[i];
    int error = spawn(path, arguments, environment, all, STANDARD + count, process);
    close(null);
    return error;
}

// Where 0 to 2 are closed, the exchange must not get these numbers, or what this process prints would go into it; so
// other files take them. Returns how many were taken.
static int take_standard_numbers(int files[STANDARD]) {
    int count = 0, file = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (; file >= 0 && file < STANDARD; file = open("/dev/null", O_RDWR | O_CLOEXEC)) files[count++] = file;
    if (file >= 0) close(file);
    return count;
}

static int make_ends(int exchange[2], int errors[2]) {
    // A socket and no pipes: writing to a program that has ended must not raise a signal in this process.
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, exchange)) return errno;
    if (!pipe2(errors, O_CLOEXEC)) return 0;
    int error = errno;
    close_all(exchange, 2);
    return error;
}

int kf_start_program(char *const arguments[], char *const environment[], int companion, kf_program *program) {
    int exchange[2], errors[2], taken[STANDARD], count = take_standard_numbers(taken);
    int error = make_ends(exchange, errors);
    close_all(taken, count);
    if (error) return error;
    const int files[] = {exchange[1], exchange[1], errors[1], companion};
    error = spawn(arguments[0], arguments, environment, files, companion < 0 ? 3 : 4, &program->process);
    close(exchange[1]);
    close(errors[1]);
    if (error) {
        close(exchange[0]);
        close(errors[0]);
        return error;
    }
    fcntl(exchange[0], F_SETFL, O_NONBLOCK);
    fcntl(errors[0], F_SETFL, O_NONBLOCK);
    program->exchange = exchange[0];
    program->errors = errors[0];
    return 0;
}

// Lowers a limit, never raises it. Returns 0, also for a program that has ended already, or the error number.
static int bound(pid_t process, int resource, uint64_t limit) {
    struct rlimit wanted;
    if (prlimit(process, resource, NULL, &wanted)) return errno == ESRCH ? 0 : errno;
    if (wanted.rlim_cur > limit) wanted.rlim_cur = limit;
    if (wanted.rlim_max > limit) wanted.rlim_max = limit;
    return prlimit(process, resource, &wanted, NULL) && errno != ESRCH ? errno : 0;
}

int kf_bound_program(pid_t process, uint64_t memory, uint64_t seconds) {
    // Room for code and fonts, which are mapped; where only the address space can be limited, that limit holds.
    const uint64_t mapped = 1 << 30;
    int error = bound(process, RLIMIT_DATA, memory);
    if (!error) error = bound(process, RLIMIT_AS, memory + mapped);
    if (!error) error = bound(process, RLIMIT_CPU, seconds);
    // Not 0, which concerns core files only: with 1 the kernel starts no program to handle a dump either.
    if (!error) error = bound(process, RLIMIT_CORE, 1);
    // Not RLIMIT_STACK: the kernel sets that again at the end of exec, which may come after this.
    return error;
}

bool kf_has_ended(pid_t process, bool waits, int *code) {
    int status = 0;
    pid_t ended;
    do ended = waitpid(process, &status, waits ? 0 : WNOHANG);
    while (ended < 0 && errno == EINTR);
    if (ended == 0) return false;
    *code = WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
    return true;
}

int kf_file_in_memory(const void *bytes, size_t count) {
    int file = memfd_create("kingfisher", MFD_CLOEXEC);
    if (file < 0) return -1;
    // With pwrite the file offset stays 0, where the program begins to read.
    if (pwrite(file, bytes, count, 0) == (ssize_t)count) return file;
    close(file);
    return -1;
}
