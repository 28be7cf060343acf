// A paintable that shows an image, turned and fitted, and transitions between two. For the renderers of KingfisherGTK.
//
// It stays the same object whatever it shows, so that a frame of the same size is drawn and nothing is laid out.
// Textures lie over the image's pixels, without a copy. GTK's software renderer converts textures each time it draws
// them, so there Cairo draws the pixels. An image that is much larger than its view is halved first, once; for textures
// GTK has such a filter from 4.10 on, and with a graphics card and an older GTK fine detail in such an image shows
// false patterns. Flips are made by narrowing and slanting, as the software renderer draws no third dimension: on
// machines without a graphics card, and in tests, half a transition would be empty.
#if __has_include(<gtk/gtk.h>)
#include "CKFGTK.h"
#include <math.h>

/// An image and, where it is drawn with Cairo, a surface: over its pixels, or a smaller copy that has been halved
/// so many times.
typedef struct {
    KfImage image;
    cairo_surface_t *surface;
    int halvings;
} KfLayer;

typedef struct {
    GObject parent;
    KfLayer current, previous;
    /// Pixels a point where Cairo draws; 0 where textures are drawn.
    int scale;
    KfFit fit;
    gboolean holds_size;
    /// Where the image is with KF_FIT_PLACED.
    graphene_rect_t place;
    KfTransition kind;
    double progress;
} KfPaintable;

typedef struct {
    GObjectClass parent;
} KfPaintableClass;

static void kf_paintable_interface(GdkPaintableInterface *interface);

G_DEFINE_TYPE_WITH_CODE(KfPaintable, kf_paintable, G_TYPE_OBJECT,
                        G_IMPLEMENT_INTERFACE(GDK_TYPE_PAINTABLE, kf_paintable_interface))

/// The signals that say that the paintable is about to be drawn, and that it has been.
static guint drawing_signal, drawn_signal;

static void replace(KfLayer *layer, KfImage image) {
    if (image.texture) g_object_ref(image.texture);
    if (layer->image.texture != image.texture) g_clear_pointer(&layer->surface, cairo_surface_destroy);
    g_clear_object(&layer->image.texture);
    layer->image = image;
}

/// The rectangle that the image takes in an area, around its middle.
static graphene_rect_t fitted(const KfImage *image, KfFit fit, double width, double height) {
    const double across = width / image->width, down = height / image->height;
    double x = across, y = down;
    switch (fit) {
        case KF_FIT_FILL: break;
        case KF_FIT_PLACED:
        case KF_FIT_CONTAIN: x = y = MIN(across, down); break;
        case KF_FIT_COVER: x = y = MAX(across, down); break;
        case KF_FIT_SCALE_DOWN: x = y = MIN(1, MIN(across, down)); break;
    }
    const double w = image->width * x, h = image->height * y;
    return GRAPHENE_RECT_INIT((float)((width - w) / 2), (float)((height - h) / 2), (float)w, (float)h);
}

/// A copy of half the size, which takes the place of a surface: each pixel is the mean of four.
static cairo_surface_t *halved(cairo_surface_t *surface) {
    const int width = cairo_image_surface_get_width(surface), height = cairo_image_surface_get_height(surface);
    const int half_width = (width + 1) / 2, half_height = (height + 1) / 2;
    cairo_surface_t *half =
        cairo_image_surface_create(cairo_image_surface_get_format(surface), half_width, half_height);
    cairo_t *cairo = cairo_create(half);
    cairo_scale(cairo, (double)half_width / width, (double)half_height / height);
    cairo_set_source_surface(cairo, surface, 0, 0);
    cairo_pattern_set_filter(cairo_get_source(cairo), CAIRO_FILTER_BILINEAR);
    cairo_pattern_set_extend(cairo_get_source(cairo), CAIRO_EXTEND_PAD);
    cairo_paint(cairo);
    cairo_destroy(cairo);
    cairo_surface_destroy(surface);
    return half;
}

/// Cairo's largest side of a surface.
static const int largest_side = 32767;

