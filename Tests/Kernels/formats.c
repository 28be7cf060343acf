// The loops with which CKFCodecs makes pixels of what files hold.
#include "CKFCodecs.h"
#include "../../Sources/CKFCodecs/png/png_filter.h"
#include "../../Sources/CKFCodecs/tiff/tiff_rows.h"
#include "support.h"
#include <stdlib.h>
#include <string.h>

static void check_png_filters(void) {
    enum { most = 240 };
    uint8_t line[most + 4], raw[most + 4], prior[most + 4];
    begin("png filters");
    for (uint8_t filter = 0; filter <= 4; filter++) {
        for (uint32_t step = 1; step <= 4; step++) {
            for (int round = 0; round < 20; round++) {
                const size_t size = step * (1 + number_below(most / step));
                fill(raw, sizeof raw);
                fill(prior, sizeof prior);
                kf_png_undo_filter(line, raw, prior, size, step, filter);
                add(line, size);
            }
        }
    }
    end();
}

static void check_gif(void) {
    enum { most = 3000, size = 2000 };
    static uint8_t bytes[size], memory[KF_GIF_BEFORE + most + KF_GIF_AFTER];
    static uint32_t colors[256], pixels[most];
    begin("gif");
    for (int round = 0; round < 100; round++) {
        // Codes of any kind in blocks of 255 bytes; most frames end early.
        fill(bytes, size);
        bytes[0] = (uint8_t)(2 + number_below(7));
        for (size_t i = 1; i < size; i += 256) bytes[i] = 255;
        fill(colors, sizeof colors);
        const size_t count = kf_gif_unpack(bytes, size, memory, most);
        kf_gif_color(memory + KF_GIF_BEFORE, count, colors, pixels);
        add(memory + KF_GIF_BEFORE, count);
        add(pixels, count * 4);
    }
    end();
}

static void check_tiff(void) {
    enum { count = 50 };
    static uint8_t samples[count * 10], pixels[count * 4], alphas[count];
    static const unsigned depths[] = {1, 2, 4, 8, 8, 16};
    begin("tiff");
    for (int round = 0; round < 400; round++) {
        kf_tiff_samples kind = {
            .depth = depths[round % 6], .indexed = round % 6 < 4, .colors = number_below(2) ? 3 : 1,
            .has_alpha = number_below(2), .premultiplied = number_below(2), .inverted = number_below(2)};
        if (number_below(5) == 0) kind.colors = 4;
        // Only indices of a whole byte have other samples beside them.
        if (kind.indexed && kind.depth < 8) kind.has_alpha = false;
        kind.lab = kind.colors == 3 && number_below(4) == 0;
        for (int i = 0; i < 256; i++) fill_pixels(&kind.table[i], 1, false);
        fill(samples, sizeof samples);
        const size_t bytes = kind.depth == 16 ? 2 : 1;
        const uint8_t *const components[KF_TIFF_COMPONENTS] = {
            samples, samples + bytes, samples + 2 * bytes, samples + 3 * bytes, samples + 4 * bytes};
        const size_t step = !kind.indexed ? 5 * bytes : kind.has_alpha ? 2 : 1;
        kf_tiff_unpack(&kind, components, step, count, pixels, alphas);
        if (kind.colors == 4 && kind.has_alpha && !kind.indexed) add(alphas, sizeof alphas);
        add(pixels, sizeof pixels);
        kf_tiff_from_rgba(pixels, count, kind.has_alpha);
        add(pixels, sizeof pixels);
    }
    end();
}

static void convert(const kf_yuv *image, bool premultiplied) {
    const size_t stride = (image->width * 4 + 15) / 16 * 16;
    uint8_t *portable = memory_of(stride * image->height), *pixels = memory_of(stride * image->height);
    kf_yuv_to_bgra(image, KF_YUV_PORTABLE, premultiplied, portable, stride);
    kf_yuv_to_bgra(image, kf_yuv_best_loops(), premultiplied, pixels, stride);
    for (size_t y = 0; y < image->height; y++) {
        expect_near(pixels + y * stride, portable + y * stride, image->width * 4, 0);
        add(portable + y * stride, image->width * 4);
    }
    free(portable);
    free(pixels);
}

/// Planes of every depth, with chroma in full and halved, with alpha and without.
static void check_yuv(bool divides) {
    static const uint32_t depths[] = {8, 10, 12}, matrices[] = {1, 5, 6, 9};
    // Where floating point numbers are divided, few are so near to the middle between two bytes that it matters.
    const int rounds = divides ? 5000 : 300;
    begin(divides ? "yuv divided" : "yuv");
    for (int round = 0; round < rounds; round++) {
        kf_yuv image = {
            .width = 1 + number_below(70), .height = 1 + number_below(9), .depth = depths[number_below(3)],
            .halves_columns = number_below(2), .is_full_range = number_below(2)};
        image.halves_rows = image.halves_columns && number_below(2);
        image.alpha_depth = image.depth;
        image.is_premultiplied = divides || number_below(2);
        kf_yuv_find_weights(matrices[number_below(4)], NULL, &image);
        const size_t stride = image.width * (image.depth > 8 ? 2u : 1u) + 64;
        const bool grey = number_below(6) == 0, opaque = !divides && number_below(2);
        uint8_t *planes[4];
        for (int i = 0; i < 4; i++) {
            planes[i] = memory_of(stride * image.height);
            fill(planes[i], stride * image.height);
            const bool missing = i == 3 ? opaque : i > 0 && grey;
            image.planes[i] = missing ? NULL : planes[i];
            image.strides[i] = stride;
        }
        convert(&image, !divides && number_below(2));
        for (int i = 0; i < 4; i++) free(planes[i]);
    }
    end();
}

void check_formats(void) {
    check_png_filters();
    check_gif();
    check_tiff();
    check_yuv(false);
    check_yuv(true);
}
