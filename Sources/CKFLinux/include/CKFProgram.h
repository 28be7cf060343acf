// Programs that are started with their input, output and standard error connected to this process, and limited.
#ifndef CKFPROGRAM_H
#define CKFPROGRAM_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// Starts the program at `path`: with no signal blocked or ignored, its standard descriptors on /dev/null, and no open
/// file but `files`, of which the first becomes number 3 (at most 13 of them). Both lists of strings end with a null
/// pointer. Returns 0, or the error number (`ENOENT`: there is no such program).
int kf_spawn(
    const char *path, char *const arguments[], char *const environment[], const int files[], int count, pid_t *process
);

/// A program that runs.
typedef struct kf_program {
    pid_t process;
    /// A socket: writing to it is the program's input, reading from it the program's output. Never blocks.
    int exchange;
    /// The pipe from which the program's standard error is read. Never blocks.
    int errors;
} kf_program;

/// Starts a program, which is looked for in the `PATH` of this process. `arguments` begin with its name; both lists end
/// with a null pointer. It has no open files but its standard descriptors and, as number 3, `companion` (-1: none), and
/// starts with no signal blocked or ignored. Returns 0, or the error number (`ENOENT`: there is no such program).
int kf_start_program(char *const arguments[], char *const environment[], int companion, kf_program *program);

/// Limits what a running program may use from now on: bytes of memory of its own, seconds of processor time. Lower
/// limits stay. Returns 0, or the error number: then it may not be limited (`EPERM`: it belongs to another user).
int kf_bound_program(pid_t process, uint64_t memory, uint64_t seconds);

/// Whether a program has ended; then its exit code is in `code` or, negative, the number of the signal that ended it.
/// `code` is 0 when other code of this process has collected it before. With `waits`, waits for the end.
bool kf_has_ended(pid_t process, bool waits, int *code);

/// A file without a name that holds these bytes, as a descriptor; -1 with `errno` on failure.
int kf_file_in_memory(const void *bytes, size_t count);

#endif
