// Locks the calling process, one lock after the other; then it decodes, or becomes a program of the system.
#define _GNU_SOURCE
#include "CKFSandbox.h"
#include "locks.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

// Lowers a limit, never raises it.
static int limit(int resource, rlim_t most) {
    for (bool is_again = false;; is_again = true) {
        struct rlimit limits;
        if (getrlimit(resource, &limits)) return errno;
        if (limits.rlim_max > most) limits.rlim_max = most;
        if (limits.rlim_cur > most) limits.rlim_cur = most;
        if (!setrlimit(resource, &limits)) return 0;
        // Who has started this process lowers its limits, too: between these two calls, the second one would raise it.
        if (errno != EPERM || is_again) return errno;
    }
}

// The limit of processor time in seconds: a decoder in a loop ends also when its parent has died.
enum { MOST_SECONDS = 3600 };

static int lock_limits(void) {
    // Files in memory that it was given can still be written where they are mapped, but not made larger.
    int error = limit(RLIMIT_FSIZE, 0);
    if (!error) error = limit(RLIMIT_NOFILE, 64);
    if (!error) error = limit(RLIMIT_CPU, MOST_SECONDS);
    // Not 0, which concerns core files only: with 1 the kernel starts no program to handle a dump either.
    if (!error) error = limit(RLIMIT_CORE, 1);
    return error;
}

// Root has no more rights than others.
static int drop_capabilities(void) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {0}, held[_LINUX_CAPABILITY_U32S_3] = {0};
    if (!syscall(SYS_capset, &header, none)) return 0;
    // A service of systemd may not even ask (`SystemCallFilter=~@privileged`), and has none to drop.
    int error = errno;
    bool has_some = syscall(SYS_capget, &header, held);
    for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) has_some |= held[i].permitted || held[i].inheritable;
    return has_some ? error : 0;
}

// When memory is short, the kernel is to end this process and not its parent. Without /proc it chooses by size.
static void offer_to_end_first(void) {
    int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (file < 0) return;
    ssize_t written = write(file, "1000", 4);
    (void)written;
    close(file);
}

// The locks are those of the thread that calls. Where there is no /proc, there is no knowing.
static bool has_other_threads(void) {
    DIR *threads = opendir("/proc/self/task");
    if (!threads) return false;
    int count = 0;
    for (struct dirent *entry; (entry = readdir(threads));) count += entry->d_name[0] != '.';
    closedir(threads);
    return count > 1;
}

static int lock(const char *program, unsigned without, kf_sandbox_state *state, const char **step) {
    *state = (kf_sandbox_state){0};
    *step = "locking all threads, of which there may be one only";
    if (has_other_threads()) return EBUSY;
    offer_to_end_first();
    *step = "dropping capabilities";
    int error = drop_capabilities();
    if (error) return error;
    *step = "no_new_privs";
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) return errno;
    if (!(without & KF_SANDBOX_LIMITS)) {
        *step = "limits";
        error = lock_limits();
        state->limits = !error;
    }
    if (!error && !(without & KF_SANDBOX_LANDLOCK)) {
        *step = "Landlock";
        error = kf_lock_files(program, &state->landlock);
    }
    // The last one: it does not let the others be added.
    if (!error && !(without & KF_SANDBOX_SECCOMP)) {
        *step = "seccomp";
        error = kf_lock_calls(program, &state->seccomp);
    }
    return error;
}

// Handlers that would report a crash, as Swift's runtime installs them, do what is forbidden: another signal than that
// of the crash would end the process.
static void forget_crash_handlers(void) {
    static const int signals[] = {SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) signal(signals[i], SIG_DFL);
}

int kf_sandbox_lock(unsigned without, kf_sandbox_state *state, const char **step) {
    forget_crash_handlers();
    return lock(NULL, without, state, step);
}

// Finds a program as a shell does. Returns whether there is one.
static bool find(const char *name, char path[PATH_MAX]) {
    if (strchr(name, '/')) return snprintf(path, PATH_MAX, "%s", name) < PATH_MAX && !access(path, X_OK);
    const char *folders = getenv("PATH");
    while (folders) {
        const char *end = strchrnul(folders, ':');
        int size = snprintf(path, PATH_MAX, "%.*s/%s", (int)(end - folders), folders, name);
        if (size < PATH_MAX && !access(path, X_OK)) return true;
        folders = *end ? end + 1 : NULL;
    }
    return false;
}

int kf_sandbox_run(unsigned without, char *const words[], const char **step) {
    kf_sandbox_state state;
    char *path = malloc(PATH_MAX);
    *step = "finding it";
    if (!path || !words[0] || !find(words[0], path)) return ENOENT;
    int error = lock(path, without, &state, step);
    if (error) return error;
    *step = "executing it";
    execve(path, words, environ);
    return errno;
}
