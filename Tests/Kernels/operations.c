// The loops of CKFCodecs/operations, and the checksum of CKFLinux.
#include "CKFCodecs.h"
#include "CKFLinux.h"
#include "support.h"
#include <stdlib.h>
#include <string.h>

static void check_over(void) {
    enum { most = 70 };
    uint32_t below[most], above[most];
    begin("over");
    for (size_t count = 0; count <= most; count++) {
        fill_pixels(below, count, true);
        fill_pixels(above, count, true);
        kf_row_over(below, above, count);
        add(below, count * 4);
    }
    end();
}

static void check_tables(bool same) {
    enum { most = 200 };
    uint32_t input[most], output[most], portable[most];
    uint8_t tables[768];
    begin(same ? "map one table" : "map three tables");
    for (size_t count = 1; count <= most; count += 7) {
        fill(tables, sizeof tables);
        if (same) {
            memcpy(tables + 256, tables, 256);
            memcpy(tables + 512, tables, 256);
        }
        fill_pixels(input, count, false);
        kf_map_bytes_portably(input, portable, count, tables);
        kf_map_bytes(input, output, count, tables);
        expect_near((uint8_t *)output, (uint8_t *)portable, count * 4, 0);
        add(portable, count * 4);
    }
    end();
}

/// Polynomials, which some processors use in linear light for gains up to 8, may be a step off the tables.
static void check_mix(bool linear, float gain, int most_off) {
    enum { most = 333 };
    uint32_t input[most], output[most], portable[most];
    begin(!linear ? "mix values" : gain > 8 ? "mix much light" : "mix light");
    for (int round = 0; round < 200; round++) {
        const size_t count = 1 + number_below(most);
        float random[5];
        for (int i = 0; i < 5; i++) random[i] = ((float)number_below(2001) - 1000) / 1000 * gain / 4;
        if (gain > 8) random[1] = gain;
        const kf_color_mix mix = {
            round % 4 == 0 ? 0 : random[0], random[1], random[2], random[3], random[4] / gain, linear};
        fill_pixels(input, count, false);
        kf_mix_colors_portably(input, portable, count, &mix);
        kf_mix_colors(input, output, count, &mix);
        expect_near((uint8_t *)output, (uint8_t *)portable, count * 4, most_off);
        add(portable, count * 4);
    }
    end();
}

/// Weights that add up to 1 << `precision`, the outer ones negative.
static void weigh(int16_t *weights, size_t taps, unsigned precision) {
    int left = 1 << precision;
    for (size_t i = 0; i < taps; i++) {
        const int share = left / (int)(taps - i), spread = (1 << precision) / 8;
        weights[i] = (int16_t)(i + 1 == taps ? left : share + (int)number_below((uint32_t)spread) - spread / 2);
        left -= weights[i];
    }
}

/// The weights of two lines, of which the lower one has nothing of the first two rows, if there are more.
static kf_row_weights weigh_two(int16_t *upper, int16_t *lower, size_t taps, unsigned precision) {
    const size_t skipped = taps > 2 ? 2 : 0;
    weigh(upper, taps, precision);
    memset(lower, 0, skipped * sizeof *lower);
    weigh(lower + skipped, taps - skipped, precision);
    return (kf_row_weights){upper, lower, taps};
}

static void check_rows(void) {
    enum { most = 300, most_taps = 12 };
    uint8_t bytes[most_taps][most];
    const uint8_t *rows[most_taps];
    int16_t weights[2][most_taps], portable[2][most], output[2][most];
    begin("blend rows");
    for (int round = 0; round < 200; round++) {
        const size_t taps = 2 + 2 * number_below(most_taps / 2), count = 4 + 4 * number_below(most / 4);
        const unsigned precision = 8 + number_below(7);
        fill(bytes, sizeof bytes);
        for (size_t i = 0; i < taps; i++) rows[i] = bytes[i];
        const kf_row_weights both = weigh_two(weights[0], weights[1], taps, precision);
        kf_blend_rows(KF_BLENDING_PORTABLE, rows, both, precision, count, portable[0], portable[1]);
        kf_blend_rows(kf_best_blending(), rows, both, precision, count, output[0], output[1]);
        for (int i = 0; i < 2; i++) {
            expect_near((uint8_t *)output[i], (uint8_t *)portable[i], count * 2, 0);
            add(portable[i], count * 2);
        }
    }
    end();
}

static void check_columns(void) {
    enum { width = 90, most_taps = 12 };
    int16_t lines[2][width * 4], weights[width * most_taps];
    int32_t starts[width];
    uint8_t portable[2][width * 4], output[2][width * 4];
    begin("blend columns");
    for (int round = 0; round < 200; round++) {
        const size_t taps = 4 + 4 * number_below(most_taps / 4), count = 1 + number_below(width);
        const unsigned precision = 8 + number_below(7);
        // Bytes with a fraction of 6 bits, and a little less and more, as sums of rows are.
        for (int line = 0; line < 2; line++)
            for (size_t i = 0; i < width * 4; i++) lines[line][i] = (int16_t)((int)number_below(18000) - 800);
        for (size_t x = 0; x < count; x++) {
            starts[x] = (int32_t)number_below((uint32_t)(width - taps + 1));
            weigh(weights + x * taps, taps, precision);
        }
        kf_blend_columns(
            KF_BLENDING_PORTABLE, lines[0], lines[1], starts, weights, taps, precision, count, portable[0], portable[1]);
        kf_blend_columns(
            kf_best_blending(), lines[0], lines[1], starts, weights, taps, precision, count, output[0], output[1]);
        for (int i = 0; i < 2; i++) {
            expect_near(output[i], portable[i], count * 4, 0);
            add(portable[i], count * 4);
        }
    }
    end();
}

