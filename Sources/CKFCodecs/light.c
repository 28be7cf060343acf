// Makes the tables of sRGB's curve, once. Knows no pixels.
#include "light.h"
#include <math.h>
#include <pthread.h>

static kf_light_tables tables;

static double light_of(double value) {
    return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4);
}

static double value_of(double light) {
    return light <= 0.0031308 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055;
}

/// Draws the line of one part; at both ends it lies as far below the curve as above it in the middle.
static void make_line(int range, int part) {
    const double width = 65536.0 / 64, first = part * width, full = range == 0 ? 65535.0 * 16 : 65535.0;
    const double scale = 255 * 64, left = scale * value_of(first / full), right = scale * value_of((first + width) / full);
    const double middle = scale * value_of((first + width / 2) / full);
    const long slope = lround((right - left) / width * 65536);
    // Half of a byte's step makes cutting off rounding; so does half of a 64th after the multiplication.
    const double height = (left + right) / 4 + middle / 2 + 32 + 0.5;
    tables.slope[range][part] = (uint16_t)slope;
    tables.start[range][part] = (uint16_t)lround(height - (first + width / 2) * (double)slope / 65536);
}

static void make_tables(void) {
    for (int byte = 0; byte < 256; byte++) {
        const double light = light_of(byte / 255.0);
        const long word = lround(light * 65535) - 32768;
        tables.of_byte[byte] = (float)light;
        tables.word_of_byte[0][byte] = (uint8_t)(word & 255);
        tables.word_of_byte[1][byte] = (uint8_t)(word >> 8 & 255);
    }
    for (int part = 0; part < 64; part++) {
        make_line(0, part);
        make_line(1, part);
    }
}

const kf_light_tables *kf_light(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, make_tables);
    return &tables;
}
