// Makes the tables of sRGB's transfer function, once.
#include "srgb_tables.h"
#include "CKFCodecs.h"
#include <math.h>
#include <pthread.h>

static float linear_of_byte[256];
static int16_t light_of_byte[256];
static uint8_t byte_of_light[KF_LIGHT + 1];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_tables(void) {
    for (int byte = 0; byte < 256; byte++) {
        const double value = byte / 255.0;
        const double linear = value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4);
        linear_of_byte[byte] = (float)linear;
        light_of_byte[byte] = (int16_t)lround(linear * KF_LIGHT);
    }
    for (int light = 0; light <= KF_LIGHT; light++) {
        const double value = (double)light / KF_LIGHT;
        const double encoded = value <= 0.0031308 ? value * 12.92 : 1.055 * pow(value, 1 / 2.4) - 0.055;
        byte_of_light[light] = (uint8_t)lround(encoded * 255);
    }
}

const float *kf_srgb_linear_of_byte(void) {
    (void)pthread_once(&once, make_tables);
    return linear_of_byte;
}

const int16_t *kf_srgb_light_of_byte(void) {
    (void)pthread_once(&once, make_tables);
    return light_of_byte;
}

const uint8_t *kf_srgb_byte_of_light(void) {
    (void)pthread_once(&once, make_tables);
    return byte_of_light;
}