/// Every second time all pixels are opaque; else a few are not.
static void check_light_of_pixels(void) {
    enum { most = 200 };
    uint8_t pixels[most * 4];
    int16_t portable[most * 4], output[most * 4];
    begin("light of pixels");
    for (size_t count = 0; count <= most; count++) {
        fill(pixels, sizeof pixels);
        for (size_t x = 0; x < most; x++)
            if (count % 2 == 0 || number_below(20) > 0) pixels[x * 4 + 3] = 255;
        memset(portable, 0, sizeof portable);
        memset(output, 0, sizeof output);
        kf_light_of_pixels_portably(pixels, count, portable);
        kf_light_of_pixels(pixels, count, output);
        // All of the memory: nothing is written behind the last pixel.
        expect_near((uint8_t *)output, (uint8_t *)portable, sizeof portable, 0);
        add(portable, count * 8);
    }
    end();
}

/// The three steps of resizing in linear light, of premultiplied pixels.
static void check_light(void) {
    enum { width = 90, most_taps = 12 };
    uint8_t pixels[width * 4], portable[2][width * 4], output[2][width * 4];
    int16_t light[most_taps][width * 4], row_weights[2][most_taps], column_weights[width * most_taps];
    int16_t lines[2][width * 4], other[2][width * 4];
    int32_t starts[width];
    const int16_t *rows[most_taps];
    begin("blend light");
    for (int round = 0; round < 200; round++) {
        const size_t taps = 4 + 4 * number_below(most_taps / 4), count = 1 + number_below(width);
        const unsigned precision = 8 + number_below(7);
        for (size_t tap = 0; tap < taps; tap++) {
            for (size_t x = 0; x < width; x++) {
                pixels[x * 4 + 3] = (uint8_t)(round % 2 ? 255 : number_below(256));
                for (int c = 0; c < 3; c++) pixels[x * 4 + c] = (uint8_t)number_below(pixels[x * 4 + 3] + 1u);
            }
            kf_light_of_pixels(pixels, width, light[tap]);
            rows[tap] = light[tap];
        }
        const kf_row_weights both = weigh_two(row_weights[0], row_weights[1], taps, precision);
        kf_blend_light_rows(KF_BLENDING_PORTABLE, rows, both, precision, width * 4, lines[0], lines[1]);
        kf_blend_light_rows(kf_best_blending(), rows, both, precision, width * 4, other[0], other[1]);
        for (int i = 0; i < 2; i++) expect_near((uint8_t *)other[i], (uint8_t *)lines[i], width * 8, 0);
        for (size_t x = 0; x < count; x++) {
            starts[x] = (int32_t)number_below((uint32_t)(width - taps + 1));
            weigh(column_weights + x * taps, taps, precision);
        }
        kf_blend_light_columns(
            KF_BLENDING_PORTABLE, lines[0], lines[1], starts, column_weights, taps, precision, count, portable[0],
            portable[1]);
        kf_blend_light_columns(
            kf_best_blending(), lines[0], lines[1], starts, column_weights, taps, precision, count, output[0], output[1]);
        for (int i = 0; i < 2; i++) {
            expect_near(output[i], portable[i], count * 4, 0);
            add(portable[i], count * 4);
        }
    }
    end();
}

static void check_blur(void) {
    begin("blur");
    for (int round = 0; round < 200; round++) {
        const size_t width = 1 + number_below(40), height = 1 + number_below(40), stride = (width * 4 + 15) / 16 * 16;
        const uint32_t radius = round < 150 ? 1 + (uint32_t)round % 9 : 1 + number_below(300);
        uint8_t *portable = memory_of(stride * height), *pixels = memory_of(stride * height);
        uint8_t *scratch = memory_of(kf_box_blur_scratch(stride, height, radius));
        fill(portable, stride * height);
        memcpy(pixels, portable, stride * height);
        kf_box_blur_portably(portable, stride, width, height, radius, scratch);
        kf_box_blur(pixels, stride, width, height, radius, scratch);
        for (size_t y = 0; y < height; y++) {
            expect_near(pixels + y * stride, portable + y * stride, width * 4, 0);
            add(portable + y * stride, width * 4);
        }
        free(portable);
        free(pixels);
        free(scratch);
    }
    end();
}

static void check_checksum(void) {
    enum { most = 5000 };
    uint8_t bytes[most];
    begin("checksum");
    fill(bytes, most);
    for (size_t count = 0; count <= most; count += count < 300 ? 1 : 97) {
        const uint64_t sum = kf_checksum(bytes, count);
        add(&sum, sizeof sum);
    }
    end();
}

void check_operations(void) {
    check_over();
    check_tables(true);
    check_tables(false);
    check_mix(false, 4, 0);
    check_mix(true, 4, 1);
    check_mix(true, 60, 0);
    check_rows();
    check_columns();
    check_light_of_pixels();
    check_light();
    check_blur();
    check_checksum();
}
