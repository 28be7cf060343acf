// Makes the table of sRGB's transfer function, once.
#include "srgb_tables.h"
#include <math.h>
#include <pthread.h>

static float linear_of_byte[256];

static void make_table(void) {
    for (int byte = 0; byte < 256; byte++) {
        const double value = byte / 255.0;
        linear_of_byte[byte] = (float)(value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4));
    }
}

const float *kf_srgb_linear_of_byte(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, make_table);
    return linear_of_byte;
}
