// Functions for what Swift cannot call itself: C functions with variable arguments, and two functions of libdispatch
// that no header declares.
#if __has_include(<gtk/gtk.h>)
#include "CKFGTK.h"
#include <malloc.h>

int _dispatch_get_main_queue_handle_4CF(void);
void _dispatch_main_queue_callback_4CF(void *unused);

int kf_main_queue_descriptor(void) { return _dispatch_get_main_queue_handle_4CF(); }

void kf_drain_main_queue(void) { _dispatch_main_queue_callback_4CF(NULL); }

// The allocator keeps freed blocks below its threshold, which it raises to the largest block that has been freed,
// unless it is told one: after a fast scroll that would be most of what was shown.
void kf_return_large_blocks(void) { mallopt(M_MMAP_THRESHOLD, 64 << 10); }

void kf_set_accessible_label(GtkWidget *widget, const char *label) {
    if (label) {
        gtk_accessible_update_property(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_PROPERTY_LABEL, label, -1);
    } else {
        gtk_accessible_reset_property(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_PROPERTY_LABEL);
    }
}

static const char *const hidden_key = "kf-accessible-hidden";

static gboolean update_hidden(void *widget) {
    const gboolean is_hidden = g_object_get_data(widget, hidden_key) != NULL;
    gtk_accessible_update_state(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_STATE_HIDDEN, is_hidden, -1);
    return G_SOURCE_REMOVE;
}

// Newer versions of GTK end the state of a widget that is mapped, after the handlers of `map`. It is set again before a
// screen reader is answered.
static void on_map(GtkWidget *widget) {
    g_idle_add_full(G_PRIORITY_HIGH, update_hidden, g_object_ref(widget), g_object_unref);
}

void kf_set_accessible_hidden(GtkWidget *widget, gboolean is_hidden) {
    const gboolean was_hidden = g_object_get_data(G_OBJECT(widget), hidden_key) != NULL;
    g_object_set_data(G_OBJECT(widget), hidden_key, GINT_TO_POINTER(is_hidden));
    update_hidden(widget);
    if (is_hidden && !was_hidden) g_signal_connect(widget, "map", G_CALLBACK(on_map), NULL);
    if (!is_hidden && was_hidden) g_signal_handlers_disconnect_by_func(widget, on_map, NULL);
}

void kf_draw_ring(cairo_t *cairo, int width, int height, double start, double length) {
    const double radius = MIN(width, height) * 0.4, line = radius * 0.25;
    cairo_set_line_width(cairo, line);
    cairo_set_source_rgba(cairo, 0.5, 0.5, 0.5, 0.3);
    cairo_arc(cairo, width / 2.0, height / 2.0, radius, 0, 2 * G_PI);
    cairo_stroke(cairo);
    cairo_set_source_rgba(cairo, 0.21, 0.52, 0.89, 1);
    const double from = (start - 0.25) * 2 * G_PI;
    cairo_arc(cairo, width / 2.0, height / 2.0, radius, from, from + length * 2 * G_PI);
    cairo_stroke(cairo);
}

double kf_scroll_unit(GtkEventController *controller) {
    const double wheel = 40;
#if GTK_CHECK_VERSION(4, 8, 0)
    const GdkScrollUnit unit = gtk_event_controller_scroll_get_unit(GTK_EVENT_CONTROLLER_SCROLL(controller));
    return unit == GDK_SCROLL_UNIT_SURFACE ? 1 : wheel;
#else
    (void)controller;
    return wheel;
#endif
}

GdkTexture *kf_render(GtkWidget *widget) {
    GtkNative *native = gtk_widget_get_native(widget);
    const int width = gtk_widget_get_width(widget), height = gtk_widget_get_height(widget);
    if (!native || !gtk_native_get_renderer(native) || width <= 0 || height <= 0) return NULL;
    GdkPaintable *paintable = gtk_widget_paintable_new(widget);
    GtkSnapshot *snapshot = gtk_snapshot_new();
    const int scale = gtk_widget_get_scale_factor(widget);
    gtk_snapshot_scale(snapshot, (float)scale, (float)scale);
    gdk_paintable_snapshot(paintable, GDK_SNAPSHOT(snapshot), width, height);
    GskRenderNode *node = gtk_snapshot_free_to_node(snapshot);
    GdkTexture *texture = NULL;
    if (node) {
        const graphene_rect_t viewport = GRAPHENE_RECT_INIT(0, 0, (float)(width * scale), (float)(height * scale));
        texture = gsk_renderer_render_texture(gtk_native_get_renderer(native), node, &viewport);
        gsk_render_node_unref(node);
    }
    g_object_unref(paintable);
    return texture;
}
#endif
