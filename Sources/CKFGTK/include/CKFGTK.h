// The C side of the GTK views: a paintable for images, and functions that Swift cannot call itself.
#pragma once
// Empty where GTK is missing.
#if __has_include(<gtk/gtk.h>)
// Through its module: what GTK declares must not become part of this one.
#include "../../CSystem/CKFGTK4/shim.h"

/// Flags of GTK and GLib as numbers. Newer versions declare their enumerations as flags, and Swift imports these as
/// sets, in which the constants have other names.
enum {
    KF_ALT_MASK = GDK_ALT_MASK,
    KF_CONTROL_MASK = GDK_CONTROL_MASK,
    KF_META_MASK = GDK_META_MASK,
    KF_SUPER_MASK = GDK_SUPER_MASK,

    KF_STATE_ACTIVE = GTK_STATE_FLAG_ACTIVE,
    KF_STATE_CHECKED = GTK_STATE_FLAG_CHECKED,
    KF_STATE_FOCUSED = GTK_STATE_FLAG_FOCUSED,
    KF_STATE_INSENSITIVE = GTK_STATE_FLAG_INSENSITIVE,
    KF_STATE_PRELIGHT = GTK_STATE_FLAG_PRELIGHT,
    KF_STATE_SELECTED = GTK_STATE_FLAG_SELECTED,

    KF_LOG_ERROR = G_LOG_LEVEL_ERROR,
    KF_DBUS_AUTHENTICATION_CLIENT = G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT,
    KF_DBUS_MESSAGE_BUS_CONNECTION = G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION,
};

/// How an image fills the area it is drawn in.
typedef enum {
    KF_FIT_FILL,
    KF_FIT_CONTAIN,
    KF_FIT_COVER,
    KF_FIT_SCALE_DOWN,
    /// In the rectangle that is set while the signal `drawing` is emitted.
    KF_FIT_PLACED,
} KfFit;

/// How one image gives way to the next.
typedef enum {
    KF_TRANSITION_NONE,
    KF_TRANSITION_FADE,
    KF_TRANSITION_FLIP_FROM_LEFT,
    KF_TRANSITION_FLIP_FROM_RIGHT,
    KF_TRANSITION_FLIP_FROM_TOP,
    KF_TRANSITION_FLIP_FROM_BOTTOM,
} KfTransition;

/// A texture as it is to be drawn; without a texture there is nothing.
typedef struct {
    GdkTexture *texture;
    /// The pixels that the texture is made of, and keeps: as Cairo's ARGB32.
    const unsigned char *pixels;
    int bytes_per_row;
    gboolean is_opaque;
    /// The size of the image in points, after it has been turned.
    double width, height;
    /// By how many degrees the texture is turned clockwise, after it has been mirrored.
    int degrees;
    gboolean is_mirrored_horizontally, is_mirrored_vertically;
} KfImage;

/// A paintable for a widget, which stays the same object whatever it shows: a new frame of the same size has the widget
/// drawn again, but not laid out again. Whenever it has been drawn it emits the signal `drawn`. The caller owns the
/// result.
GdkPaintable *kf_paintable_new(void);

/// Shows an image. Takes a reference of the texture of its own.
void kf_paintable_show(GdkPaintable *paintable, KfImage image, KfFit fit);

/// Sets whether the paintable wants no size of its own, whatever image it shows; else it wants that of its image.
void kf_paintable_set_holds_size(GdkPaintable *paintable, gboolean holds_size);

/// Sets the rectangle of an image with KF_FIT_PLACED, in points. Does not have the paintable drawn: the signal
/// `drawing` asks for it whenever it is.
void kf_paintable_place(GdkPaintable *paintable, double x, double y, double width, double height);

/// Chooses how images are drawn in the window that a widget is in: with Cairo, for GTK's software renderer, which
/// converts every texture anew whenever it draws it; or as textures, which other renderers keep on the graphics card.
void kf_paintable_set_drawing(GdkPaintable *paintable, GtkWidget *widget);

/// How many points a unit of a scroll controller's distance is: 1 for a touchpad, the height of a few lines for a
/// wheel.
double kf_scroll_unit(GtkEventController *controller);

/// Draws how `previous` gives way to the image; at progress 1, and with KF_TRANSITION_NONE, the image alone.
void kf_paintable_set_transition(GdkPaintable *paintable, KfImage previous, KfTransition kind, double progress);

/// A ring, filled as far as something has proceeded: from `start`, as a part of the whole, for `length` of it.
void kf_draw_ring(cairo_t *cairo, int width, int height, double start, double length);

/// Sets the accessible name of a widget, which a screen reader reads aloud; NULL leaves it to GTK.
void kf_set_accessible_label(GtkWidget *widget, const char *label);

/// Sets whether screen readers leave a widget out, and what is in it.
void kf_set_accessible_hidden(GtkWidget *widget, gboolean is_hidden);

/// A texture of a widget as it looks, of its size in pixels; NULL when it is not on a screen. The caller owns the
/// result.
GdkTexture *kf_render(GtkWidget *widget);

/// Has every block of more than 64 KB that is allocated from now on go back to the system when it is freed.
void kf_return_large_blocks(void);

/// The file descriptor that is readable when the main dispatch queue has work.
int kf_main_queue_descriptor(void);

/// Does what is on the main dispatch queue. To be called on the main thread only.
void kf_drain_main_queue(void);
#endif
