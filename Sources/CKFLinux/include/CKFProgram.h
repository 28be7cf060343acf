// Programs that are started with three ends in our hands, and bounded.
#ifndef CKFPROGRAM_H
#define CKFPROGRAM_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// A program that runs.
typedef struct kf_program {
    pid_t process;
    /// A socket: what is written is what it reads as its input, what is read is its output. Never blocks.
    int exchange;
    /// What it writes as its errors is read here. Never blocks.
    int errors;
} kf_program;

/// Starts a program, which is looked for in the `PATH` of this process. `arguments` begin with its name; both lists end with a
/// null pointer. It has no other open files than its three and, as number 3, `companion` (-1: none),
/// and starts with no signal blocked or ignored. Answers 0, or the number of the error (`ENOENT`: there is no such program).
int kf_start_program(char *const arguments[], char *const environment[], int companion, kf_program *program);

/// What a program that runs may use from now on: bytes of memory of its own, seconds of processor time.
/// Lower limits stay. Answers 0, or the number of the error: then it may not be bounded (`EPERM`: it belongs to another user).
int kf_bound_program(pid_t process, uint64_t memory, uint64_t seconds);

/// Whether a program has ended; then its exit code is in `code` or, negative, the number of the signal that ended it. `code`
/// is 0 when somebody else in this process has asked before. Waits for the end when `waits` says so.
bool kf_has_ended(pid_t process, bool waits, int *code);

/// A file without a name that holds these bytes, as a descriptor; -1 with `errno` on failure.
int kf_file_in_memory(const void *bytes, size_t count);

#endif
