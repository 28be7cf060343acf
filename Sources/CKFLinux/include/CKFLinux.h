// What Linux offers and the Glibc module does not export.
#ifndef CKFLINUX_H
#define CKFLINUX_H
#include <sys/types.h>
#include <sys/xattr.h>

/// The flag for opening a file without changing its access time.
extern const int kf_o_noatime;


/// Names the calling thread, as `top -H` and debuggers show it; at most 15 bytes are kept.
void kf_name_thread(const char *name);

#endif
