// What a process may find itself in, made with libseccomp. For sandbox_checks.c.
#ifndef SURROUNDINGS_H
#define SURROUNDINGS_H
#include <stdbool.h>

/// Kernels, containers and services; several may hold at once.
typedef struct surroundings {
    /// A container with a profile such as docker sets, which knows no capabilities.
    bool container;
    /// A service of systemd that may not call what is privileged.
    bool service;
    /// A kernel without Landlock, or without filters of system calls.
    bool no_landlock, no_seccomp;
} surroundings;

/// Makes the process find these. Returns whether that worked.
bool surround(surroundings wanted);

#endif
