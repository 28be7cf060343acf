// Runs the C loops on fixed input and prints a line for each: its name, and the checksum of its bytes. On every
// processor these lines are the same; Scripts/systems/kernels compares them. Exits with 1 where a variant for this
// processor gives other bytes than the portable one.
#include "support.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state = 1;

uint32_t number_below(uint32_t limit) {
    uint64_t z = state += 0x9E3779B97F4A7C15;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
    z = (z ^ z >> 27) * 0x94D049BB133111EB;
    return (uint32_t)(((z ^ z >> 31) >> 32) * limit >> 32);
}

void fill(void *memory, size_t count) {
    for (uint8_t *byte = memory; count > 0; count--) *byte++ = (uint8_t)number_below(256);
}

void fill_pixels(uint32_t *pixels, size_t count, bool premultiplied) {
    uint32_t kind = 0;
    for (size_t i = 0; i < count; i++) {
        if (i % 5 == 0) kind = number_below(3);
        const uint32_t alpha = kind == 0 ? 0 : kind == 1 ? 255 : number_below(256);
        pixels[i] = alpha << 24;
        for (int shift = 0; shift < 24; shift += 8)
            pixels[i] |= number_below(premultiplied ? alpha + 1 : 256) << shift;
    }
}

void *memory_of(size_t count) {
    const size_t size = (count + 127) / 64 * 64;
    void *memory = aligned_alloc(64, size);
    if (!memory) {
        fprintf(stderr, "kernels: no memory\n");
        exit(2);
    }
    return memset(memory, 0, size);
}

static const char *name;
static uint64_t checksum;
static bool fails;

// Each kernel has numbers of its own: they do not change when another one needs more.
void begin(const char *kernel) {
    name = kernel;
    checksum = 0xCBF29CE484222325;
    state = 1;
}

// FNV-1a.
void add(const void *bytes, size_t count) {
    for (const uint8_t *byte = bytes; count > 0; count--) checksum = (checksum ^ *byte++) * 0x100000001B3;
}

void expect_near(const uint8_t *variant, const uint8_t *portable, size_t count, int most) {
    for (size_t i = 0; i < count; i++) {
        if (abs(variant[i] - portable[i]) <= most) continue;
        fprintf(
            stderr, "kernels: %s: byte %zu of %zu is %d here and %d in the portable loop\n", name, i, count, variant[i],
            portable[i]);
        fails = true;
        return;
    }
}

void end(void) { printf("%-18s %016llx\n", name, (unsigned long long)checksum); }

bool all_as_expected(void) { return !fails; }

int main(void) {
    check_operations();
    check_formats();
    return all_as_expected() ? 0 : 1;
}