/// A copy of pixels that are too many for a surface: each of its pixels is the mean of a square.
static cairo_surface_t *mean_of_squares(const KfImage *image, int width, int height, int side) {
    cairo_surface_t *surface = cairo_image_surface_create(image->is_opaque ? CAIRO_FORMAT_RGB24 : CAIRO_FORMAT_ARGB32,
                                                          (width + side - 1) / side, (height + side - 1) / side);
    unsigned char *pixels = cairo_image_surface_get_data(surface);
    if (!pixels) return surface;
    for (int top = 0; top < height; top += side) {
        unsigned char *result = pixels + (size_t)(top / side) * cairo_image_surface_get_stride(surface);
        const int bottom = MIN(height, top + side);
        for (int left = 0; left < width; left += side) {
            const int right = MIN(width, left + side);
            guint64 sums[4] = {0};
            for (int y = top; y < bottom; y++) {
                const unsigned char *pixel = image->pixels + (size_t)y * image->bytes_per_row + (size_t)left * 4;
                for (int x = left; x < right; x++, pixel += 4) {
                    for (int i = 0; i < 4; i++) sums[i] += pixel[i];
                }
            }
            const guint64 count = (guint64)(bottom - top) * (right - left);
            for (int i = 0; i < 4; i++) *result++ = (unsigned char)((sums[i] + count / 2) / count);
        }
    }
    cairo_surface_mark_dirty(surface);
    return surface;
}

/// Makes the layer's surface for an area in pixels: not much larger, as interpolation looks at four pixels only, and
/// fine detail would become a false pattern. Cairo's own filter for this takes ten times as long, at every drawing.
static void prepare(KfLayer *layer, double width, double height) {
    const int full_width = gdk_texture_get_width(layer->image.texture);
    const int full_height = gdk_texture_get_height(layer->image.texture);
    int needed = 0;
    while ((MAX(full_width, full_height) - 1) >> needed >= largest_side) needed++;
    int halvings = needed;
    while (halvings < 15 && MIN(full_width / width, full_height / height) >= 1.5 * (1 << halvings)) halvings++;
    if (layer->surface && layer->halvings == halvings) return;
    g_clear_pointer(&layer->surface, cairo_surface_destroy);
    if (needed > 0) {
        layer->surface = mean_of_squares(&layer->image, full_width, full_height, 1 << needed);
    } else {
        // Cairo never writes to a surface that is only drawn from.
        layer->surface = cairo_image_surface_create_for_data(
            (unsigned char *)layer->image.pixels, layer->image.is_opaque ? CAIRO_FORMAT_RGB24 : CAIRO_FORMAT_ARGB32,
            full_width, full_height, layer->image.bytes_per_row);
    }
    layer->halvings = halvings;
    for (int i = needed; i < halvings; i++) layer->surface = halved(layer->surface);
}

/// Draws the pixels into a rectangle. Both sizes are those of the stored image, not turned.
///
/// `visible` is the part that can be seen: a zoomed image may be larger than Cairo's largest surface.
static void append(GtkSnapshot *snapshot, KfLayer *layer, const graphene_rect_t *rect, const graphene_rect_t *visible,
                   int scale) {
    if (scale == 0) {
#if GTK_CHECK_VERSION(4, 10, 0)
        gtk_snapshot_append_scaled_texture(snapshot, layer->image.texture, GSK_SCALING_FILTER_TRILINEAR, rect);
#else
        gtk_snapshot_append_texture(snapshot, layer->image.texture, rect);
#endif
        return;
    }
    prepare(layer, rect->size.width * scale, rect->size.height * scale);
    const int width = cairo_image_surface_get_width(layer->surface);
    const int height = cairo_image_surface_get_height(layer->surface);
    graphene_rect_t part;
    if (!graphene_rect_intersection(rect, visible, &part)) return;
    cairo_t *cairo = gtk_snapshot_append_cairo(snapshot, &part);
    cairo_translate(cairo, rect->origin.x, rect->origin.y);
    cairo_scale(cairo, rect->size.width / width, rect->size.height / height);
    cairo_set_source_surface(cairo, layer->surface, 0, 0);
    cairo_pattern_set_filter(cairo_get_source(cairo), CAIRO_FILTER_BILINEAR);
    cairo_pattern_set_extend(cairo_get_source(cairo), CAIRO_EXTEND_PAD);
    cairo_rectangle(cairo, 0, 0, width, height);
    cairo_fill(cairo);
    cairo_destroy(cairo);
}

