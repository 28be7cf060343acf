// The pictures of a still AVIF, decoded by dav1d itself. Refuses what would have to be scaled, chosen or converted: that is
// libavif's business, and so is everything about colours.
//
// libavif asks dav1d, too, but has it complain about damaged data on the terminal, and offers no way to stop that.
#include "avif_still.h"
#include "obu.h"
#include <string.h>

void kf_avif_find_still(
    const uint8_t *bytes, size_t size, const avifIOStats *stats, bool has_alpha, kf_avif_still *still
) {
    size_t color = stats->colorOBUSize, alpha = stats->alphaOBUSize;
    if (!color || has_alpha != (alpha > 0) || color > size || alpha > size - color) return;
    if (!has_alpha) {
        if (color == size && kf_obu_is_one_picture(bytes, size)) *still = (kf_avif_still){bytes, NULL, size, 0};
        return;
    }
    const uint8_t *end = bytes + size;
    bool color_leads = kf_obu_is_one_picture(bytes, color) && kf_obu_is_one_picture(end - alpha, alpha);
    bool alpha_leads = kf_obu_is_one_picture(bytes, alpha) && kf_obu_is_one_picture(end - color, color);
    if (color_leads == alpha_leads) return;
    *still = color_leads ? (kf_avif_still){bytes, end - alpha, color, alpha}
                         : (kf_avif_still){end - color, bytes, color, alpha};
}

// The bytes are the caller's, who keeps them for longer than the decoder lives.
static void keep(const uint8_t *bytes, void *cookie) {
    (void)bytes;
    (void)cookie;
}

static int open_decoder(Dav1dContext **context, size_t max_pixel_count) {
    Dav1dSettings settings;
    dav1d_default_settings(&settings);
    settings.logger.callback = NULL;
    settings.all_layers = 0;
    settings.frame_size_limit = max_pixel_count < UINT32_MAX ? (unsigned)max_pixel_count : UINT32_MAX;
#if DAV1D_API_VERSION_MAJOR >= 6
    settings.n_threads = 1;
    settings.max_frame_delay = 1;
#else
    settings.n_frame_threads = 1;
    settings.n_tile_threads = 1;
#endif
    return dav1d_open(context, &settings);
}

static int decode(Dav1dContext *context, const uint8_t *bytes, size_t size, Dav1dPicture *picture) {
    Dav1dData data = {0};
    int result = dav1d_data_wrap(&data, bytes, size, keep, NULL);
    // A decoder that has got nothing yet takes all there is.
    if (result == 0) result = dav1d_send_data(context, &data);
    if (data.sz) dav1d_data_unref(&data);
    if (result == 0) result = dav1d_get_picture(context, picture);
    // The first time, it may have waited for more.
    if (result == DAV1D_ERR(EAGAIN)) result = dav1d_get_picture(context, picture);
    return result;
}

kf_status kf_av1_decode(
    const uint8_t *bytes, size_t size, size_t max_pixel_count, kf_av1_picture *picture, kf_message *message
) {
    memset(picture, 0, sizeof *picture);
    int result = open_decoder(&picture->context, max_pixel_count);
    if (result == 0) result = decode(picture->context, bytes, size, &picture->picture);
    if (result == 0) return KF_OK;
    if (result == DAV1D_ERR(ENOMEM)) return kf_fail(message, KF_OUT_OF_MEMORY, "out of memory");
    if (result == DAV1D_ERR(ERANGE)) return kf_fail(message, KF_MALFORMED, "the coded picture is larger than announced");
    if (result == DAV1D_ERR(ENOPROTOOPT)) return kf_fail(message, KF_UNSUPPORTED, "AV1 of a kind that dav1d does not know");
    return kf_fail(message, KF_MALFORMED, "the coded picture is broken");
}

void kf_av1_release(kf_av1_picture *picture) {
    if (picture->picture.data[0]) dav1d_picture_unref(&picture->picture);
    if (picture->context) dav1d_close(&picture->context);
}

static avifPixelFormat format_of(enum Dav1dPixelLayout layout) {
    switch (layout) {
    case DAV1D_PIXEL_LAYOUT_I400: return AVIF_PIXEL_FORMAT_YUV400;
    case DAV1D_PIXEL_LAYOUT_I420: return AVIF_PIXEL_FORMAT_YUV420;
    case DAV1D_PIXEL_LAYOUT_I422: return AVIF_PIXEL_FORMAT_YUV422;
    case DAV1D_PIXEL_LAYOUT_I444: return AVIF_PIXEL_FORMAT_YUV444;
    }
    return AVIF_PIXEL_FORMAT_NONE;
}

static bool is_as_announced(const avifImage *image, const Dav1dPicture *picture) {
    // Of several operating points the container may choose one.
    const Dav1dSequenceHeader *header = picture->seq_hdr;
    return picture->p.w > 0 && (uint32_t)picture->p.w == image->width && picture->p.h > 0
        && (uint32_t)picture->p.h == image->height && picture->p.bpc > 0 && (uint32_t)picture->p.bpc == image->depth
        && header && header->num_operating_points == 1 && !header->operating_points[0].idc;
}

static bool has_planes(const Dav1dPicture *picture, int count) {
    for (int i = 0; i < count; i++) {
        ptrdiff_t stride = picture->stride[i > 0];
        if (!picture->data[i] || stride <= 0 || (uint64_t)stride > UINT32_MAX) return false;
    }
    return true;
}

bool kf_avif_lend(avifImage *image, const kf_av1_picture *color, const kf_av1_picture *alpha) {
    const Dav1dPicture *colors = &color->picture;
    int count = colors->p.layout == DAV1D_PIXEL_LAYOUT_I400 ? 1 : 3;
    if (!is_as_announced(image, colors) || format_of(colors->p.layout) != image->yuvFormat) return false;
    if (!has_planes(colors, count)) return false;
    if (alpha) {
        const Dav1dPicture *values = &alpha->picture;
        // Values that leave out the ends of the range need to be stretched.
        if (!is_as_announced(image, values) || !values->seq_hdr->color_range || !has_planes(values, 1)) return false;
        image->alphaPlane = values->data[0];
        image->alphaRowBytes = (uint32_t)values->stride[0];
        image->imageOwnsAlphaPlane = AVIF_FALSE;
    }
    for (int i = 0; i < count; i++) {
        image->yuvPlanes[i] = colors->data[i];
        image->yuvRowBytes[i] = (uint32_t)colors->stride[i > 0];
    }
    image->imageOwnsYUVPlanes = AVIF_FALSE;
    return true;
}

void kf_avif_take_back(avifImage *image) {
    for (int i = 0; i < AVIF_PLANE_COUNT_YUV; i++) {
        image->yuvPlanes[i] = NULL;
        image->yuvRowBytes[i] = 0;
    }
    image->alphaPlane = NULL;
    image->alphaRowBytes = 0;
}
