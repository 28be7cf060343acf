// Small vectors of numbers, in what clang offers on every machine.
#ifndef KF_VECTORS_H
#define KF_VECTORS_H

#include <stdint.h>

typedef uint8_t u8x4 __attribute__((ext_vector_type(4)));
typedef uint8_t u8x8 __attribute__((ext_vector_type(8)));
typedef uint8_t u8x16 __attribute__((ext_vector_type(16)));
typedef int16_t i16x4 __attribute__((ext_vector_type(4)));
typedef int16_t i16x8 __attribute__((ext_vector_type(8)));
typedef uint16_t u16x16 __attribute__((ext_vector_type(16)));

#define KF_INLINE inline __attribute__((always_inline))

// Compiled twice where current processors have more instructions than the compiler may assume. Not under the thread
// sanitizer: the variant is chosen while the program is being loaded, before the sanitizer is initialised.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define KF_ONCE
#endif
#endif
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(KF_ONCE)
#define KF_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define KF_CLONES
#endif

// The vector of 16 bytes is computed here, though the compiler may choose to compute it later with fewer instructions:
// for loops in which every iteration waits for the one before.
#if defined(__x86_64__)
#define KF_COMPUTE(vector) __asm__("" : "+x"(vector))
#elif defined(__aarch64__)
#define KF_COMPUTE(vector) __asm__("" : "+w"(vector))
#else
#define KF_COMPUTE(vector) (void)(vector)
#endif

#endif