static void draw(KfPaintable *self, GtkSnapshot *snapshot, KfLayer *layer, double width, double height) {
    const KfImage *image = &layer->image;
    if (!image->texture || image->width <= 0 || image->height <= 0) return;
    const gboolean is_placed = self->fit == KF_FIT_PLACED && layer == &self->current;
    graphene_rect_t rect = is_placed ? self->place : fitted(image, self->fit, width, height);
    const graphene_point_t middle = GRAPHENE_POINT_INIT(rect.origin.x + rect.size.width / 2,
                                                        rect.origin.y + rect.size.height / 2);
    if (image->degrees == 0 && !image->is_mirrored_horizontally && !image->is_mirrored_vertically) {
        append(snapshot, layer, &rect, &GRAPHENE_RECT_INIT(0, 0, (float)width, (float)height), self->scale);
        return;
    }
    const gboolean is_upright = image->degrees % 180 == 0;
    const float w = is_upright ? rect.size.width : rect.size.height;
    const float h = is_upright ? rect.size.height : rect.size.width;
    gtk_snapshot_save(snapshot);
    gtk_snapshot_translate(snapshot, &middle);
    gtk_snapshot_rotate(snapshot, (float)image->degrees);
    gtk_snapshot_scale(snapshot, image->is_mirrored_horizontally ? -1 : 1,
                       image->is_mirrored_vertically ? -1 : 1);
    const graphene_rect_t turned = GRAPHENE_RECT_INIT(-w / 2, -h / 2, w, h);
    append(snapshot, layer, &turned, &turned, self->scale);
    gtk_snapshot_restore(snapshot);
}

/// The view turns over: up to the middle the back of the one image goes away, then the other comes to the front.
///
/// A turn looks narrower the further it goes, and slanted towards the edge that comes to the front. It is made without
/// a third dimension, which GTK's software renderer does not draw.
static void draw_flip(KfPaintable *self, GtkSnapshot *snapshot, double width, double height) {
    const gboolean is_first_half = self->progress < 0.5;
    const gboolean is_vertical =
        self->kind == KF_TRANSITION_FLIP_FROM_TOP || self->kind == KF_TRANSITION_FLIP_FROM_BOTTOM;
    const gboolean is_reversed =
        self->kind == KF_TRANSITION_FLIP_FROM_RIGHT || self->kind == KF_TRANSITION_FLIP_FROM_BOTTOM;
    const float narrowed = (float)fmax(0.001, fabs(cos(self->progress * G_PI)));
    const float slant = (float)((is_reversed ? -10 : 10) * sin(self->progress * G_PI) * (is_first_half ? 1 : -1));
    const graphene_point_t middle = GRAPHENE_POINT_INIT((float)(width / 2), (float)(height / 2));
    GskTransform *transform = gsk_transform_translate(NULL, &middle);
    transform = gsk_transform_skew(transform, is_vertical ? slant : 0, is_vertical ? 0 : slant);
    transform = gsk_transform_scale(transform, is_vertical ? 1 : narrowed, is_vertical ? narrowed : 1);
    transform = gsk_transform_translate(transform, &GRAPHENE_POINT_INIT(-middle.x, -middle.y));
    gtk_snapshot_save(snapshot);
    gtk_snapshot_transform(snapshot, transform);
    gsk_transform_unref(transform);
    draw(self, snapshot, is_first_half ? &self->previous : &self->current, width, height);
    gtk_snapshot_restore(snapshot);
}

static void kf_paintable_snapshot(GdkPaintable *paintable, GdkSnapshot *gdk_snapshot, double width, double height) {
    KfPaintable *self = (KfPaintable *)paintable;
    GtkSnapshot *snapshot = gdk_snapshot;
    if (self->fit == KF_FIT_PLACED) g_signal_emit(self, drawing_signal, 0);
    gtk_snapshot_push_clip(snapshot, &GRAPHENE_RECT_INIT(0, 0, (float)width, (float)height));
    if (self->kind == KF_TRANSITION_NONE || self->progress >= 1) {
        draw(self, snapshot, &self->current, width, height);
    } else if (self->kind == KF_TRANSITION_FADE) {
        gtk_snapshot_push_cross_fade(snapshot, self->progress);
        draw(self, snapshot, &self->previous, width, height);
        gtk_snapshot_pop(snapshot);
        draw(self, snapshot, &self->current, width, height);
        gtk_snapshot_pop(snapshot);
    } else {
        draw_flip(self, snapshot, width, height);
    }
    gtk_snapshot_pop(snapshot);
    g_signal_emit(self, drawn_signal, 0);
}

