// System calls: which of them a process may make. For sandbox.c. Without libseccomp none is filtered, as where the
// kernel has no filters.
#define _GNU_SOURCE
#include "locks.h"
#if __has_include(<seccomp.h>)
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

// Of newer headers.
enum { GET_SEALS = 1034 };

// Lists end with a null pointer; a call that this processor, or this libseccomp, does not know is left out.
static const char *const computing[] = {
    "brk", "munmap", "mremap", "madvise",
    "futex", "gettid", "getpid", "set_tid_address", "set_robust_list", "rseq", "membarrier", "exit", "exit_group",
    "sched_yield", "sched_getaffinity", "getcpu", "uname", "sysinfo", "getrusage", "getrlimit",
    "getuid", "geteuid", "getgid", "getegid",
    "clock_gettime", "clock_getres", "clock_nanosleep", "nanosleep", "gettimeofday", "time", "getrandom",
    "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigaltstack", "restart_syscall",
    "read", "readv", "pread64", "write", "writev", "lseek", "fstat", "close", "poll", "ppoll",
    "recvmsg", "recvfrom", "sendmsg", "sendto", "shutdown", NULL,
};
// What a program needs to be loaded, to find fonts, and to have a main loop.
static const char *const loading[] = {
    "mmap", "mprotect", "arch_prctl", "fadvise64", "getdents64", "statfs", "fstatfs", "dup", "dup2", "dup3", "pipe2",
    "eventfd2", "epoll_create1", "epoll_ctl", "epoll_wait", "epoll_pwait", NULL,
};
static const char *const finding_files[] = {
    "access", "faccessat", "faccessat2", "stat", "lstat", "newfstatat", "statx", "readlink", "readlinkat", "getcwd",
    NULL,
};
static const char *const opening_files[] = {"open", "openat", NULL};

// Adds the same rule for each of these calls. Returns 0, or the negative error number, as libseccomp does.
static int add(scmp_filter_ctx filter, uint32_t action, const char *const *names) {
    int error = 0;
    for (; !error && *names; names++) {
        int call = seccomp_syscall_resolve_name(*names);
        if (call >= 0) error = seccomp_rule_add(filter, action, call, 0);
    }
    return error;
}

// A call that is permitted for one argument: its index, how it is compared, and with what.
typedef struct condition {
    int call;
    struct scmp_arg_cmp argument;
} condition;

// abort(), which sends the signal to its own thread.
static int permit_aborting(scmp_filter_ctx filter) {
    const struct scmp_arg_cmp conditions[] = {
        {0, SCMP_CMP_EQ, (scmp_datum_t)getpid(), 0}, {2, SCMP_CMP_EQ, SIGABRT, 0}
    };
    return seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 2, conditions);
}

static int add_conditions(scmp_filter_ctx filter, uint32_t action, const condition *conditions, size_t count) {
    int error = 0;
    for (size_t i = 0; !error && i < count; i++) {
        error = seccomp_rule_add(filter, action, conditions[i].call, 1, conditions[i].argument);
    }
    return error;
}

static int permit_computing(scmp_filter_ctx filter) {
    const condition conditions[] = {
        // A thread, no process.
        {SCMP_SYS(clone), {0, SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD}},
        // To read limits, not to change them.
        {SCMP_SYS(prlimit64), {2, SCMP_CMP_EQ, 0, 0}},
        {SCMP_SYS(prctl), {0, SCMP_CMP_EQ, PR_SET_NAME, 0}},
        // Others have the kernel send signals to other processes.
        {SCMP_SYS(fcntl), {1, SCMP_CMP_EQ, F_GETFL, 0}},
        {SCMP_SYS(fcntl), {1, SCMP_CMP_EQ, F_SETFL, 0}},
        {SCMP_SYS(fcntl), {1, SCMP_CMP_EQ, F_GETFD, 0}},
        {SCMP_SYS(fcntl), {1, SCMP_CMP_EQ, F_SETFD, 0}},
        {SCMP_SYS(fcntl), {1, SCMP_CMP_EQ, F_DUPFD_CLOEXEC, 0}},
        {SCMP_SYS(fcntl), {1, SCMP_CMP_EQ, GET_SEALS, 0}},
    };
    int error = add(filter, SCMP_ACT_ALLOW, computing);
    if (!error) error = permit_aborting(filter);
    if (!error) error = add_conditions(filter, SCMP_ACT_ALLOW, conditions, sizeof conditions / sizeof *conditions);
    // What is printed to is no terminal.
    if (!error) error = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOTTY), SCMP_SYS(ioctl), 0);
    return error;
}

