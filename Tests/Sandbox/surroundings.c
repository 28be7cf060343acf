// Kernels, containers and services, as filters of system calls that are there before the process locks itself.
#define _GNU_SOURCE
#include "surroundings.h"
#if __has_include(<seccomp.h>)
#include <errno.h>
#include <sched.h>
#include <seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>

// What docker's profile denies a process without capabilities. Calls that only old kernels have are left out.
static const char *const denied[] = {
    "acct", "add_key", "bpf", "clock_adjtime", "clock_settime", "delete_module", "fanotify_init", "finit_module",
    "fsconfig", "fsmount", "fsopen", "get_mempolicy", "init_module", "io_uring_enter", "io_uring_register",
    "io_uring_setup", "ioperm", "iopl", "kcmp", "kexec_file_load", "kexec_load", "keyctl", "lookup_dcookie", "mbind",
    "mount", "move_mount", "move_pages", "name_to_handle_at", "open_by_handle_at", "open_tree", "perf_event_open",
    "pivot_root", "process_madvise", "process_vm_readv", "process_vm_writev", "quotactl", "reboot", "request_key",
    "set_mempolicy", "setdomainname", "sethostname", "setns", "settimeofday", "swapoff", "swapon", "syslog", "umount2",
    "unshare", "userfaultfd", "vhangup", NULL,
};
enum { NAMESPACES = 0x7E020000, CREATE_RULESET = 444 };

static bool refuse(scmp_filter_ctx filter, int call, int error) {
    return !seccomp_rule_add(filter, SCMP_ACT_ERRNO(error), call, 0);
}

static bool contain(scmp_filter_ctx filter) {
    bool ok = refuse(filter, SCMP_SYS(clone3), ENOSYS);
    for (const char *const *name = denied; ok && *name; name++) {
        int call = seccomp_syscall_resolve_name(*name);
        if (call >= 0) ok = refuse(filter, call, EPERM);
    }
    // Each flag that makes a namespace.
    for (unsigned long flag = 1; ok && flag <= NAMESPACES; flag <<= 1) {
        const struct scmp_arg_cmp has = {0, SCMP_CMP_MASKED_EQ, flag, flag};
        if (flag & NAMESPACES) ok = !seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1, has);
    }
    return ok;
}

// What SystemCallFilter=~@privileged @resources denies, and a decoder or its libraries might call.
static bool harden(scmp_filter_ctx filter) {
    static const int refused[] = {SCMP_SYS(capset), SCMP_SYS(setpriority), SCMP_SYS(setrlimit), SCMP_SYS(mbind)};
    bool ok = true;
    for (size_t i = 0; ok && i < sizeof refused / sizeof *refused; i++) ok = refuse(filter, refused[i], EPERM);
    return ok;
}

bool surround(surroundings wanted) {
    if (!wanted.container && !wanted.service && !wanted.no_landlock && !wanted.no_seccomp) return true;
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    if (!filter) return false;
    const struct scmp_arg_cmp mode = {0, SCMP_CMP_EQ, PR_SET_SECCOMP, 0};
    bool ok = (!wanted.container || contain(filter)) && (!wanted.service || harden(filter));
    if (ok && wanted.no_landlock) ok = refuse(filter, CREATE_RULESET, wanted.container ? EPERM : ENOSYS);
    if (ok && wanted.no_seccomp) {
        ok = refuse(filter, SCMP_SYS(seccomp), ENOSYS)
            && !seccomp_rule_add(filter, SCMP_ACT_ERRNO(EINVAL), SCMP_SYS(prctl), 1, mode);
    }
    // What is not refused here is the next filter's business.
    if (ok) ok = !seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ALLOW) && !seccomp_load(filter);
    seccomp_release(filter);
    return ok;
}
#else
// Without the library there is nothing but what there is.
bool surround(surroundings wanted) {
    return !wanted.container && !wanted.service && !wanted.no_landlock && !wanted.no_seccomp;
}
#endif