// Where it holds its size it wants a point, as GtkPicture takes the size of an icon for a paintable that wants nothing;
// the widget around it says how many there are. Without an aspect ratio, one side does not follow from the other.
static int kf_paintable_width(GdkPaintable *paintable) {
    const KfPaintable *self = (KfPaintable *)paintable;
    return self->holds_size ? 1 : (int)(self->current.image.width + 0.5);
}

static int kf_paintable_height(GdkPaintable *paintable) {
    const KfPaintable *self = (KfPaintable *)paintable;
    return self->holds_size ? 1 : (int)(self->current.image.height + 0.5);
}

static double kf_paintable_aspect_ratio(GdkPaintable *paintable) {
    const int width = kf_paintable_width(paintable), height = kf_paintable_height(paintable);
    return ((KfPaintable *)paintable)->holds_size || height == 0 ? 0 : (double)width / height;
}

static void kf_paintable_interface(GdkPaintableInterface *interface) {
    interface->snapshot = kf_paintable_snapshot;
    interface->get_intrinsic_width = kf_paintable_width;
    interface->get_intrinsic_height = kf_paintable_height;
    interface->get_intrinsic_aspect_ratio = kf_paintable_aspect_ratio;
}

static void kf_paintable_dispose(GObject *object) {
    KfPaintable *self = (KfPaintable *)object;
    replace(&self->current, (KfImage){0});
    replace(&self->previous, (KfImage){0});
    G_OBJECT_CLASS(kf_paintable_parent_class)->dispose(object);
}

static void kf_paintable_class_init(KfPaintableClass *class) {
    G_OBJECT_CLASS(class)->dispose = kf_paintable_dispose;
    drawing_signal = g_signal_new("drawing", G_TYPE_FROM_CLASS(class), G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                  G_TYPE_NONE, 0);
    drawn_signal = g_signal_new("drawn", G_TYPE_FROM_CLASS(class), G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                G_TYPE_NONE, 0);
}

static void kf_paintable_init(KfPaintable *self) { (void)self; }

GdkPaintable *kf_paintable_new(void) { return g_object_new(kf_paintable_get_type(), NULL); }

void kf_paintable_show(GdkPaintable *paintable, KfImage image, KfFit fit) {
    KfPaintable *self = (KfPaintable *)paintable;
    const int width = kf_paintable_width(paintable), height = kf_paintable_height(paintable);
    replace(&self->current, image);
    self->fit = fit;
    if (width != kf_paintable_width(paintable) || height != kf_paintable_height(paintable)) {
        gdk_paintable_invalidate_size(paintable);
    }
    gdk_paintable_invalidate_contents(paintable);
}

void kf_paintable_set_holds_size(GdkPaintable *paintable, gboolean holds_size) {
    KfPaintable *self = (KfPaintable *)paintable;
    if (self->holds_size == holds_size) return;
    self->holds_size = holds_size;
    gdk_paintable_invalidate_size(paintable);
}

void kf_paintable_place(GdkPaintable *paintable, double x, double y, double width, double height) {
    ((KfPaintable *)paintable)->place = GRAPHENE_RECT_INIT((float)x, (float)y, (float)width, (float)height);
}

void kf_paintable_set_transition(GdkPaintable *paintable, KfImage previous, KfTransition kind, double progress) {
    KfPaintable *self = (KfPaintable *)paintable;
    replace(&self->previous, previous);
    self->kind = kind;
    self->progress = progress;
    gdk_paintable_invalidate_contents(paintable);
}

/// Whether the window that a widget is in is drawn by GTK's software renderer.
static gboolean is_drawn_by_software(GtkWidget *widget) {
    GtkNative *native = gtk_widget_get_native(widget);
    GskRenderer *renderer = native ? gtk_native_get_renderer(native) : NULL;
    return renderer && g_type_is_a(G_OBJECT_TYPE(renderer), GSK_TYPE_CAIRO_RENDERER);
}

void kf_paintable_set_drawing(GdkPaintable *paintable, GtkWidget *widget) {
    ((KfPaintable *)paintable)->scale = is_drawn_by_software(widget) ? gtk_widget_get_scale_factor(widget) : 0;
}
#endif
