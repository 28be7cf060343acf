// The ends of a process and of its memory.
#ifndef CKFLIFECYCLE_H
#define CKFLIFECYCLE_H

/// Gives memory that was freed back to the system.
void kf_return_freed_memory(void);

/// Makes a pipe that is closed on exec and whose second end, for writing, never blocks. Answers 0, or -1.
int kf_pipe(int ends[2]);

/// From now on a signal has no effect but that its number is written to `descriptor` as one byte, until
/// `kf_release_signal` or until it comes once more. Answers 0; -1 if the signal is ignored, and stays so, or cannot be held.
int kf_hold_signal(int number, int descriptor);

/// Lets a held signal have the effect it had before, on this thread; if the process lives on, the signal is held again.
void kf_release_signal(int number);

#endif
