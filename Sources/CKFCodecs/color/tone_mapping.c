// Brings light beyond white into the range of a bitmap, pixel by pixel, through tables.
#include "CKFCodecs.h"
#include <math.h>

static float at(const float *table, float light) {
    const float limited = light > 0 ? (light < 1 ? light : 1) : 0;
    return table[(uint32_t)(sqrtf(sqrtf(limited)) * KF_TONE_STEPS + 0.5f)];
}

static uint8_t byte(const uint8_t *bytes, float light) {
    const float limited = light > 0 ? (light < 1 ? light : 1) : 0;
    return bytes[(uint32_t)(limited * KF_LIGHT_STEPS + 0.5f)];
}

void kf_map_tones(const kf_tone_mapping *mapping, uint8_t *pixels, size_t count) {
    const float *red = mapping->red, *green = mapping->green, *blue = mapping->blue;
    for (size_t i = 0; i < count; i++, pixels += 4) {
        float r = mapping->light[pixels[2]], g = mapping->light[pixels[1]], b = mapping->light[pixels[0]];
        const float luminance = r * mapping->luminance[0] + g * mapping->luminance[1] + b * mapping->luminance[2];
        const float system = mapping->system_gains ? at(mapping->system_gains, luminance) : 1;
        const float most = (r > g ? (r > b ? r : b) : (g > b ? g : b)) * system;
        const float gain = at(mapping->gains, most), factor = system * gain;
        // White is white in both spaces, so only what differs from grey is mapped, and greys are exact.
        const float grey = most * gain;
        r = r * factor - grey;
        g = g * factor - grey;
        b = b * factor - grey;
        pixels[2] = byte(mapping->bytes, grey + red[0] * r + green[0] * g + blue[0] * b);
        pixels[1] = byte(mapping->bytes, grey + red[1] * r + green[1] * g + blue[1] * b);
        pixels[0] = byte(mapping->bytes, grey + red[2] * r + green[2] * g + blue[2] * b);
    }
}
