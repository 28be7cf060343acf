// The locks of a process, each in a file of its own. For sandbox.c.
#ifndef KF_LOCKS_H
#define KF_LOCKS_H
#include "CKFSandbox.h"

/// Takes all rights on files, on TCP and to reach other processes, as far as this kernel's Landlock knows them.
/// `program` is the path of a program that stays readable, with what programs of the system load; null: nothing stays.
/// `abi` becomes Landlock's version, or 0 where there is none. Returns 0, or the error number.
int kf_lock_files(const char *program, int *abi);

/// Permits the system calls that computing takes. `program` is the path, this very string, with which the process may
/// call execve, and then those that programs of the system need are permitted, too; null: none. `locked` becomes false
/// where the kernel has no such filters. Returns 0, or the error number.
int kf_lock_calls(const char *program, bool *locked);

#endif
