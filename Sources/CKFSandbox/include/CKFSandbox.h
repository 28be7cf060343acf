// Takes from the calling process, for good, what decoding does not need: files, network, programs. For
// KingfisherDecoder.
#ifndef CKFSANDBOX_H
#define CKFSANDBOX_H
#include <stdbool.h>

/// Locks that can be left out, to test what the others do.
enum kf_sandbox_locks { KF_SANDBOX_LANDLOCK = 1, KF_SANDBOX_SECCOMP = 2, KF_SANDBOX_LIMITS = 4 };

/// Which locks are in force.
typedef struct kf_sandbox_state {
    /// The ABI of the Landlock that is: files from 1 on, TCP from 4, signals and abstract Unix sockets from 6. 0: none.
    int landlock;
    /// Whether system calls are filtered.
    bool seccomp;
    /// Whether the size of files that it writes (0), the number of open files (64) and core dumps (none) are limited.
    bool limits;
} kf_sandbox_state;

/// Locks the calling process for the rest of its life. Called before any thread is started.
///
/// It can compute, in memory and threads of its own, and use the files it has. Opening one is refused (`EACCES`), since
/// libraries try that and go on without; anything else that the kernel offers ends the process with `SIGSYS`.
///
/// A lock that the kernel does not have, or that a container does not let this process have, is no error: `state` says
/// so. Memory and time are limited by who starts the process, who knows the image.
///
/// `without` has the bits of the locks to leave out. Returns 0, or an error number; then the process may be locked in
/// part and must end, and `step` says in a word or two what failed.
int kf_sandbox_lock(unsigned without, kf_sandbox_state *state, const char **step);

/// Makes the calling process a program of the system, which is looked for in the `PATH`, and locks it.
///
/// It can read and execute what is in the system's folders and where fonts are, and start threads. Whatever else it
/// tries is refused (`EACCES`, `ENOSYS`): it was not written to be locked. Without Landlock it can read all files that
/// its user can.
///
/// `words` are its name and its arguments, and end with a null pointer. Returns only when that failed: the error number
/// (`ENOENT`: there is no such program), and `step` as above.
int kf_sandbox_run(unsigned without, char *const words[], const char **step);

#endif
