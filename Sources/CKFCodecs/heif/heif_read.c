// Reading the primary image of HEIC through libheif, cropped, turned and mirrored as the file requests. Empty without
// the trait.
#include "../support/support.h"
#ifdef KF_HEIC
#include <stdlib.h>
#include <string.h>
#include <libheif/heif.h>

void kf_heif_prepare(void) {
#if LIBHEIF_HAVE_VERSION(1, 13, 0)
    heif_init(NULL);
#endif
}

struct kf_heif_reader {
    struct heif_context *context;
    struct heif_image_handle *handle;
    uint8_t *icc;
    uint32_t coded_width, coded_height;
};

static kf_status fail(kf_message *message, struct heif_error error) {
    kf_status status = KF_MALFORMED;
    if (error.code == heif_error_Memory_allocation_error) status = KF_OUT_OF_MEMORY;
    if (error.subcode == heif_suberror_Security_limit_exceeded) status = KF_LIMIT;
    if (error.code == heif_error_Unsupported_filetype || error.code == heif_error_Unsupported_feature) {
        status = KF_UNSUPPORTED;
    }
    return kf_fail(message, status, error.message ? error.message : "libheif gave no reason");
}

static void describe_colors(kf_heif_reader *reader, kf_heif_header *header) {
    size_t size = heif_image_handle_get_raw_color_profile_size(reader->handle);
    header->primaries = header->transfer = 2;
    if (size && size <= 16 << 20 && (reader->icc = malloc(size))) {
        if (heif_image_handle_get_raw_color_profile(reader->handle, reader->icc).code == heif_error_Ok) {
            header->icc = reader->icc;
            header->icc_size = size;
            return;
        }
    }
    struct heif_color_profile_nclx *nclx = NULL;
    struct heif_error error = heif_image_handle_get_nclx_color_profile(reader->handle, &nclx);
    if (error.code != heif_error_Ok || !nclx) {
        if (nclx) heif_nclx_color_profile_free(nclx);
        return;
    }
    header->primaries = nclx->color_primaries;
    header->transfer = nclx->transfer_characteristics;
    const float xy[8] = {
        nclx->color_primary_white_x, nclx->color_primary_white_y,
        nclx->color_primary_red_x, nclx->color_primary_red_y,
        nclx->color_primary_green_x, nclx->color_primary_green_y,
        nclx->color_primary_blue_x, nclx->color_primary_blue_y,
    };
    for (int i = 0; i < 8; i++) header->chromaticities[i] = xy[i];
    heif_nclx_color_profile_free(nclx);
}

kf_heif_reader *kf_heif_open(const uint8_t *bytes, size_t size, kf_heif_header *header, kf_message *message) {
    memset(header, 0, sizeof *header);
    kf_heif_reader *reader = calloc(1, sizeof *reader);
    if (reader) reader->context = heif_context_alloc();
    if (!reader || !reader->context) {
        kf_fail(message, KF_OUT_OF_MEMORY, "out of memory");
        kf_heif_close(reader);
        return NULL;
    }
#if LIBHEIF_HAVE_VERSION(1, 13, 0)
    // Every image is decoded on one thread; others are decoded at the same time.
    heif_context_set_max_decoding_threads(reader->context, 0);
#endif
    struct heif_error error = heif_context_read_from_memory_without_copy(reader->context, bytes, size, NULL);
    if (error.code == heif_error_Ok) {
        error = heif_context_get_primary_image_handle(reader->context, &reader->handle);
    }
    if (error.code != heif_error_Ok) {
        fail(message, error);
        kf_heif_close(reader);
        return NULL;
    }
    int width = heif_image_handle_get_width(reader->handle), height = heif_image_handle_get_height(reader->handle);
    int coded_width = heif_image_handle_get_ispe_width(reader->handle);
    int coded_height = heif_image_handle_get_ispe_height(reader->handle);
    if (width <= 0 || height <= 0 || coded_width <= 0 || coded_height <= 0) {
        kf_fail(message, KF_MALFORMED, "the image has no size");
        kf_heif_close(reader);
        return NULL;
    }
    header->width = (uint32_t)width;
    header->height = (uint32_t)height;
    header->coded_width = reader->coded_width = (uint32_t)coded_width;
    header->coded_height = reader->coded_height = (uint32_t)coded_height;
    header->has_alpha = heif_image_handle_has_alpha_channel(reader->handle);
    header->premultiplied = header->has_alpha && heif_image_handle_is_premultiplied_alpha(reader->handle);
    describe_colors(reader, header);
    return reader;
}

// R, G, B, A of 8 bits to B, G, R, A.
static void copy_narrow(uint8_t *to, const uint8_t *from, uint32_t width) {
    for (uint32_t x = 0; x < width; x++, to += 4, from += 4) {
        to[0] = from[2];
        to[1] = from[1];
        to[2] = from[0];
        to[3] = from[3];
    }
}

// The same from components of more bits, in two bytes each, rounded.
static void copy_wide(uint8_t *to, const uint8_t *from, uint32_t width, uint32_t most) {
    static const int place[4] = {2, 1, 0, 3};
    for (uint32_t x = 0; x < width; x++, to += 4, from += 8) {
        for (int i = 0; i < 4; i++) {
            uint32_t value = (uint32_t)from[i * 2] | (uint32_t)from[i * 2 + 1] << 8;
            if (value > most) value = most;
            to[place[i]] = (uint8_t)((value * 255 + most / 2) / most);
        }
    }
}

kf_status kf_heif_read(
    kf_heif_reader *reader, uint32_t width, uint32_t height, uint8_t *rows, size_t stride, kf_message *message
) {
    int bits = heif_image_handle_get_luma_bits_per_pixel(reader->handle);
    bool wide = bits > 8;
    // libheif counts the bytes of an image in an int, in rows of sixteen bytes or more, whether it is turned or not.
    uint64_t columns = (uint64_t)reader->coded_width + 8, lines = (uint64_t)reader->coded_height + 8;
    if (columns * lines * (wide ? 8 : 4) > INT32_MAX) {
        return kf_fail(message, KF_LIMIT, "libheif reads no image as large");
    }
    struct heif_image *image = NULL;
    struct heif_error error = heif_decode_image(
        reader->handle, &image, heif_colorspace_RGB,
        wide ? heif_chroma_interleaved_RRGGBBAA_LE : heif_chroma_interleaved_RGBA, NULL);
    if (error.code != heif_error_Ok) return fail(message, error);
    kf_status status = KF_OK;
    int from_stride = 0;
    const uint8_t *plane = heif_image_get_plane_readonly(image, heif_channel_interleaved, &from_stride);
    int range = heif_image_get_bits_per_pixel_range(image, heif_channel_interleaved);
    // The caller's memory has the size that the container announced.
    if (!plane || heif_image_get_width(image, heif_channel_interleaved) != (int)width
        || heif_image_get_height(image, heif_channel_interleaved) != (int)height
        || (wide ? range < 9 || range > 16 : range != 8)) {
        status = kf_fail(message, KF_MALFORMED, "the image is another than announced");
    } else {
        for (uint32_t y = 0; y < height; y++) {
            const uint8_t *from = plane + (size_t)from_stride * y;
            if (wide) copy_wide(rows + stride * y, from, width, (1u << range) - 1);
            else copy_narrow(rows + stride * y, from, width);
        }
    }
    heif_image_release(image);
    return status;
}

void kf_heif_close(kf_heif_reader *reader) {
    if (!reader) return;
    if (reader->handle) heif_image_handle_release(reader->handle);
    if (reader->context) heif_context_free(reader->context);
    free(reader->icc);
    free(reader);
}
#endif
