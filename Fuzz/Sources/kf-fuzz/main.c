// The functions that libFuzzer calls. The environment names the target, which FuzzTargets runs.
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/// In FuzzTargets: the number of a target, or -1; prints the names of all targets.
int kf_fuzz_find(const char *name);
void kf_fuzz_list(void);
/// In FuzzTargets: runs a target; -1 when the bytes are not worth keeping.
int kf_fuzz_run(int target, const uint8_t *bytes, size_t size);

static int target = -1;

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc;
    (void)argv;
    const char *name = getenv("KF_FUZZ_TARGET");
    if (!name) {
        kf_fuzz_list();
        exit(0);
    }
    target = kf_fuzz_find(name);
    if (target < 0) {
        fprintf(stderr, "kf-fuzz: KF_FUZZ_TARGET=%s is no target; without it the targets are listed\n", name);
        exit(2);
    }
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) { return kf_fuzz_run(target, bytes, size); }
