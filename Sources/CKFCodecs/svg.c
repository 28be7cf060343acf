// Drawing SVG through librsvg, which is told no place that references could be looked for. Empty without the trait.
#include "support.h"
#ifdef KF_SVG
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <librsvg/rsvg.h>

struct kf_svg_reader {
    RsvgHandle *drawing;
    size_t size;
};

static kf_status fail(kf_message *message, GError *error) {
    kf_fail(message, KF_MALFORMED, error && error->message ? error->message : "librsvg gave no reason");
    if (error) g_error_free(error);
    return message->status;
}

// The size in pixels of CSS: its own, or that of what it shows, or that of an object of which nobody says anything.
static void measure(RsvgHandle *drawing, double *width, double *height) {
    if (rsvg_handle_get_intrinsic_size_in_pixels(drawing, width, height) && *width > 0 && *height > 0) return;
    gboolean has_box = FALSE;
    RsvgRectangle box;
    rsvg_handle_get_intrinsic_dimensions(drawing, NULL, NULL, NULL, NULL, &has_box, &box);
    bool is_useful = has_box && box.width > 0 && box.height > 0;
    *width = is_useful ? box.width : 300;
    *height = is_useful ? box.height : 150;
}

kf_svg_reader *kf_svg_open(const uint8_t *bytes, size_t size, double *width, double *height, kf_message *message) {
    kf_svg_reader *reader = calloc(1, sizeof *reader);
    if (!reader) {
        kf_fail(message, KF_OUT_OF_MEMORY, "out of memory");
        return NULL;
    }
    reader->size = size;
    GError *error = NULL;
    // Without the name of a file, librsvg follows no reference but those within the drawing and to data it contains.
    reader->drawing = rsvg_handle_new_from_data(bytes, size, &error);
    if (!reader->drawing) {
        fail(message, error);
        kf_svg_close(reader);
        return NULL;
    }
    rsvg_handle_set_dpi(reader->drawing, 96);
    measure(reader->drawing, width, height);
    return reader;
}

typedef struct job {
    kf_svg_reader *reader;
    uint8_t *rows;
    size_t stride;
    uint32_t width, height;
    kf_message *message;
    kf_status status;
} job;

static void *draw(void *argument) {
    job *job = argument;
    cairo_surface_t *surface = cairo_image_surface_create_for_data(
        job->rows, CAIRO_FORMAT_ARGB32, (int)job->width, (int)job->height, (int)job->stride);
    cairo_t *context = cairo_create(surface);
    if (cairo_status(context) != CAIRO_STATUS_SUCCESS) {
        job->status = kf_fail(job->message, KF_OUT_OF_MEMORY, "out of memory");
    } else {
        GError *error = NULL;
        RsvgRectangle viewport = {0, 0, job->width, job->height};
        if (!rsvg_handle_render_document(job->reader->drawing, context, &viewport, &error)) {
            job->status = fail(job->message, error);
        }
    }
    cairo_destroy(context);
    cairo_surface_finish(surface);
    cairo_surface_destroy(surface);
    return NULL;
}

// librsvg calls itself for what a drawing refers to, as deep as masks have masks; a stack that ends ends the process. So it
// draws on a stack that the text cannot exceed: a step down takes about fifty bytes of text at least. Pages that are not
// touched cost nothing.
static bool run_on_large_stack(job *job, size_t text_size) {
    const size_t largest = 1 << 30, wanted = (16 << 20) + text_size / 4096 * 4096 * 512;
    pthread_attr_t attributes;
    pthread_t thread;
    if (pthread_attr_init(&attributes)) return false;
    bool has_run = !pthread_attr_setstacksize(&attributes, wanted < largest ? wanted : largest)
        && !pthread_create(&thread, &attributes, draw, job) && !pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
    return has_run;
}

kf_status kf_svg_draw(
    kf_svg_reader *reader, uint8_t *rows, size_t stride, uint32_t width, uint32_t height, kf_message *message
) {
    // Cairo knows no larger pictures.
    if (width > 32767 || height > 32767) return kf_fail(message, KF_LIMIT, "a side is longer than 32767 pixels");
    job job = {reader, rows, stride, width, height, message, KF_OK};
    if (!run_on_large_stack(&job, reader->size)) return kf_fail(message, KF_OUT_OF_MEMORY, "no memory for a stack");
    return job.status;
}

void kf_svg_close(kf_svg_reader *reader) {
    if (!reader) return;
    if (reader->drawing) g_object_unref(reader->drawing);
    free(reader);
}
#endif
