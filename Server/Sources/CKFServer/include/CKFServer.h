// What Swift cannot call by itself: settings of the C library's memory, and limits of the process. For the program.

#ifndef CKFSERVER_H
#define CKFSERVER_H

/// From now on, blocks as large as the pixels of images go back to the system when they are freed, and all threads take
/// smaller ones from the same places: many threads with places of their own would keep what each has freed.
///
/// To be called before there are threads.
void kf_server_limit_heap(void);

/// Lets the process have as many descriptors as it may; how many these are, at most a million.
int kf_server_raise_descriptor_limit(void);

#endif
