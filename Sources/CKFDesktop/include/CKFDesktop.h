// What versions of GTK do differently, for kf-desktop.
#pragma once
// Empty where GTK is missing.
#if __has_include(<gtk/gtk.h>)
// Through its module: what GTK declares must not become part of this one.
#include "../../CSystem/CKFGTK4/shim.h"

/// Sets the style sheet of a provider.
void kf_css_load(GtkCssProvider *provider, const char *text);

/// Receives the path of the file that was chosen, which is valid during the call; NULL when there is none: the dialog
/// was left, or the place is no path.
typedef void (*kf_save_answer)(const char *path, void *context);

/// Asks for the file to save to, and calls `answer` once, later, on the main thread. `parent` may be NULL; `name` is
/// the suggested one.
void kf_save_dialog_show(
    GtkWindow *parent, const char *title, const char *name, kf_save_answer answer, void *context);
#endif
