// What Swift cannot call by itself: settings of the C library's memory, and limits of the process. For the program.

#ifndef CKFSERVER_H
#define CKFSERVER_H

/// From now on, up to so many bytes that are freed at the ends of heaps are used again instead of going back to the
/// system: the kernel clears all pages that it gives out, which took a fifth of an image's time. Blocks above 32 MiB go
/// back at once. All threads share two heaps: many threads with heaps of their own would keep what each has freed.
///
/// To be called before there are threads.
void kf_server_keep_memory(int bytes);

/// Gives all that is free back to the system.
void kf_server_return_memory(void);

/// Lets the process have as many descriptors as it may; how many these are, at most a million.
int kf_server_raise_descriptor_limit(void);

#endif
