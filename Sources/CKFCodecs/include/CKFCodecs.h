// One wrapper per C library, so that setjmp and error callbacks never reach Swift.
#ifndef CKFCODECS_H
#define CKFCODECS_H
#include <stddef.h>
#include <stdint.h>
const char *kf_codecs_versions(void);
#endif
