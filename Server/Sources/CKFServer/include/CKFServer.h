// What Swift cannot call by itself: settings of the C library's memory. For the program.

#ifndef CKFSERVER_H
#define CKFSERVER_H

/// From now on, blocks as large as the pixels of images go back to the system when they are freed, and all threads take
/// smaller ones from the same places: many threads with places of their own would keep what each has freed.
///
/// To be called before there are threads.
void kf_server_limit_heap(void);

#endif