static int rules_of_decoder(scmp_filter_ctx filter) {
    const condition permitted[] = {
        // Memory becomes no code.
        {SCMP_SYS(mmap), {2, SCMP_CMP_MASKED_EQ, PROT_EXEC, 0}},
        {SCMP_SYS(mprotect), {2, SCMP_CMP_MASKED_EQ, PROT_EXEC, 0}},
    };
    // Allocators give their memory names.
    const condition other = {SCMP_SYS(prctl), {0, SCMP_CMP_NE, PR_SET_NAME, 0}};
    int error = add_conditions(filter, SCMP_ACT_ALLOW, permitted, sizeof permitted / sizeof *permitted);
    if (!error) error = add_conditions(filter, SCMP_ACT_ERRNO(EPERM), &other, 1);
    if (!error) error = add(filter, SCMP_ACT_ERRNO(EACCES), finding_files);
    if (!error) error = add(filter, SCMP_ACT_ERRNO(EACCES), opening_files);
    // What it is to make lies in memory, where a filter cannot look; threads are then made with clone.
    if (!error) error = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
    return error;
}

static int rules_of_program(scmp_filter_ctx filter, const char *program) {
    const uint64_t writing = O_ACCMODE | O_CREAT | O_TRUNC;
    const condition conditions[] = {
        // Once: the program that is executed does not know this address.
        {SCMP_SYS(execve), {0, SCMP_CMP_EQ, (scmp_datum_t)(uintptr_t)program, 0}},
        {SCMP_SYS(openat), {2, SCMP_CMP_MASKED_EQ, writing, O_RDONLY}},
        {SCMP_SYS(open), {1, SCMP_CMP_MASKED_EQ, writing, O_RDONLY}},
    };
    int error = add_conditions(filter, SCMP_ACT_ALLOW, conditions, sizeof conditions / sizeof *conditions);
    if (!error) error = add(filter, SCMP_ACT_ALLOW, loading);
    if (!error) error = add(filter, SCMP_ACT_ALLOW, finding_files);
    return error;
}

static int load(scmp_filter_ctx filter, const char *program) {
    // Calls as a program of another kind makes them, of 32 bits, are no way around.
    int error = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
    if (!error) error = permit_computing(filter);
    if (!error) error = program ? rules_of_program(filter, program) : rules_of_decoder(filter);
    return error ? error : seccomp_load(filter);
}

int kf_lock_calls(const char *program, bool *locked) {
    // Kernels before 4.14 cannot end a process, and those of some containers have no filters at all.
    uint32_t action = SECCOMP_RET_KILL_PROCESS;
    *locked = false;
    if (syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action)) return 0;
    // Programs take other ways when the kernel does not know a call.
    scmp_filter_ctx filter = seccomp_init(program ? SCMP_ACT_ERRNO(ENOSYS) : SCMP_ACT_KILL_PROCESS);
    if (!filter) return ENOMEM;
    int error = -load(filter, program);
    seccomp_release(filter);
    *locked = !error;
    return error;
}

// Linked where it is compiled; see CKFCodecs/support/libraries.c.
__attribute__((used, section(".swift1_autolink_entries"))) static const char kf_link_seccomp[] = "-lseccomp";
#else
int kf_lock_calls(const char *program, bool *locked) {
    (void)program;
    *locked = false;
    return 0;
}
#endif
