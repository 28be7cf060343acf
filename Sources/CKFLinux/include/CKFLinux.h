// System calls that the Glibc module does not export.
#ifndef CKFLINUX_H
#define CKFLINUX_H
#include <stddef.h>
#include <sys/types.h>
#endif
